"""Bounds on what one expression can cost: no manifest and no fact may eat the controller.

Every operation whose result can be much larger than its operands passes through here before it is
carried out (controller).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sized
from typing import Any

from orchestrator.language import kinds

MAX_ITEMS = 10_000
MAX_SUM = 1_000_000
MAX_TEXT = 16 * 1024 * 1024
MAX_BITS = 10_000
MAX_WIDTH = 10_000

_WIDTH = re.compile(r"\*|\d{5,}")
_COMPUTED = re.compile(r"\{[^{}]*:[^{}]*\{")
_PADDING = {"ljust", "rjust", "center", "zfill", "expandtabs"}


class TooLargeError(ValueError):
    """The result would be larger than an expression may make; the message is for people."""


def bounded_range(*arguments: int) -> range:
    """``range`` of at most ``MAX_ITEMS`` numbers."""
    numbers = range(*arguments)
    if len(numbers) > MAX_ITEMS:
        raise TooLargeError(
            f"range() gives {len(numbers)} numbers, at most {MAX_ITEMS} are allowed"
        )
    return numbers


def multiply(left: Any, right: Any) -> Any:
    """``left * right`` with a result of bounded size."""
    for value, count in ((left, right), (right, left)):
        if isinstance(value, str | bytes | list | tuple) and isinstance(count, int):
            limit = MAX_TEXT if isinstance(value, str | bytes) else MAX_ITEMS
            check_size(len(value) * count, limit, "the repetition")
            return left * right
    if isinstance(left, int) and isinstance(right, int):
        check_size(left.bit_length() + right.bit_length(), MAX_BITS, "the product", "bits")
    return left * right


def repeat(text: Any, count: Any) -> str:
    """The text so many times; ValueError."""
    kinds.texts("repeat", text)
    if kinds.whole("repeat", count) < 0:
        raise ValueError("repeat takes a count of 0 or more")
    return str(multiply(text, count))


def replace(text: Any, old: Any, new: Any, count: Any = -1) -> str:
    """The text with so many of the old parts, or all, as new ones; ValueError."""
    kinds.texts("replace", text, old, new)
    check_replace(text, (old, new))
    return str(text.replace(old, new, kinds.whole("replace", count)))


def power(left: Any, right: Any) -> Any:
    """``left ** right`` with a result of bounded size."""
    if isinstance(left, int) and isinstance(right, int) and right > 0:
        check_size(left.bit_length() * right, MAX_BITS, "the power", "bits")
    return left**right


def modulo(left: Any, right: Any) -> Any:
    """``left % right``; for a text the format's widths are bounded."""
    if isinstance(left, str):
        check_format(left)
    return left % right


def check_format(text: str) -> None:
    """Refuse a format text that pads beyond ``MAX_WIDTH``."""
    if _WIDTH.search(text) or _COMPUTED.search(text):
        raise TooLargeError(f"a format wider than {MAX_WIDTH - 1}, or with a computed width")


def add(left: Any, right: Any) -> Any:
    """``left + right`` with a result of bounded size."""
    if isinstance(left, str | list | tuple) and isinstance(right, str | list | tuple):
        limit = MAX_TEXT if isinstance(left, str) else MAX_SUM
        check_size(len(left) + len(right), limit, "the sum")
    return left + right


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "*": multiply,
    "**": power,
    "%": modulo,
    "+": add,
}


def check_method(owner: Any, name: str, arguments: tuple[Any, ...]) -> None:
    """Refuse a call of a text's own method whose result would be too large."""
    if not isinstance(owner, str):
        return
    if name in _PADDING:
        check_numbers(arguments)
    elif name == "replace":
        check_replace(owner, arguments)
    elif name == "join" and arguments and isinstance(arguments[0], Sized):
        check_size(len(owner) * len(arguments[0]), MAX_TEXT, "the joined text")


def check_replace(text: Any, arguments: tuple[Any, ...]) -> None:
    """Refuse a replacement whose result would be too large."""
    if len(arguments) >= 2 and all(isinstance(value, str) for value in (text, *arguments[:2])):
        grown = (text.count(arguments[0])) * len(arguments[1])
        check_size(len(text) + grown, MAX_TEXT, "the replaced text")


def check_numbers(arguments: tuple[Any, ...]) -> None:
    """Refuse widths and counts beyond ``MAX_WIDTH``."""
    for value in arguments:
        if isinstance(value, int) and abs(value) >= MAX_WIDTH:
            raise TooLargeError(
                f"the number {value} is too large here, below {MAX_WIDTH} is allowed"
            )


def check_size(size: int, limit: int, what: str, unit: str = "items or characters") -> None:
    """Refuse what has a size beyond its limit."""
    if size > limit:
        raise TooLargeError(f"{what} has {size} {unit}, at most {limit} are allowed")
