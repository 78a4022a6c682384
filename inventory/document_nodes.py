"""The tree of a YAML document: every node has its file, line and column.

Runs on the controller. The tree holds JSON-like data only: maps with text keys, lists and scalars.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Literal

from remote_runtime.errors import Position

ScalarKind = Literal["str", "int", "float", "bool", "null", "timestamp"]

_LINE_BREAK = "\r\n|[\n\r\x85\u2028\u2029]"
_KIND_NAMES = {
    "str": "text",
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
    "timestamp": "a date",
}


_YAML11_BOOLS = ("yes", "no", "on", "off")


class Source:
    """One text that was read: the name shown in positions, and the text itself.

    ``ambiguous`` has the values that are text here and something else in YAML 1.1, each with line,
    column, text and YAML 1.1's reading.
    """

    is_json = False

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.ambiguous: list[tuple[int, int, str, str]] = []
        self.encrypted: list[EncryptedScalar] = []
        """The values with a tag of an encryption."""

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text, split where YAML splits them; line N is ``lines[N - 1]``."""
        return re.split(_LINE_BREAK, self.text)

    def position(self, line: int, column: int) -> Position:
        """A place in the text; both count from 1."""
        return Position(self.name, line, column)


class Node:
    """A value in the document; ``line`` and ``column`` count from 1.

    Abstract to mypy, but not by ``ABC``: ``isinstance`` takes several times as long with those.
    """

    __slots__ = ("column", "line", "source")

    source: Source
    line: int
    column: int

    @property
    def position(self) -> Position:
        """The position where the value begins."""
        return self.source.position(self.line, self.column)

    @abstractmethod
    def describe(self) -> str:
        """The kind of the node, for messages, such as ``a list``."""

    @abstractmethod
    def as_data(self) -> Any:
        """The node as JSON-like data; use it through ``to_plain``."""


class Scalar(Node):
    """One plain or quoted value.

    ``text`` is its source text, ``value`` its value in the core schema of YAML 1.2 (in a file of
    Ansible: YAML 1.1), ``kind`` its type, ``plain`` whether it has no quotes.
    """

    __slots__ = ("kind", "plain", "text", "value")

    def __init__(
        self,
        source: Source,
        line: int,
        *,
        column: int,
        text: str,
        kind: ScalarKind,
        value: str | int | float | bool | None,
        plain: bool,
    ) -> None:
        self.source = source
        self.line = line
        self.column = column
        self.text = text
        self.kind = kind
        self.value = value
        self.plain = plain

    def describe(self) -> str:
        if self.plain and self.kind == "str" and self.text.lower() in _YAML11_BOOLS:
            return f"the text {self.text!r} (YAML 1.2 has only true and false)"
        return _KIND_NAMES[self.kind]

    def as_data(self) -> Any:
        return self.value

    def as_number(self, number: int) -> Scalar:
        """The same place with a number in it."""
        return Scalar(
            self.source,
            self.line,
            column=self.column,
            text=str(number),
            kind="int",
            value=number,
            plain=True,
        )


class EncryptedScalar(Scalar):
    """A value with the tag ``!vault`` or ``!age``: ``text`` is encrypted, ``tag`` is vault or age.

    Only readers that ask for such values get them; see ``parse_document``.
    """

    __slots__ = ("tag",)

    tag: str

    def describe(self) -> str:
        return f"a value encrypted with !{self.tag}"


ENCRYPTED_TAGS = ("!vault", "!age")


class Sequence(Node):
    """A list; ``nodes`` in the order written."""

    __slots__ = ("nodes",)

    def __init__(self, source: Source, line: int, column: int) -> None:
        self.source = source
        self.line = line
        self.column = column
        self.nodes: list[Node] = []

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def texts(self) -> Iterator[str | None]:
        """Yield the text of every item, None for an item that is not text."""
        for node in self.nodes:
            if isinstance(node, Scalar) and node.kind in ("str", "timestamp"):
                yield node.text
            else:
                yield None

    def describe(self) -> str:
        return "a list"

    def as_data(self) -> Any:
        return [to_plain(value) for value in self.nodes]


class Mapping(Node):
    """A map; ``entries`` holds key and value nodes by the key's text, in the order written.

    Keys that were added by a merge key (``<<``) are included and keep their own positions.
    """

    __slots__ = ("entries",)

    def __init__(self, source: Source, line: int, column: int) -> None:
        self.source = source
        self.line = line
        self.column = column
        self.entries: dict[str, tuple[Scalar, Node]] = {}

    def __contains__(self, key: object) -> bool:
        return key in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def get(self, key: str) -> Node | None:
        """The value of a key, or None if the map does not have it."""
        entry = self.entries.get(key)
        return None if entry is None else entry[1]

    def value(self, key: str) -> Node:
        """The value of a key; KeyError if the map does not have it."""
        return self.entries[key][1]

    def key(self, key: str) -> Scalar:
        """The key's own node, for positions; KeyError if the map does not have it."""
        return self.entries[key][0]

    def scalar(self, key: str) -> str | int | float | bool | None:
        """The value of a key that the map has; None if it is not a scalar."""
        value = self.entries[key][1]
        return value.value if isinstance(value, Scalar) else None

    def pairs(self) -> Iterator[tuple[Scalar, Node]]:
        """Key nodes with their values, in the order written."""
        return iter(self.entries.values())

    def describe(self) -> str:
        return "a map"

    def as_data(self) -> Any:
        return {
            text: value.value if value.__class__ is Scalar else to_plain(value)
            for text, (_, value) in self.entries.items()
        }


def to_plain(node: Node) -> Any:
    """The node as JSON-like data: dict with text keys, list, str, int, float, bool, None.

    Every call makes new containers, so a caller may change the result; only those of JSON that an
    inventory is read from are shared.
    """
    return node.as_data()


def node_at(root: Node, path: Iterable[str | int], of_key: bool = False) -> Node:
    """The node to which keys and indices lead or, with ``of_key``, the last key itself."""
    node, key = root, root
    for part in path:
        if isinstance(node, Mapping) and isinstance(part, str):
            key, node = node.entries[part]
        elif isinstance(node, Sequence) and isinstance(part, int):
            key = node = node.nodes[part]
    return key if of_key else node


def comments_before(node: Node) -> list[str]:
    """The comment lines directly above a node (use a map's key node), without ``#`` and spaces.

    A blank line ends the search. A line whose ``#`` is to the right of the node is omitted, because
    it may be part of a block text.
    """
    lines = node.source.lines
    result: list[str] = []
    for index in range(node.line - 2, -1, -1):
        bare = lines[index].lstrip(" \t")
        if not bare.startswith("#") or len(lines[index]) - len(bare) >= node.column:
            break
        result.append(bare.lstrip("#").strip())
    result.reverse()
    return result
