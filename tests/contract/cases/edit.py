"""Edits of text files."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World

ON_A_HOST = True
CREATE = {"create": True}
Breaks = dict[str, Callable[[], object]]


def _breaks(path: str, what: str, text: str) -> Breaks:
    """How to undo an edit: ``text`` is a file without it."""
    return {"type": lambda: os.remove(path), what: lambda: Path(path).write_text(text)}


def line(world: World) -> Scenario:
    """A line that is missing."""
    path = world.write("hosts", "127.0.0.1 localhost\n")
    properties = {"line": f"192.0.2.1 {SECRET}", **CREATE}
    return Scenario(path, properties, _breaks(path, "line", "x\n"))


def line_instead(world: World) -> Scenario:
    """A line in the place of the last one that a pattern matches; after is for a new line only."""
    path = world.write("my.cnf", "[mysqld]\nport=1\n\n[client]\nport=2\n")
    properties = {"line": f"port={SECRET}", "match": "^port=", "after": r"^\[mysqld\]", **CREATE}
    return Scenario(path, properties, _breaks(path, "line", "[mysqld]\n"))


def line_gone(world: World) -> Scenario:
    """Lines that have to go, by a pattern."""
    text = f"keep\n{SECRET} 1\n# {SECRET}\n{SECRET} 2\n"
    path = world.write("list", text)
    properties = {"ensure": "absent", "match": f"^{SECRET}"}
    return Scenario(path, properties, {"line": lambda: Path(path).write_text(text)})


def block(world: World) -> Scenario:
    """A block with other content, whose marker begins with a tab."""
    path = world.write("rc", "a\n\t# BEGIN x\nother\n\t# END x\nb\n")
    properties = {
        "block": f"eval \"$({SECRET})\"\n`date` 'q'\n\\1\n",
        "marker": "\t# {mark} x",
        **CREATE,
    }
    breaks = _breaks(path, "block", "a\n")
    breaks["block: another one"] = lambda: Path(path).write_text("\t# BEGIN x\n1\n\t# END x\n")
    return Scenario(path, properties, breaks)


def block_in_an_empty_file(world: World) -> Scenario:
    """A block of an empty file."""
    path = world.write("rc", "")
    return Scenario(path, {"block": f"{SECRET}\n", **CREATE}, _breaks(path, "block", ""))


def block_gone(world: World) -> Scenario:
    """A block that has to go."""
    text = f"a\n# BEGIN managed by ccm\n{SECRET}\n# END managed by ccm\nb\n"
    path = world.write("rc", text)
    properties = {"ensure": "absent", "block": "whatever"}
    return Scenario(path, properties, {"block": lambda: Path(path).write_text(text)})


def settings(world: World) -> Scenario:
    """Settings in sections, some of which are missing."""
    path = world.write("app.ini", "; top\n[a]\nx = 1\n# y = 2\nz = 3\n\n[b]\nx = 4\n")
    properties = {"settings": {"a": {"x": SECRET, "y": 7, "z": None}, "c": {"on": True}}, **CREATE}
    breaks = _breaks(path, "settings", "[a]\nx = 1\n")
    breaks["settings: one that came back"] = lambda: Path(path).write_text(
        f"[a]\nx = {SECRET}\ny = 7\nz = 3\n[c]\non = true\n"
    )
    return Scenario(path, properties, breaks)


def settings_of_ssh(world: World) -> Scenario:
    """Settings above the Match sections of sshd, and in one."""
    path = world.write("sshd", "#Port 22\nuseDNS yes\nMatch User git\n    Port 1\n")
    properties = {
        "settings": {"UseDNS": "no", "Port": [22, 2222], "Match User git": {"Banner": SECRET}},
        "format": "ssh",
        **CREATE,
    }
    return Scenario(path, properties, _breaks(path, "settings", "UseDNS no\nPort 22\n"))


def settings_of_a_shell(world: World) -> Scenario:
    """Settings of a file for a shell."""
    path = world.write("grub", 'export A="1"\nB=2\nif [ x = y ]; then :; fi\n')
    properties = {"settings": {"A": f'"{SECRET}"', "C": "3"}, "format": "key=value", **CREATE}
    return Scenario(path, properties, _breaks(path, "settings", "A=1\n"))


def replace(world: World) -> Scenario:
    """Text that is replaced wherever it is."""
    path = world.write("url", "old-1 and old-2\nnew-3\n")
    properties = {"match": r"old-(\d)", "replace": rf"{SECRET}-\1", **CREATE}
    return Scenario(path, properties, _breaks(path, "replace", "old-4\n"))


def several(world: World) -> Scenario:
    """Several edits of one file, also the same line at two places."""
    path = world.write("list", "1\n2\ngone\n")
    edits = [
        {"line": "bar", "after": "^1$"},
        {"line": SECRET, "after": "^2$"},
        {"line": "gone", "ensure": "absent"},
        {"line": "bar", "after": f"^{SECRET}$"},
    ]
    breaks: Breaks = {"type": lambda: os.remove(path)}
    for number, text in ((1, f"{SECRET}\n"), (2, "bar\n"), (3, f"bar\n{SECRET}\ngone\n")):
        breaks[f"edit {number} line"] = partial(Path(path).write_text, text)
    breaks["edit 4 line"] = lambda: Path(path).write_text(f"{SECRET}\n")
    return Scenario(path, {"edits": edits, **CREATE}, breaks)


def created(world: World) -> Scenario:
    """A file that is created for its line."""
    path = world.path("motd")
    return Scenario(path, {"line": SECRET, **CREATE}, _breaks(path, "line", ""))


SCENARIOS = (
    line,
    line_instead,
    line_gone,
    block,
    block_in_an_empty_file,
    block_gone,
    settings,
    settings_of_ssh,
    settings_of_a_shell,
    replace,
    several,
    created,
)
