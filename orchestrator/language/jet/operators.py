"""Operators on values, as in Go; ValueError for invalid operands (controller)."""

import json
import math
from collections.abc import Mapping
from typing import Any

from orchestrator.language import cost_limits, value_types
from orchestrator.language.other_hosts import OF_FACTS, OtherHost
from schemas.fast_validation import is_number


def truth(value: Any) -> bool:
    """False only for nil, false, 0 and an empty text: an empty list or map is true, as in Jet."""
    if value is None or isinstance(value, bool | int | float | str):
        return bool(value)
    return True


def text(value: Any) -> str:
    """A value as text: nil is empty, lists and maps are JSON."""
    if isinstance(value, str):
        return str(value)
    if value is None:
        return ""
    if value.__class__ is int:
        return str(value)
    if isinstance(value, float):
        return _float(value)
    return json.dumps(value_types.plain(value), ensure_ascii=False)


def _float(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a finite number")
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    return repr(value)


def equal(left: Any, right: Any) -> bool:
    """``==``; true does not equal 1."""
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    return bool(left == right)


def compare(operator: str, left: Any, right: Any) -> bool:
    """``<``, ``<=``, ``>`` or ``>=`` of two numbers or two strings."""
    both_text = isinstance(left, str) and isinstance(right, str)
    if not both_text and not (is_number(left) and is_number(right)):
        raise ValueError(
            f"{operator} compares two numbers or two text values, {_both(left, right)}"
        )
    if operator == "<":
        return bool(left < right)
    if operator == "<=":
        return bool(left <= right)
    return bool(left > right) if operator == ">" else bool(left >= right)


def calculate(operator: str, left: Any, right: Any) -> Any:
    """Arithmetic; ``+`` appends any value to a string on its left."""
    if operator == "+" and isinstance(left, str):
        right = text(right)
        cost_limits.check_replace(left, ("", ""))
        return left + right
    if operator == "+" and is_number(left) and isinstance(right, str):
        right = _numeric(right)
    if not (is_number(left) and is_number(right)):
        raise ValueError(f"{operator} takes two numbers, {_both(left, right)}")
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return cost_limits.multiply(left, right)
    if right == 0:
        raise ValueError(f"{text(left)} {operator} 0 cannot be calculated")
    if operator == "/":
        return _divide(left, right)
    return int(math.fmod(int(left), int(right))) if abs(left) < 2**53 else left % right


def _divide(left: int | float, right: int | float) -> int | float:
    """Divide; the result of two whole numbers is truncated towards zero."""
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _numeric(value: str) -> int | float:
    try:
        return int(value) if value.lstrip("+-").isdigit() else float(value)
    except ValueError:
        raise ValueError(f"+ after a number needs a number, not the text {value!r}") from None


def _both(left: Any, right: Any) -> str:
    return f"not {value_types.kind(left)} and {value_types.kind(right)}"


def element(base: Any, key: Any, path: str) -> Any:
    """``base[key]``; ``path`` is the source text of the base."""
    if isinstance(base, Mapping):
        if not isinstance(key, str):
            raise ValueError(f"{path}: the keys of a map are text, not {value_types.kind(key)}")
        if key not in base:
            if isinstance(base, OtherHost) and key in OF_FACTS:
                raise base.unavailable()
            raise MissingError(f"{path.removesuffix('.')}.{key}: no such path")
        return base[key]
    if base is None:
        raise MissingError(f"{path}: it is nil, which has no entries")
    if not isinstance(base, list | tuple | range | str):
        raise ValueError(f"{path}: {value_types.kind(base)} has no entries")
    sequence = base.encode("utf-8") if isinstance(base, str) else base
    if not is_number(key) or isinstance(key, float):
        raise ValueError(
            f"{path}: {value_types.kind(base)} is indexed by numbers, not {text(key)!r}"
        )
    if not 0 <= key < len(sequence):
        raise MissingError(f"{path}[{key}]: the length is only {len(sequence)}")
    return sequence[key]


def cut(base: Any, low: Any, high: Any, path: str) -> Any:
    """``base[low:high]`` of a list, or of the bytes of a string."""
    if not isinstance(base, list | tuple | range | str):
        raise ValueError(f"{path}: only a list or text can be sliced, not {value_types.kind(base)}")
    sequence = base.encode("utf-8") if isinstance(base, str) else list(base)
    low = 0 if low is None else low
    high = len(sequence) if high is None else high
    whole = isinstance(low, int) and isinstance(high, int)
    if not whole or not 0 <= low <= high <= len(sequence):
        raise ValueError(f"{path}[{text(low)}:{text(high)}]: the length is only {len(sequence)}")
    part = sequence[low:high]
    try:
        return part.decode("utf-8") if isinstance(part, bytes) else part
    except UnicodeDecodeError:
        raise ValueError(f"{path}[{low}:{high}] splits a character") from None


class MissingError(LookupError):
    """A path does not exist; the message is for the user."""
