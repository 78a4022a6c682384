"""Functions on strings, numbers and single values (controller). ValueError for a wrong argument."""

import base64
import binascii
import json
import math
from typing import Any

from orchestrator.language import cost_limits, value_types
from orchestrator.language.exprlang import values
from orchestrator.language.exprlang.now_function import Moment
from orchestrator.language.exprlang.values import Table
from orchestrator.language.value_types import of_texts

_BLANKS = " \t\n\v\f\r\x85\xa0"


_trim_prefix = of_texts("trimPrefix", lambda text, start=" ": text.removeprefix(start))
_trim_suffix = of_texts("trimSuffix", lambda text, end=" ": text.removesuffix(end))
_upper = of_texts("upper", str.upper)
_lower = of_texts("lower", str.lower)
_index_of = of_texts("indexOf", str.find)
_last_index_of = of_texts("lastIndexOf", str.rfind)


def _trim(text: Any, characters: Any = None) -> str:
    value_types.texts("trim", text, "" if characters is None else characters)
    return str(text.strip(_BLANKS if characters is None else characters))


def _split(text: Any, separator: Any, count: Any = -1) -> list[str]:
    value_types.texts("split", text, separator)
    if value_types.whole("split", count) == 0:
        return []
    parts = text.count(separator) if separator else len(text)
    cost_limits.check_size(parts, values.MAX_ENTRIES, "the list")
    if not separator:
        whole = list(text)
        return whole if count < 0 else [*whole[: count - 1], "".join(whole[count - 1 :])]
    return list(text.split(separator, -1 if count < 0 else count - 1))


def _split_after(text: Any, separator: Any, count: Any = -1) -> list[str]:
    parts = _split(text, separator, count)
    return [part + separator for part in parts[:-1]] + parts[-1:]


def starts_with(text: Any, prefix: Any) -> bool:
    """Whether a string begins with the prefix."""
    value_types.texts("startsWith", text, prefix)
    return bool(text.startswith(prefix))


def ends_with(text: Any, suffix: Any) -> bool:
    """Whether a string ends with the suffix."""
    value_types.texts("endsWith", text, suffix)
    return bool(text.endswith(suffix))


def _int(value: Any) -> int:
    if isinstance(value, str):
        digits = value[1:] if value[:1] in ("+", "-") else value
        if not (digits.isascii() and digits.isdigit()) or len(digits) > 1000:
            raise ValueError(f"int({value[:40]!r}): not a whole number")
        return int(value)
    found = value_types.number("int", value)
    if not math.isfinite(found):
        raise ValueError(f"int({found}): not a whole number")
    return int(found)


def _float(value: Any) -> float:
    if isinstance(value, str):
        try:
            if "_" in value or value != value.strip():
                raise ValueError
            return float(value)
        except ValueError as error:
            raise ValueError(f"float({value[:40]!r}): not a number") from error
    return float(value_types.number("float", value))


def _abs(value: Any) -> int | float:
    return abs(value_types.number("abs", value))


def _ceil(value: Any) -> float:
    return float(math.ceil(value_types.number("ceil", value)))


def _floor(value: Any) -> float:
    return float(math.floor(value_types.number("floor", value)))


def _round(value: Any) -> float:
    found = value_types.number("round", value)
    return math.copysign(math.floor(abs(found) + 0.5), found)


def _type(value: Any) -> str:
    names = {bool: "bool", int: "int", float: "float", type(None): "nil"}
    if type(value) in names:
        return names[type(value)]
    return {"text": "string", "a map": "map", "a list": "array"}.get(
        value_types.kind(value), "func"
    )


def _from_json(text: Any) -> Any:
    value_types.texts("fromJSON", text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"fromJSON: this is not JSON: {error}") from error


def _to_base64(text: Any) -> str:
    value_types.texts("toBase64", text)
    return base64.b64encode(text.encode()).decode()


def _from_base64(text: Any) -> str:
    value_types.texts("fromBase64", text)
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ValueError(f"fromBase64: {error}") from error


FUNCTIONS: Table = {
    "trim": (_trim, "text[, characters]", "Removes spaces, or these characters, at both ends"),
    "trimPrefix": (_trim_prefix, "text, start", "Removes a prefix"),
    "trimSuffix": (_trim_suffix, "text, end", "Removes a suffix"),
    "upper": (_upper, "text", "The text in upper case"),
    "lower": (_lower, "text", "The text in lower case"),
    "split": (_split, "text, separator[, n]", "The parts, at most `n`"),
    "splitAfter": (_split_after, "text, separator[, n]", "The parts, each with its separator"),
    "replace": (cost_limits.replace, "text, old, new[, n]", "Replaces all, or the first `n`"),
    "repeat": (cost_limits.repeat, "text, n", "The text `n` times"),
    "indexOf": (_index_of, "text, part", "Position of the first occurrence, or -1"),
    "lastIndexOf": (_last_index_of, "text, part", "Position of the last occurrence, or -1"),
    "hasPrefix": (starts_with, "text, start", "Whether the text starts with this"),
    "hasSuffix": (ends_with, "text, end", "Whether the text ends with this"),
    "int": (_int, "x", "An integer from a number or text; anything else is an error"),
    "float": (_float, "x", "A number from a number or text"),
    "string": (values.text, "x", "The value as text; lists and maps as JSON"),
    "type": (_type, "x", "`nil`, `bool`, `int`, `float`, `string`, `array` or `map`"),
    "abs": (_abs, "n", "Absolute value"),
    "ceil": (_ceil, "n", "Rounds up"),
    "floor": (_floor, "n", "Rounds down"),
    "round": (_round, "n", "Rounds to the nearest integer; rounds halves away from 0"),
    "toJSON": (lambda value: values.json_text(value, 2), "x", "JSON, indented by two spaces"),
    "fromJSON": (_from_json, "text", "The value of JSON text"),
    "toBase64": (_to_base64, "text", "Base64"),
    "fromBase64": (_from_base64, "text", "The decoded text"),
    "now": (Moment.now, "", "The time in UTC as text in RFC 3339, with the methods below"),
}
"""Function, parameters and meaning by name."""
