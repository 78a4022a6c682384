"""Members of a record that another user may have written, or that may be damaged (controller).

Each function returns a validated value, or raises ``ValueError``.
"""

from typing import Any

from orchestrator.support.plain_text import plain

DAMAGED = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""Errors raised when a record does not have the format that a run writes."""


def problem_text(error: Exception) -> str:
    """Return the problem of a record in words."""
    if isinstance(error, KeyError):
        return f"{error} is missing; another version of ccm may have written it"
    return str(error)


_LAST = 253402300799  # the end of the year 9999, in seconds
_LIMIT = 10**15


def text(value: Any) -> str:
    """Return a string without control characters; ValueError if it is not a string."""
    if not isinstance(value, str):
        raise ValueError(f"expected text, got {_shown(value)}")
    return plain(value)


def word(value: Any) -> str:
    """Return a string of one line that is safe to display; ValueError for any other value."""
    if text(value) != value or "\n" in value:
        raise ValueError(f"expected a word, got {_shown(value)}")
    return str(value)


def texts(value: Any) -> list[str]:
    """Return a list of strings without control characters; ValueError for any other value."""
    if not isinstance(value, list):
        raise ValueError(f"expected a list, got {_shown(value)}")
    return [text(one) for one in value]


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, got {_shown(value)}")
    return value


def counts(values: list[Any]) -> list[int]:
    """A map of counts."""
    for value in values:
        if type(value) is not int or not 0 <= value < _LIMIT:
            raise ValueError(f"expected a count, got {_shown(value)}")
    return values


def count(value: Any) -> int:
    """A count."""
    if type(value) is not int or not 0 <= value < _LIMIT:
        raise ValueError(f"expected a count, got {_shown(value)}")
    return value


def seconds(value: Any) -> float:
    """A time or a duration, which is negative if a clock was set back."""
    if type(value) not in (int, float) or not -_LAST <= value <= _LAST:
        raise ValueError(f"expected a time, got {_shown(value)}")
    number: float = value
    return number


def mapping(value: Any) -> dict[str, Any]:
    """A map."""
    if not isinstance(value, dict):
        raise ValueError(f"expected a map, got {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "a map"
    return ascii(value)[:40] if not isinstance(value, int) or abs(value) < _LIMIT else "a number"
