"""Limits on a plan's content: no control characters, and numbers of a reasonable size (controller).

ccm writes no control characters into a plan, so a plan that contains any was crafted.
"""

import json
from collections.abc import Mapping
from typing import Any

from orchestrator.support.plain_text import (
    MAX_DEPTH,
    MAX_DIGITS,
    is_plain_json,
    is_shallow,
    plain,
    visible,
)

_TEXTS = ("outcomes", "items", "left_out")  # members whose strings may have several lines


def fault_of(record: Mapping[str, Any], text: str) -> str:
    """Return the forbidden content of a plan, as text; "" if it has none.

    ``text`` is the record's JSON text in ASCII.
    """
    names = {key: value for key, value in record.items() if key not in _TEXTS}
    names["left_out"] = {name: reason["kind"] for name, reason in record["left_out"].items()}
    for key, value in names.items():
        fault = _fault(value, lines=False)
        if fault:
            return f"{fault} in {key!r}"
    if is_plain_json(text) and is_shallow(record) and "Infinity" not in text and "NaN" not in text:
        return ""
    faults = ((key, _fault(record[key], lines=True)) for key in _TEXTS)
    return next((f"{fault} in {key!r}" for key, fault in faults if fault), "")


def _fault(value: Any, lines: bool, depth: int = MAX_DEPTH) -> str:
    """The fault of one value. Without ``lines``, text must be one line, and numbers must be
    integers.
    """
    if isinstance(value, str):
        return "" if _is_clean(value, lines) else "a control character"
    if isinstance(value, dict | list):
        if not depth:
            return "values nested too deeply"
        below = [*value, *value.values()] if isinstance(value, dict) else value
        return next(filter(None, (_fault(one, lines, depth - 1) for one in below)), "")
    if isinstance(value, float):
        return "" if lines and abs(value) < 10.0**MAX_DIGITS else "an invalid number"
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        return "an invalid number"
    return ""


def _is_clean(text: str, lines: bool) -> bool:
    if text.isascii() and text.isprintable():
        return True
    # Python represents a file name that is not UTF-8 with such surrogates.
    kept = "".join(one for one in text if not "\udc80" <= one <= "\udcff")
    return plain(kept) == kept and (lines or not {"\n", "\t"} & set(kept))


def displayable(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """A plan that is safe to display: no control characters, and zero-width characters escaped.

    May return the same object.
    """
    if is_plain_json(json.dumps(record)):
        return record  # all text is ASCII
    return {key: _shown(value) for key, value in record.items()}


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return visible(plain(value))
    if isinstance(value, dict):
        return {_shown(key): _shown(below) for key, below in value.items()}
    if isinstance(value, list):
        return [_shown(below) for below in value]
    return value
