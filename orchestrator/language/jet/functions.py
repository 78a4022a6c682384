"""Jet's built-in functions (controller). Each raises ValueError for arguments of the wrong kind."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote_plus

from orchestrator.language import cost_limits, value_types
from orchestrator.language.jet import operators

_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"})
_JSON = str.maketrans(
    {"&": "\\u0026", "<": "\\u003c", ">": "\\u003e", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)


class Function(NamedTuple):
    """A function; with ``maximum`` None, it accepts any number of arguments."""

    call: Callable[..., Any]
    least: int
    maximum: int | None


def _of_texts(name: str, convert: Callable[..., Any], count: int = 1) -> Function:
    return Function(value_types.of_texts(name, convert), count, count)


def _split(text: Any, separator: Any) -> list[str]:
    value_types.texts("split", text, separator)
    return text.split(separator) if separator else list(text)


def _json(value: Any) -> str:
    made = json.dumps(
        value_types.plain(value), ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    return made.translate(_JSON)


def _map(*pairs: Any) -> dict[str, Any]:
    if len(pairs) % 2:
        raise ValueError("map takes pairs of a key and a value")
    return {operators.text(key): value for key, value in zip(pairs[::2], pairs[1::2], strict=True)}


def _slice(*entries: Any) -> list[Any]:
    return list(entries)


def _length(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode("utf-8"))
    if isinstance(value, Mapping):
        return len(list(value.keys()))
    if isinstance(value, list | tuple | range):
        return len(value)
    raise ValueError(f"len takes text, a list or a map, not {value_types.kind(value)}")


def _ints(low: Any, high: Any) -> list[int]:
    if value_types.whole("ints", low) >= value_types.whole("ints", high):
        raise ValueError(f"ints({low}, {high}): the second number must be the larger one")
    return list(cost_limits.bounded_range(low, high))


FUNCTIONS = {
    "lower": _of_texts("lower", str.lower),
    "upper": _of_texts("upper", str.upper),
    "trimSpace": _of_texts("trimSpace", str.strip),
    "html": _of_texts("html", lambda text: text.translate(_HTML)),
    "url": _of_texts("url", quote_plus),
    "safeHtml": Function(lambda value: operators.text(value).translate(_HTML), 1, 1),
    "raw": Function(operators.text, 1, 1),
    "unsafe": Function(operators.text, 1, 1),
    "hasPrefix": _of_texts("hasPrefix", str.startswith, 2),
    "hasSuffix": _of_texts("hasSuffix", str.endswith, 2),
    "repeat": Function(cost_limits.repeat, 2, 2),
    "replace": Function(cost_limits.replace, 4, 4),
    "split": Function(_split, 2, 2),
    "json": Function(_json, 1, 1),
    "writeJson": Function(lambda value: _json(value) + "\n", 1, 1),
    "map": Function(_map, 0, None),
    "slice": Function(_slice, 0, None),
    "array": Function(_slice, 0, None),
    "len": Function(_length, 1, 1),
    "ints": Function(_ints, 2, 2),
}

REFUSED = {
    "dump": "it would show every value, including secrets; write the one that you need",
    "safeJs": "use json",
    "includeIfExists": "it must be alone in its action",
}
