"""What a value is, and how large (controller)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.language import bounds

_KINDS = {bool: "true or false", int: "a number", float: "a number", type(None): "nil"}
MAX_ENTRIES = 1_000_000

Table = dict[str, tuple[Callable[..., Any], str, str]]
"""Functions by name, with their parameters and their meaning as people read them."""


def kind(value: Any) -> str:
    """What a value is, in words."""
    if isinstance(value, str):
        return "a text"
    if isinstance(value, Mapping):
        return "a map"
    if isinstance(value, list | tuple | range):
        return "a list"
    return _KINDS.get(type(value), f"a {type(value).__name__}")


def is_number(value: Any) -> bool:
    """Whether it is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def texts(name: str, *values: Any) -> None:
    """Refuse what is not a text; ValueError."""
    for value in values:
        if not isinstance(value, str):
            raise ValueError(f"{name} takes texts, not {kind(value)}")


def whole(name: str, value: Any) -> int:
    """A whole number; ValueError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name} takes a whole number, not {kind(value)}")
    return value


def number(name: str, value: Any) -> int | float:
    """A number; ValueError."""
    if not is_number(value):
        raise ValueError(f"{name} takes a number, not {kind(value)}")
    return value  # type: ignore[no-any-return]


def entries(name: str, value: Any) -> list[Any]:
    """The entries of a list; ValueError."""
    if not isinstance(value, list | tuple | range):
        raise ValueError(f"{name} takes a list, not {kind(value)}")
    return list(value)


def mapping(name: str, value: Any) -> Mapping[str, Any]:
    """A map; ValueError."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} takes a map, not {kind(value)}")
    return value


def size(value: Any, most: int = MAX_ENTRIES) -> int:
    """The entries of a value, those of lists in lists included; TooLargeError beyond ``most``.

    64 characters of a text count as one entry.
    """
    found = 0
    open_ = [value]
    while open_:
        entry = open_.pop()
        found += 1
        if isinstance(entry, str):
            found += len(entry) // 64
        elif isinstance(entry, Mapping):
            open_ += entry.values()
        elif isinstance(entry, list | tuple):
            open_ += entry
        elif isinstance(entry, range):
            found += len(entry)
        if found + len(open_) > most:
            raise bounds.TooLargeError(f"the values have more than {MAX_ENTRIES} entries in all")
    return found


def breadth(value: Any) -> int:
    """The entries of a value alone, those of lists in lists left out; cheap."""
    if isinstance(value, str):
        return len(value) // 64
    if isinstance(value, dict):
        return dict.__len__(value)  # facts that are missing refuse to be read as a whole
    return len(value) if isinstance(value, list | tuple | range) else 0


def plain(value: Any) -> Any:
    """A copy in JSON's own types; touching facts that are not there raises."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(entry) for entry in value]
    return value


def json_text(value: Any, indent: int | None = None) -> str:
    """A value as JSON, of bounded size."""
    size(value)
    return json.dumps(plain(value), ensure_ascii=False, indent=indent)


def text(value: Any) -> str:
    """A value as text: nil is empty, lists and maps are JSON, as in ``{{ }}`` inside a text."""
    if isinstance(value, str):
        return str(value)
    return "" if value is None else json_text(value)
