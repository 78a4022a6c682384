"""The sizes of values, and their text (controller)."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from orchestrator.language import cost_limits, value_types

MAX_ENTRIES = 1_000_000

Table = dict[str, tuple[Callable[..., Any], str, str]]
"""Functions by name, with their parameters and meaning for people."""


def size(value: Any, maximum: int = MAX_ENTRIES) -> int:
    """The entries of a value, including those of nested lists; TooLargeError beyond ``maximum``.

    64 characters of a string count as one entry.
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
        if found + len(open_) > maximum:
            raise cost_limits.TooLargeError(
                f"the values have more than {MAX_ENTRIES} entries in total"
            )
    return found


def breadth(value: Any) -> int:
    """The number of entries of a value, without those of nested lists; cheap."""
    if isinstance(value, str):
        return len(value) // 64
    if isinstance(value, dict):
        return dict.__len__(value)  # facts that are missing refuse to be read as a whole
    return len(value) if isinstance(value, list | tuple | range) else 0


def json_text(value: Any, indent: int | None = None) -> str:
    """A value as JSON of limited size."""
    size(value)
    return json.dumps(value_types.plain(value), ensure_ascii=False, indent=indent)


def text(value: Any) -> str:
    """A value as text: nil is empty, lists and maps are JSON, as in ``{{ }}`` inside a string."""
    if isinstance(value, str):
        return str(value)
    return "" if value is None else json_text(value)
