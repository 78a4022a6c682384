"""Reads JSON into nodes that determine their positions on demand (controller).

The C decoder reads JSON tens of times faster than the YAML reader does. A valid inventory with tens
of thousands of hosts needs hardly any positions. The first request for a position reads the text
again, as YAML.

    root = read_json(text, "hosts.json")    # None: read it as YAML
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NoReturn

from inventory.builder import MAX_DEPTH
from inventory.document_nodes import Mapping, Node, Scalar, ScalarKind, Sequence, Source
from inventory.scalars import MAX_NUMBER, resolve_plain
from inventory.yaml_document import parse_document, refuse_control_characters
from remote_runtime.errors import InputError

# Surrogates, and line breaks within a string: JSON and YAML read these differently.
_DIFFERENT = ("\\ud", "\\uD", "\x85", "\u2028", "\u2029")
_KINDS: dict[type, ScalarKind] = {
    str: "str",
    int: "int",
    float: "float",
    bool: "bool",
    type(None): "null",
}
_CONTAINERS = (dict, list)

Path = tuple[str | int, ...]
"""Keys and indices that lead from the root to a value."""


def read_json(text: str, name: str) -> Node | None:
    """The document, as ``parse_document`` returns it; None if that function must read the text.

    None for text that is not JSON, is refused, or has a different meaning as YAML.
    """
    text = text.removeprefix("\ufeff")
    if text.lstrip()[:1] != "{" or any(sign in text for sign in _DIFFERENT):
        return None
    source = JsonSource(name, text)
    try:
        refuse_control_characters(source)
        data = _decode(text)
    except (InputError, ValueError, RecursionError):
        return None
    return JsonMapping(source, None, "", data) if _is_shallow(data) else None


def _decode(text: str) -> Any:
    return json.loads(
        text,
        object_pairs_hook=_without_duplicates,
        parse_int=_int,
        parse_float=_float,
        parse_constant=_refuse,
    )


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _refuse("a duplicate key")


def _int(text: str) -> int:
    return int(text) if len(text) <= MAX_NUMBER else _refuse("a long number")


def _float(text: str) -> float:
    value = resolve_plain(text)[1]
    return value if isinstance(value, float) else _refuse("not a number in YAML")


def _refuse(what: str) -> NoReturn:
    raise ValueError(what)


def _is_shallow(data: Any) -> bool:
    """Whether nothing is nested more deeply than the YAML reader allows."""
    level = [data]
    for _ in range(MAX_DEPTH):
        level = [
            value
            for container in level
            for value in (container.values() if container.__class__ is dict else container)
            if value.__class__ in _CONTAINERS
        ]
        if not level:
            return True
    return False


class JsonSource(Source):
    """A JSON text that can be read again, with positions."""

    is_json = True

    @cached_property
    def root(self) -> Node:
        """The tree with positions; a null if YAML refuses something that JSON allows, such as long
        keys.
        """
        try:
            return parse_document(self.text, self.name)
        except InputError:
            return Scalar(self, 1, column=1, text="", kind="null", value=None, plain=True)

    def find(self, path: Path) -> tuple[Node, Node]:
        """The node at a path, following the keys; the last existing one."""
        key = value = self.root
        for step in path:
            if isinstance(value, Mapping) and step in value:
                key, value = value.entries[str(step)]
            elif isinstance(value, Sequence):
                key = value = value.nodes[int(step)]
        return key, value


class JsonNode(Node):
    """A node that finds its position on demand: ``step`` leads to it in ``parent``."""

    __slots__ = ()

    source: JsonSource
    parent: JsonMapping | JsonSequence | None
    step: str | int

    def __getattr__(self, name: str) -> Any:
        """Fill a slot on its first use."""
        if name not in ("line", "column"):
            raise AttributeError(name)
        place = self._place()
        self.line, self.column = place.line, place.column
        return getattr(self, name)

    def _place(self) -> Node:
        return self.source.find(self.path())[1]

    def path(self) -> Path:
        """Return the keys and indices that lead to it from the root."""
        return () if self.parent is None else (*self.parent.path(), self.step)


class JsonScalar(JsonNode, Scalar):
    """A string, a number, true, false or null."""

    __slots__ = ("parent", "step")

    def __init__(self, parent: JsonMapping | JsonSequence, step: str | int, value: Any) -> None:
        self.source = parent.source
        self.parent = parent
        self.step = step
        self.value = value
        if value.__class__ is str:
            self.kind, self.text, self.plain = "str", value, False
        else:
            self.kind, self.text, self.plain = _KINDS[value.__class__], json.dumps(value), True

    def as_number(self, number: int) -> Scalar:
        assert self.parent is not None
        return JsonScalar(self.parent, self.step, number)


class JsonKey(JsonScalar):
    """A key, which is its own step."""

    __slots__ = ()

    def _place(self) -> Node:
        return self.source.find(self.path())[0]


class JsonSequence(JsonNode, Sequence):
    """A list."""

    __slots__ = ("_data", "parent", "step")

    def __init__(
        self, parent: JsonMapping | JsonSequence, step: str | int, data: list[Any]
    ) -> None:
        self.source = parent.source
        self.parent = parent
        self.step = step
        self._data = data

    def __getattr__(self, name: str) -> Any:
        if name == "nodes":
            self.nodes = list(self)
            return self.nodes
        return super().__getattr__(name)

    def __iter__(self) -> Iterator[Node]:
        return (_node(self, index, value) for index, value in enumerate(self._data))

    def texts(self) -> Iterator[str | None]:
        return (value if value.__class__ is str else None for value in self._data)

    def as_data(self) -> Any:
        return self._data


class JsonMapping(JsonNode, Mapping):
    """A map."""

    __slots__ = ("_data", "parent", "step")

    def __init__(
        self,
        source: JsonSource,
        parent: JsonMapping | JsonSequence | None,
        step: str | int,
        data: dict[str, Any],
    ) -> None:
        self.source = source
        self.parent = parent
        self.step = step
        self._data = data

    def __getattr__(self, name: str) -> Any:
        if name == "entries":
            self.entries = {key.text: (key, value) for key, value in self.pairs()}
            return self.entries
        return super().__getattr__(name)

    def __contains__(self, key: object) -> bool:
        return key in self._data

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def scalar(self, key: str) -> Any:
        value = self._data[key]
        return None if value.__class__ in _CONTAINERS else value

    def get(self, key: str) -> Node | None:
        return _node(self, key, self._data[key]) if key in self._data else None

    def value(self, key: str) -> Node:
        return _node(self, key, self._data[key])

    def key(self, key: str) -> Scalar:
        if key not in self._data:
            raise KeyError(key)
        return JsonKey(self, key, key)

    def pairs(self) -> Iterator[tuple[Scalar, Node]]:
        data = self._data
        return ((JsonKey(self, key, key), _node(self, key, data[key])) for key in data)

    def as_data(self) -> Any:
        return self._data


def _node(parent: JsonMapping | JsonSequence, step: str | int, value: Any) -> Node:
    if value.__class__ is dict:
        return JsonMapping(parent.source, parent, step, value)
    if value.__class__ is list:
        return JsonSequence(parent, step, value)
    return JsonScalar(parent, step, value)
