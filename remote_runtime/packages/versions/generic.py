"""The order of versions for providers without a specific one (both sides).

A version is split into hyphens, dots, runs of digits and runs of other characters, which are
compared from left to right: a hyphen sorts before everything, a dot before everything except a
hyphen. Digits compare as numbers unless one of them has a leading zero; everything else compares as
text. If one version is the beginning of the other, the whole texts decide. Case does not matter.
"""

import re
from typing import Tuple

_SEGMENT = re.compile(r"[-.]|[0-9]+|[^-.0-9]+")
_TRAILING_ZEROES = re.compile(r"(?:\.0+)+\Z")


def compare(left: str, right: str, ignore_trailing_zeroes: bool = False) -> int:
    """Return -1, 0 or 1 if ``left`` is older than, equal to or newer than ``right``.

    ``ignore_trailing_zeroes`` makes ``1.0.0`` and ``1`` equal; the part after the first hyphen is
    not affected.
    """
    if ignore_trailing_zeroes:
        left, right = _without_trailing_zeroes(left), _without_trailing_zeroes(right)
    left, right = left.upper(), right.upper()
    for one, other in zip(_SEGMENT.findall(left), _SEGMENT.findall(right)):
        if one != other:
            return _compare_segments(one, other)
    return _order(left, right)


def _compare_segments(one: str, other: str) -> int:
    for loser in "-.":
        if one == loser:
            return -1
        if other == loser:
            return 1
    leading_zero = one.startswith("0") or other.startswith("0")
    if one.isdigit() and other.isdigit() and not leading_zero:
        return -1 if number(one) < number(other) else 1
    return _order(one, other)


def number(digits: str) -> Tuple[int, str]:
    """Return a sort key for digits as numbers; Python parses only a few thousand digits."""
    plain = digits.lstrip("0")
    return len(plain), plain


def _without_trailing_zeroes(version: str) -> str:
    first, hyphen, rest = version.partition("-")
    return _TRAILING_ZEROES.sub("", first) + hyphen + rest


def _order(one: str, other: str) -> int:
    return (one > other) - (one < other)
