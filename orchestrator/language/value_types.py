"""The kinds of values, and checks of arguments (controller)."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from schemas.fast_validation import is_number

_KINDS = {bool: "true or false", int: "a number", float: "a number", type(None): "null"}


def kind(value: Any) -> str:
    """The kind of a value, as text."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, Mapping):
        return "a map"
    if isinstance(value, list | tuple | range):
        return "a list"
    return _KINDS.get(type(value), f"a {type(value).__name__}")


def texts(name: str, *values: Any) -> None:
    """Refuse values that are not text; ValueError."""
    for value in values:
        if not isinstance(value, str):
            raise ValueError(f"{name} takes text, not {kind(value)}")


def of_texts(name: str, convert: Callable[..., Any]) -> Callable[..., Any]:
    """The function, limited to text arguments; it raises ValueError for others."""

    def call(*given: Any) -> Any:
        """Refuse values that are not text, and convert the rest."""
        texts(name, *given)
        return convert(*given)

    return call


def whole(name: str, value: Any) -> int:
    """A whole number; ValueError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name} takes a whole number, not {kind(value)}")
    return value


def number(name: str, value: Any) -> int | float:
    """A number; ValueError."""
    if not is_number(value):
        raise ValueError(f"{name} takes a number, not {kind(value)}")
    return value


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


def plain(value: Any) -> Any:
    """A copy with only JSON's types; reading facts that are not available raises an error."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(entry) for entry in value]
    return value


def as_text(value: Any) -> str:
    """A value inside a string: null is empty, booleans as in YAML, everything else as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if value.__class__ is int:
        return repr(value)  # as JSON has it, in a tenth of the time
    return json.dumps(value, ensure_ascii=False)
