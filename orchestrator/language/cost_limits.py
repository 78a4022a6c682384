"""Limits on the cost of one expression: no manifest and no fact may exhaust the controller.

Every operation whose result can be much larger than its operands is checked here before it is
performed (controller).
"""

import re
from collections.abc import Callable, ItemsView, Iterable, Iterator, Sized, ValuesView
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Any

from orchestrator.language import value_types

MAX_ITEMS = 10_000
MAX_SUM = 1_000_000
MAX_TEXT = 16 * 1024 * 1024
MAX_BITS = 10_000
MAX_WIDTH = 10_000
MAX_STEPS = 1_000_000
"""The maximum number of steps of a whole template: loop passes, calls, and every ``PER_STEP``
characters of long strings.
"""
PER_STEP = 64
PER_LOOK = 4096
PER_GLANCE = 512
LONG = 4096
_PER_ENTRY = 4  # characters
_HOLDERS = (dict, list, tuple, ItemsView, ValuesView)
"""Types whose text includes the text of their contents."""

_WIDTH = r"\*|\d{5,}"
_COMPUTED = r"\{[^{}]*:[^{}]*\{"
_NUMBERS = r"\d{1,4}"
_PADDING = {"ljust", "rjust", "center", "zfill", "expandtabs", "to_bytes"}


class TooLargeError(ValueError):
    """The result would be larger than an expression may produce; the message is for the user."""


_spent: ContextVar[list[int] | None] = ContextVar("spent", default=None)


@contextmanager
def budget() -> Iterator[None]:
    """Count the steps in this block; a nested template shares the count."""
    token = _spent.set(_spent.get() or [0])
    try:
        yield
    finally:
        _spent.reset(token)


def spend(steps: int) -> None:
    """Count some steps; TooLargeError above ``MAX_STEPS``. Free outside whole templates."""
    spent = _spent.get()
    if spent is not None:
        spent[0] += steps
        if spent[0] > MAX_STEPS:
            raise TooLargeError(f"the template takes more than {MAX_STEPS} steps")


def check_collection(value: Any) -> None:
    """Refuse a new list or map that is too large with all its elements. A list that contains the
    same list twice, nested repeatedly, takes little memory, but comparing it would take forever.
    """
    if any(isinstance(one, _HOLDERS) for one in _values(value)):
        size = text_length(value)
        if size > MAX_TEXT:
            check_size(size, MAX_TEXT, "the value, including its contents,")
        spend(size // PER_GLANCE)


def spend_look(value: Any) -> None:
    """Count a search of a long text, which is much cheaper than a copy."""
    if value.__class__ is str:
        spend(len(value) // PER_LOOK)


def spend_text(length: int) -> None:
    """Count a new text; short ones are free."""
    if length > LONG:
        spend(length // PER_STEP)


def bounded_range(*arguments: int) -> range:
    """``range`` with at most ``MAX_ITEMS`` numbers."""
    numbers = range(*arguments)
    if len(numbers) > MAX_ITEMS:
        raise TooLargeError(
            f"range() returns {len(numbers)} numbers, but at most {MAX_ITEMS} are allowed"
        )
    return numbers


def multiply(left: Any, right: Any) -> Any:
    """``left * right`` with a result of limited size."""
    for value, count in ((left, right), (right, left)):
        if isinstance(value, str | bytes | list | tuple) and isinstance(count, int):
            limit = MAX_TEXT if isinstance(value, str | bytes) else MAX_ITEMS
            check_size(len(value) * count, limit, "the repetition")
            check_size(
                text_length(value) * count, MAX_TEXT, "the repetition, including its contents,"
            )
            return left * right
    if isinstance(left, int) and isinstance(right, int):
        check_size(left.bit_length() + right.bit_length(), MAX_BITS, "the product", "bits")
    return left * right


def repeat(text: Any, count: Any) -> str:
    """The text repeated ``count`` times; ValueError."""
    value_types.texts("repeat", text)
    if value_types.whole("repeat", count) < 0:
        raise ValueError("repeat takes a count of 0 or more")
    return str(multiply(text, count))


def replace(text: Any, old: Any, new: Any, count: Any = -1) -> str:
    """The text with ``count`` or all of the old parts replaced; ValueError."""
    value_types.texts("replace", text, old, new)
    check_replace(text, (old, new))
    return str(text.replace(old, new, value_types.whole("replace", count)))


def power(left: Any, right: Any) -> Any:
    """``left ** right`` with a result of limited size."""
    if isinstance(left, int) and isinstance(right, int) and right > 0:
        check_size(left.bit_length() * right, MAX_BITS, "the power", "bits")
    return left**right


def modulo(left: Any, right: Any) -> Any:
    """``left % right``; for a string, the widths in the format are limited."""
    if isinstance(left, str | bytes):
        check_format(str(left), right, sign="%")
    return left % right


def check_format(text: str, given: Any = (), sign: str = "{") -> None:
    """Refuse a format string that pads beyond ``MAX_WIDTH``, or whose result with the ``given``
    values is too large."""
    if re.search(_WIDTH, text) or re.search(_COMPUTED, text):
        raise TooLargeError(f"a format wider than {MAX_WIDTH - 1}, or with a computed width")
    widest = max(map(int, re.findall(_NUMBERS, text)), default=0)
    size = len(text) + text.count(sign) * (widest + text_length(given))
    check_size(size, MAX_TEXT, "the formatted text")


def add(left: Any, right: Any) -> Any:
    """``left + right`` with a result of limited size."""
    if isinstance(left, str | list | tuple) and isinstance(right, str | list | tuple):
        limit = MAX_TEXT if isinstance(left, str) else MAX_SUM
        check_size(len(left) + len(right), limit, "the sum")
    _check_whole("the sum", left, right)
    return left + right


def subtract(left: Any, right: Any) -> Any:
    """``left - right`` with a result of limited size."""
    _check_whole("the difference", left, right)
    return left - right


def _check_whole(what: str, left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        check_size(max(left.bit_length(), right.bit_length()), MAX_BITS, what, "bits")


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "*": multiply,
    "**": power,
    "%": modulo,
    "+": add,
    "-": subtract,
}


def check_method(owner: Any, name: str, arguments: tuple[Any, ...]) -> None:
    """Refuse a call of a value's own method if the result would be too large."""
    if not isinstance(owner, str | bytes | int):
        return
    if name in _PADDING:
        check_numbers(arguments)
    if not isinstance(owner, str | bytes):
        return
    if name == "expandtabs":
        check_size(len(owner) * max([8, *arguments]), MAX_TEXT, "the text")
    elif name == "replace":
        check_replace(owner, arguments)
    elif name == "translate" and arguments:
        longest = max(map(text_length, _values(arguments[0])), default=1)
        check_size(len(owner) * longest, MAX_TEXT, "the text")
    elif name == "join" and arguments:
        check_join(owner, arguments[0])


def check_join(between: Any, parts: Any) -> None:
    """Refuse to join parts to a string that would be too large."""
    if isinstance(between, Sized) and isinstance(parts, Sized):
        size = len(between) * len(parts) + text_length(parts)
        check_size(size, MAX_TEXT, "the joined text")


def text_length(value: Any) -> int:
    """The approximate number of characters of a value's text; repeated parts are counted each time.
    A value that is too large is only reported as too large.
    """
    left, found = [value], 0
    while left and found <= MAX_TEXT:
        one = left.pop()
        if isinstance(one, str | bytes):
            found += len(one)
        elif isinstance(one, _HOLDERS):
            found += _PER_ENTRY * len(one)
            if found <= MAX_TEXT:
                left += _values(one)
    return found


def _values(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [*dict.keys(value), *dict.values(value)]  # past what those of ccm's own heed
    return value if isinstance(value, _HOLDERS) else ()


def bounded_list(items: Iterable[Any]) -> list[Any]:
    """A list of items that are created one by one, within the limits."""
    found: list[Any] = []
    size = 0
    for item in islice(items, MAX_SUM + 1):
        found.append(item)
        size += _PER_ENTRY + text_length(item)
        if size > MAX_TEXT:
            check_size(size, MAX_TEXT, "the list, including its contents,")
    check_size(len(found), MAX_SUM, "the list")
    return found


def check_replace(text: Any, arguments: tuple[Any, ...]) -> None:
    """Refuse a replacement whose result would be too large."""
    if len(arguments) >= 2 and all(isinstance(one, str | bytes) for one in (text, *arguments[:2])):
        grown = (text.count(arguments[0])) * len(arguments[1])
        check_size(len(text) + grown, MAX_TEXT, "the replaced text")


def check_numbers(arguments: tuple[Any, ...]) -> None:
    """Refuse widths and counts beyond ``MAX_WIDTH``."""
    for value in arguments:
        if isinstance(value, int) and abs(value) >= MAX_WIDTH:
            raise TooLargeError(
                f"the number {value} is too large here; it must be less than {MAX_WIDTH}"
            )


def check_size(size: int, limit: int, what: str, unit: str = "items or characters") -> None:
    """Refuse a size beyond its limit."""
    if size > limit:
        raise TooLargeError(f"{what} has {size} {unit}; at most {limit} are allowed")
    spend_text(size)
