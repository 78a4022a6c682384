"""Files and directories."""

import os
from collections.abc import Callable
from pathlib import Path

from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World
from tests.remote_runtime.fakes import GROUP, OWNER, ROOT

OWNED = {"owner": OWNER, "group": GROUP}
STRANGER = 4711


def ownership(path: str) -> dict[str, Callable[[], object]]:
    """What only root can undo."""
    if not ROOT:
        return {}
    return {
        "owner": lambda: os.chown(path, STRANGER, -1),
        "group": lambda: os.chown(path, -1, STRANGER),
    }


def content(world: World) -> Scenario:
    """Another content and another mode than those of the file that is there."""
    path = world.write("motd", f"not {SECRET}\n", 0o640)
    return Scenario(
        path,
        {"content": world.blob(f"{SECRET}\n"), "mode": "0644", **OWNED},
        {
            "content": lambda: Path(path).write_text("edited\n"),
            "mode": lambda: os.chmod(path, 0o600),
            "type": lambda: os.remove(path),
            **ownership(path),
        },
    )


def directory(world: World) -> Scenario:
    """A directory with a parent, which both are missing."""
    path = world.path("srv", "app")
    return Scenario(
        path,
        {"ensure": "directory", "mode": "0750", **OWNED},
        {
            "type": lambda: os.rmdir(path),
            "mode": lambda: os.chmod(path, 0o700),
            **ownership(path),
        },
    )


def absent(world: World) -> Scenario:
    """A file that has to go."""
    path = world.write("old", f"{SECRET}\n")
    return Scenario(
        path,
        {"ensure": "absent"},
        {
            "path": lambda: world.write("old", "again\n"),
            "path: a symlink that leads nowhere": lambda: os.symlink("nowhere", path),
        },
    )


def backup(world: World) -> Scenario:
    """Another content, and the old one beside it."""
    made = content(world)
    return made._replace(properties={**made.properties, "backup": True})


def kept(world: World) -> Scenario:
    """A file whose content counts only while it is missing."""
    path = world.path("seed")
    return Scenario(
        path,
        {"content": world.blob(f"{SECRET}\n"), "replace": False, "mode": "0600", **OWNED},
        {
            "mode": lambda: os.chmod(path, 0o644),
            "type": lambda: os.remove(path),
            **ownership(path),
        },
    )


def recursion(world: World) -> Scenario:
    """A directory with files, another one and a link, whose modes differ."""
    top = world.path("srv")
    inner, file = world.path("srv", "sub"), world.write("srv/sub/file", f"{SECRET}\n", 0o600)
    os.chmod(inner, 0o700)
    link = world.path("srv", "link")
    os.symlink("/nowhere", link)
    breaks = {
        "mode": lambda: os.chmod(top, 0o700),
        "below: the mode of a file": lambda: os.chmod(file, 0o600),
        "below: the mode of a directory": lambda: os.chmod(inner, 0o700),
        **ownership(top),
    }
    if ROOT:
        breaks["below: an owner"] = lambda: os.chown(file, STRANGER, -1)
        breaks["below: a group"] = lambda: os.chown(inner, -1, STRANGER)
        breaks["below: a link"] = lambda: os.lchown(link, STRANGER, -1)
    breaks["type"] = lambda: os.rename(top, world.path("aside"))
    wanted = {"ensure": "directory", "mode": "0750", "recurse": True, "file_mode": "0640"}
    return Scenario(top, {**wanted, **OWNED}, breaks)


def purge(world: World) -> Scenario:
    """A directory with files that no resource names, some of which are kept."""
    top = world.path("conf")
    world.write("conf/keep.local", "x")
    world.write("conf/sub/extra", "x")
    breaks = {
        "type": lambda: os.rename(top, world.path("aside")),
        "mode": lambda: os.chmod(top, 0o700),
        "other files": lambda: world.write("conf/extra", "x"),
        "other files: an empty directory": lambda: os.mkdir(world.path("conf", "sub")),
        "other files: a link": lambda: os.symlink("x", world.path("conf", "link")),
        **ownership(top),
    }
    wanted = {"ensure": "directory", "mode": "0755", "purge": True, "keep": ["*.local"]}
    return Scenario(top, {**wanted, **OWNED}, breaks)


SCENARIOS = (content, directory, absent, backup, kept, recursion, purge)
