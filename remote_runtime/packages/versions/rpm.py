"""The order of RPM's versions (both sides).

``[epoch:]version[-release]``: the epoch is a number and decides first, then the version, then the
release. The last two consist of runs of digits and runs of letters; all other characters only
separate them. Digits compare as numbers and are newer than letters. A tilde is older than the end
of the text; a caret is newer than the end, but older than any other continuation.

As in dnf, a part that is missing on one side is not compared: ``5.8`` is equal to every ``5.8-N``,
and a version without an epoch matches any epoch.
"""

import re
from typing import Optional, Pattern, Tuple

from remote_runtime.packages.versions.generic import number

_EPOCH = re.compile(r"([0-9]{1,10}):(.*)", re.DOTALL)
_SEPARATORS = re.compile(r"[^A-Za-z0-9~^]*")
_DIGITS = re.compile(r"[0-9]*")
_LETTERS = re.compile(r"[A-Za-z]*")


def compare(left: str, right: str) -> int:
    """Return -1, 0 or 1 if ``left`` is older than, equal to or newer than ``right``."""
    left_epoch, left_version, left_release = split(left)
    right_epoch, right_version, right_release = split(right)
    if left_epoch is not None and right_epoch is not None and left_epoch != right_epoch:
        return -1 if left_epoch < right_epoch else 1
    order = compare_part(left_version, right_version)
    if order or left_release is None or right_release is None:
        return order
    return compare_part(left_release, right_release)


def split(text: str) -> Tuple[Optional[int], str, Optional[str]]:
    """Return epoch, version and release; None for a missing epoch or release."""
    match = _EPOCH.match(text)
    epoch, rest = (int(match.group(1)), match.group(2)) if match else (None, text)
    version, hyphen, release = rest.rpartition("-")
    return (epoch, version, release) if hyphen else (epoch, rest, None)


def compare_part(left: str, right: str) -> int:
    """Order two versions, or two releases."""
    at_left = at_right = 0
    while at_left < len(left) or at_right < len(right):
        at_left = _end(_SEPARATORS, left, at_left)
        at_right = _end(_SEPARATORS, right, at_right)
        marks = left[at_left : at_left + 1], right[at_right : at_right + 1]
        if "~" in marks or "^" in marks:
            if marks[0] != marks[1]:
                return _compare_marks(*marks)
            at_left, at_right = at_left + 1, at_right + 1
            continue
        if "" in marks:
            break
        run = _DIGITS if marks[0].isdigit() else _LETTERS
        end_left, end_right = _end(run, left, at_left), _end(run, right, at_right)
        order = _compare_runs(left[at_left:end_left], right[at_right:end_right], run is _DIGITS)
        if order:
            return order
        at_left, at_right = end_left, end_right
    return (at_left < len(left)) - (at_right < len(right))


def _end(run: Pattern[str], text: str, at: int) -> int:
    match = run.match(text, at)
    return match.end() if match else at


def _compare_marks(left: str, right: str) -> int:
    """Order two different next characters, one of which is a tilde or a caret; "" is the end."""
    for mark, before_end in (("~", -1), ("^", 1)):
        if mark in (left, right):
            other = right if left == mark else left
            order = before_end if other == "" else -1
            return order if left == mark else -order
    raise ValueError("neither %r nor %r is a tilde or a caret" % (left, right))


def _compare_runs(left: str, right: str, digits: bool) -> int:
    """Order two runs of one kind; ``right`` is "" if there is a run of the other kind."""
    if not right:
        return 1 if digits else -1
    if digits:
        one, other = number(left), number(right)
        return (one > other) - (one < other)
    return (left > right) - (left < right)
