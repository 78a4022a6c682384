"""The order of Debian's versions, as ``dpkg --compare-versions`` has it (both sides).

``[epoch:]upstream[-revision]``: the epoch is a number and decides first, then the upstream version,
then the revision. The last two are read as runs of non-digits and digits in turn; digits compare as
numbers, and of the rest a tilde sorts before the end of the text, letters before everything else.
"""

import re
from typing import Tuple

from remote_runtime.packages.versions.generic import number

_EPOCH = re.compile(r"([0-9]{1,10}):(.*)", re.DOTALL)
_DIGITS = "0123456789"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def compare(left: str, right: str) -> int:
    """Return -1, 0 or 1: is ``left`` older than, equal to or newer than ``right``."""
    left_epoch, left_upstream, left_revision = split(left)
    right_epoch, right_upstream, right_revision = split(right)
    if left_epoch != right_epoch:
        return -1 if left_epoch < right_epoch else 1
    order = _compare_part(left_upstream, right_upstream)
    return order or _compare_part(left_revision, right_revision)


def split(version: str) -> Tuple[int, str, str]:
    """Return epoch (0 if there is none), upstream version and revision ("" if there is none)."""
    found = _EPOCH.match(version)
    epoch, rest = (int(found.group(1)), found.group(2)) if found else (0, version)
    upstream, dash, revision = rest.rpartition("-")
    # dpkg has no empty revision; with one, the hyphen is the upstream version's.
    return (epoch, upstream, revision) if dash and revision else (epoch, rest, "")


def _compare_part(left: str, right: str) -> int:
    at_left = at_right = 0
    while at_left < len(left) or at_right < len(right):
        end_left = _skip_text(left, at_left)
        end_right = _skip_text(right, at_right)
        order = _compare_text(left[at_left:end_left], right[at_right:end_right])
        if order:
            return order
        at_left, at_right = _skip_digits(left, end_left), _skip_digits(right, end_right)
        one, other = number(left[end_left:at_left]), number(right[end_right:at_right])
        if one != other:
            return -1 if one < other else 1
    return 0


def _skip_text(text: str, at: int) -> int:
    while at < len(text) and text[at] not in _DIGITS:
        at += 1
    return at


def _skip_digits(text: str, at: int) -> int:
    while at < len(text) and text[at] in _DIGITS:
        at += 1
    return at


def _compare_text(left: str, right: str) -> int:
    for index in range(max(len(left), len(right))):
        weight_left, weight_right = _weight(left, index), _weight(right, index)
        if weight_left != weight_right:
            return -1 if weight_left < weight_right else 1
    return 0


def _weight(text: str, index: int) -> int:
    """Return the sorting weight of one character; the end of the text weighs 0."""
    if index >= len(text):
        return 0
    character = text[index]
    if character == "~":
        return -1
    return ord(character) if character in _LETTERS else ord(character) + 256
