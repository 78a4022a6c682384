"""Edits of YAML by source position: what is not touched stays byte for byte."""

from __future__ import annotations

import copy
import itertools
import random
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from inventory.yaml_document import Mapping, Node, Sequence, node_at, parse_data, to_plain
from orchestrator.formatter.layout import Layout
from orchestrator.studio.design.value_spans import Path
from orchestrator.studio.design.yaml_text import YamlText, same
from orchestrator.studio.design.yaml_writer import in_brackets, written
from remote_runtime.errors import InputError
from tests.docs.pages import PAGES, ROOT, blocks
from tests.orchestrator.formatter.messy_yaml import Writer
from tests.texts import expect_text

EDITS = 2  # for each text
VALUES: tuple[Any, ...] = (
    "present", "yes", "0644", "1.10", "", "a: b", "# no comment", "{{ Facts.x }}", "- x", "&a", "*",
    "line\nand another\n", "no end\nof line", "\n", "  indented\n", "kept\n\n", "tab\there", "ü☃",
    "\x85", "🙂", "'", '"', "null", "~", "a\\b", "x" * 200, "--- x", "...", "a #b", "a:", ":", "?",
    "[", "{", "%", "@", "`", "|", ">", "!t", "<<", "=", "\ufeff", "\u2028",
    0, -1, 1.5, 1e300, True, False, None, [], {}, ["a", "b c", 1], ["x, y"],
    [["a"], {"b": "c\nd\n"}],
    {"a": 1, "b c": {"d": ["e"]}}, {"content": "one\n  two\n", "mode": "0644"},
)  # fmt: skip


class Edit(NamedTuple):
    """What is done, the expected values, and the lines of the text that it may touch."""

    does: Callable[[YamlText], YamlText]
    expected: Any
    lines: tuple[int, int]
    keeps_comments: bool


class Draw:
    """Draws an edit of a document; where entries lie is found with its nodes alone."""

    def __init__(self, text: str, seed: int) -> None:
        self.random = random.Random(seed)
        self.root = parse_data(text, "site.yaml")
        self.lines = text.splitlines(keepends=True)
        self.data = to_plain(self.root)

    def edit(self) -> Edit:
        """One edit that is possible."""
        holders = [(path, node) for path, node in walk(self.root) if children(node)]
        path, node = self.random.choice(holders)
        draws = [self._set, self._remove, self._add]
        draws.append(self._move if isinstance(node, Sequence) else self._rename)
        return self.random.choice(draws)(path, node)

    def _set(self, path: Path, node: Node) -> Edit:
        key = self.random.choice(keys(node))
        value = self.random.choice(VALUES)
        return Edit(
            lambda text: text.set((*path, key), value),
            changed(self.data, path, lambda at: at.__setitem__(key, value)),
            (self._first((*path, key)), self._end((*path, key))),
            not children(node_at(node, (key,))),
        )

    def _remove(self, path: Path, node: Node) -> Edit:
        key = self.random.choice(keys(node))
        first, end = self._first((*path, key)), self._end((*path, key))
        if len(keys(node)) == 1 and path:
            first = self._first(path)
        return Edit(
            lambda text: text.remove((*path, key)),
            changed(self.data, path, lambda at: at.__delitem__(key)),
            (first, end),
            False,
        )

    def _add(self, path: Path, node: Node) -> Edit:
        at, value = self.random.randint(0, len(keys(node))), self.random.choice(VALUES)
        near = keys(node)[max(at - 1, 0)]
        lines = self._first((*path, near)), self._end((*path, near))
        if isinstance(node, Sequence):
            expected = changed(self.data, path, lambda it: it.insert(at, value))
            return Edit(lambda text: text.insert(path, at, value), expected, lines, True)
        key = f"new key {self.random.random()}"
        expected = changed(self.data, path, lambda it: it.__setitem__(key, value))
        return Edit(lambda text: text.set((*path, key), value, at), expected, lines, True)

    def _move(self, path: Path, node: Node) -> Edit:
        index, to = (self.random.choice(keys(node)) for _ in range(2))
        low, high = min(index, to), max(index, to)
        return Edit(
            lambda text: text.move(path, int(index), int(to)),
            changed(self.data, path, lambda it: it.insert(to, it.pop(index))),
            (self._first((*path, low)), self._end((*path, high))),
            True,
        )

    def _rename(self, path: Path, node: Node) -> Edit:
        key = self.random.choice(keys(node))

        name = f"other: {self.random.random()}"

        def rename(it: dict[str, Any]) -> None:
            """The same of the data."""
            it[name] = it.pop(str(key))

        lines = self._first((*path, key)), self._end((*path, key))
        return Edit(
            lambda text: text.rename((*path, str(key)), name),
            changed(self.data, path, rename),
            lines,
            True,
        )

    def _line(self, path: Path) -> int:
        node = node_at(self.root, path, of_key=True)
        line = node.line - 1
        while isinstance(path[-1], int) and "-" not in self.lines[line][: node.column - 1]:
            line -= 1  # the dash of an item that begins on a line of its own
            if "-" in self.lines[line]:
                break
        return line

    def _first(self, path: Path) -> int:
        """The line of an entry, or that of the comments above it."""
        line = self._line(self._outside(path))
        while line and (not self.lines[line - 1].strip() or self.lines[line - 1].strip()[0] == "#"):
            line -= 1
        return line

    def _end(self, path: Path) -> int:
        """The line of what follows an entry."""
        path = self._outside(path)
        while path:
            siblings = keys(node_at(self.root, path[:-1]))
            at = siblings.index(path[-1]) + 1
            if at < len(siblings):
                return self._line((*path[:-1], siblings[at]))
            path = path[:-1]
        return len(self.lines)

    def _outside(self, path: Path) -> Path:
        """The entry that has the outermost brackets around an entry, or the entry itself."""
        for length in range(1, len(path)):
            node = node_at(self.root, path[:length])
            if re.match(r"(&\S+\s+)?[\[{]", self.lines[node.line - 1][node.column - 1 :]):
                return path[:length]
        return path


def keys(node: Node) -> list[str | int]:
    """The keys or the indices of a collection."""
    if isinstance(node, Mapping):
        return list(node)
    return list(range(len(node.nodes))) if isinstance(node, Sequence) else []


def children(node: Node) -> bool:
    """Whether a node is a collection that is not empty."""
    return bool(keys(node))


def walk(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Every value with its path."""
    yield path, node
    for key in keys(node):
        yield from walk(node_at(node, (key,)), (*path, key))


def changed(data: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """A copy of data with a change at a path."""
    found = at = copy.deepcopy(data)
    for key in path:
        at = at[key]
    change(at)
    return found


def check_edit(text: str, edit: Edit) -> str:
    """The text behind an edit, which is exactly what the edit means; "" for a refused one."""
    try:
        after = edit.does(YamlText(text, "site.yaml")).text
    except InputError as error:
        if error.kind != "input.edit":
            raise
        return ""
    assert same(to_plain(parse_data(after, "site.yaml")), edit.expected)
    lines = text.splitlines(keepends=True)
    first, end = edit.lines
    assert after.startswith("".join(lines[:first]))
    # The key behind one that is removed may have moved up to the dash.
    assert after.endswith("".join(lines[end:]).lstrip("\n "))
    if edit.keeps_comments:
        assert Counter(Layout(text).comments) <= Counter(Layout(after).comments)
    return after


def manifests() -> list[str]:
    """Every manifest of the examples and of the documentation."""
    found = [path.read_text() for path in sorted((ROOT / "examples").rglob("*.yaml"))]
    for page in PAGES:
        found += [block.text for block in blocks(page, "yaml")]
    return [text for text in found if is_usable(text)]


def is_usable(text: str) -> bool:
    """Whether a text is a document with entries and without aliases."""
    try:
        root = parse_data(text, "site.yaml")
    except InputError:
        return False
    return children(root) and "*" not in text and "<<" not in text


def test_edits_of_all_manifests() -> None:
    """Random edits of each manifest, one after the other, change what they mean and no more."""
    refused = done = 0
    for number, text in enumerate(manifests()):
        for seed in range(EDITS):
            draw = Draw(text, number * 1000 + seed)
            if not children(draw.root):
                break
            after = check_edit(text, draw.edit())
            done, refused = done + bool(after), refused + (not after)
            text = after or text
    assert done > 200
    assert refused <= done * 0.02


@pytest.mark.parametrize("seed", range(20))
def test_edits_of_messy_yaml(seed: int) -> None:
    """The same of texts with every style that YAML has."""
    text = Writer(seed).text
    for number in range(EDITS if is_usable(text) else 0):
        draw = Draw(text, seed * 1000 + number)
        if not children(draw.root):
            break
        text = check_edit(text, draw.edit()) or text
    assert text is not None


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_values_are_written_so_that_they_are_read_again(value: Any) -> None:
    """On a line of their own, in brackets, and in place of another value of any style."""
    lines = written(value, 2)
    text = "\n".join([f"k: {lines.first}", *lines.body, "z: 1", ""])
    assert same(to_plain(parse_data(text, "x")), {"k": value, "z": 1})
    assert same(to_plain(parse_data(f"[{in_brackets(value)}]", "x")), [value])
    for old in ("a", "'a'", '"a"', "|\n  a\n  b", "[a]", "{a: b}", "", "\n  - a", "\n  a: b"):
        for text in (
            f"k: {old}  # c\nz: 1\n",
            f"k: # c\n  {old}\nz: 1\n" if "\n" not in old else "",
        ):
            if text:
                after = YamlText(text, "x").set(("k",), value)
                assert same(after.data, {**after.data, "k": value, "z": 1})


def edited(text: str, edit: Callable[[YamlText], YamlText]) -> str:
    """The text behind an edit of an indented text."""
    return edit(YamlText(textwrap.dedent(text), "site.yaml")).text


SITE = """\
# The web servers
ccm:
    resources:
      # first
      - package:
        - nginx: # now
            ensure:   latest

      - file:
          - '/etc/motd': {content: 'hi', owner: root}   # short

          # second
          - /etc/app.conf:
              content: |
                a

                b
              mode: "0644"
"""


def test_an_edit_is_as_small_as_what_it_means() -> None:
    """A property comes in the style of its neighbors, and nothing else changes."""
    motd: Path = ("ccm", "resources", 1, "file", 0, "/etc/motd")
    after = edited(SITE, lambda text: text.set((*motd, "mode"), "0644"))
    assert after == SITE.replace("owner: root}", 'owner: root, mode: "0644"}')
    after = edited(SITE, lambda text: text.set((*motd, "content"), "it's"))
    assert after == SITE.replace("'hi'", "'it''s'")
    nginx: Path = ("ccm", "resources", 0, "package", 0, "nginx")
    after = edited(SITE, lambda text: text.set((*nginx, "ensure"), "1.10"))
    assert after == SITE.replace("  latest", '  "1.10"')
    after = edited(SITE, lambda text: text.move(("ccm", "resources"), 1, 0))
    assert after.index("'/etc/motd'") < after.index("# first") < after.index("- nginx: # now")


def test_a_list_keeps_the_comments_of_its_items() -> None:
    """An item that comes or goes leaves the others and their comments alone."""
    text = "k:\n  - a\n  # of b\n  - b\n"
    after = edited(text, lambda text: text.set(("k",), ["new", "a", "b", "c"]))
    assert after == "k:\n  - new\n  - a\n  # of b\n  - b\n  - c\n"


def test_line_ends_stay() -> None:
    """A text of Windows stays one."""
    after = edited("a: 1\r\nb: 2\r\n", lambda text: text.set(("c",), {"d": "e"}))
    assert after == "a: 1\r\nb: 2\r\nc:\r\n  d: e\r\n"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a: &x {b: 1}\nc: *x\n", ("c", "b")),
        ("a: &x {b: 1}\nc: *x\n", ("a", "b")),
        ("a: &x {b: 1}\nc: {<<: *x, d: 1}\n", ("c", "b")),
    ],
)
def test_shared_values_are_left_to_the_text(text: str, path: Path) -> None:
    """An edit that would change a second place, or that has none of its own, is refused."""
    with pytest.raises(InputError) as refused:
        edited(text, lambda text: text.set(path, 2))
    assert refused.value.problems[0].kind == "input.edit"


def test_an_anchor_in_use_is_not_removed() -> None:
    """Its alias would mean nothing."""
    with pytest.raises(InputError) as refused:
        edited("a: &x 1\nb: *x\n", lambda text: text.remove(("a",)))
    expect_text(refused.value)


def test_bombs_are_not_expanded() -> None:
    """Aliases that stand for a billion values are refused, as everywhere."""
    names = "abcdefghij"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"{n}: &{n} [{', '.join([f'*{m}'] * 10)}]" for m, n in itertools.pairwise(names)]
    with pytest.raises(InputError, match="aliases expand"):
        YamlText("\n".join(lines), "x")
