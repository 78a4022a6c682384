"""Ranges in host names: ``web[01:50]`` and ``web[a:f]`` (controller)."""

import itertools
import math
import re
from collections.abc import Sequence
from typing import Any

MAX_HOSTS = 65_536  # of one name, so that a slip of the finger cannot exhaust the memory
_MAX_DIGITS = 10
_RANGE = re.compile(r"\[([^\[\]]*)\]")
_NUMBERS = re.compile(r"([0-9]+):([0-9]+)(?::([0-9]+))?\Z")
_LETTERS = re.compile(r"(?:([a-z]):([a-z])|([A-Z]):([A-Z]))(?::([0-9]+))?\Z")
_HINT = "write web[1:9], web[01:50], web[a:f], or web[0:90:10] with a step"


class BadRangeError(ValueError):
    """An invalid range; ``hint`` has the correction."""

    def __init__(self, message: str, hint: str = _HINT) -> None:
        super().__init__(message)
        self.hint = hint


def expanded(name: str) -> list[str]:
    """Return the names in a name with ranges, in order, including both ends; BadRangeError."""
    pieces = _RANGE.split(name)
    if len(pieces) == 1 or any(sign in piece for piece in pieces[::2] for sign in "[]"):
        raise BadRangeError(f"the brackets of the host name {name[:60]!r} do not match")
    choices = [_values(piece, name) if at % 2 else [piece] for at, piece in enumerate(pieces)]
    count = math.prod(map(len, choices))
    if count > MAX_HOSTS:
        message = f"the host name {name[:60]!r} expands to {count:,} hosts"
        raise BadRangeError(message, f"a name can expand to at most {MAX_HOSTS:,}")
    return ["".join(parts) for parts in itertools.product(*choices)]


def _values(text: str, name: str) -> Sequence[Any]:
    numbers, letters = _NUMBERS.match(text), _LETTERS.match(text)
    if numbers:
        if max(map(len, numbers.groups(""))) > _MAX_DIGITS:
            raise _bad(text, name, f"has a number with more than {_MAX_DIGITS} digits")
        first, last = numbers[1], numbers[2]
        width = len(first) if first.startswith("0") else 0
        if width > 1 and len(last) != width:
            raise _bad(text, name, "has ends of different lengths")
        whole = _steps((int(first), int(last)), numbers[3], text, name)
        if len(whole) > MAX_HOSTS:
            return whole  # which its caller counts and refuses
        return [str(number).zfill(width) for number in whole]
    if letters:
        found = [part for part in letters.groups()[:4] if part]
        whole = _steps((ord(found[0]), ord(found[1])), letters[5], text, name)
        return list(map(chr, whole))
    if ":" not in text:
        raise _bad(text, name, "has no colon between its ends")
    raise _bad(text, name, "does not go from number to number, or from a to z, or from A to Z")


def _steps(ends: tuple[int, int], step: str | None, text: str, name: str) -> range:
    (first, last), width = ends, int(step or 1)
    if width < 1:
        raise _bad(text, name, "has a step of 0")
    if last < first:
        raise _bad(text, name, "ends before it starts")
    return range(first, last + 1, width)


def _bad(text: str, name: str, reason: str) -> BadRangeError:
    return BadRangeError(f"the range [{text[:40]}] in the host name {name[:60]!r} {reason}")
