"""The order of Debian's versions, as in ``dpkg --compare-versions`` (both sides).

``[epoch:]upstream[-revision]``: the epoch is a number and decides first, then the upstream version,
then the revision. The last two are split into alternating runs of non-digits and digits. Digits
compare as numbers. In the rest, a tilde sorts before the end of the text, and letters sort before
everything else.
"""

import re
from itertools import zip_longest
from typing import List, Tuple

from remote_runtime.packages.versions.generic import number

_EPOCH = re.compile(r"([0-9]{1,10}):(.*)", re.DOTALL)
_RUNS = re.compile(r"([^0-9]*)([0-9]*)")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def compare(left: str, right: str) -> int:
    """Return -1, 0 or 1 if ``left`` is older than, equal to or newer than ``right``."""
    left_epoch, left_upstream, left_revision = split(left)
    right_epoch, right_upstream, right_revision = split(right)
    if left_epoch != right_epoch:
        return -1 if left_epoch < right_epoch else 1
    order = _compare_part(left_upstream, right_upstream)
    return order or _compare_part(left_revision, right_revision)


def split(version: str) -> Tuple[int, str, str]:
    """Return epoch (0 if there is none), upstream version and revision ("" if there is none)."""
    match = _EPOCH.match(version)
    epoch, rest = (int(match.group(1)), match.group(2)) if match else (0, version)
    upstream, dash, revision = rest.rpartition("-")
    # dpkg has no empty revision; with one, the hyphen is the upstream version's.
    return (epoch, upstream, revision) if dash and revision else (epoch, rest, "")


def _compare_part(left: str, right: str) -> int:
    both = zip_longest(_RUNS.findall(left), _RUNS.findall(right), fillvalue=("", ""))
    for pair in both:
        one, other = ((_weights(text), number(digits)) for text, digits in pair)
        if one != other:
            return -1 if one < other else 1
    return 0


def _weights(text: str) -> List[int]:
    """Return the sort key of each character and, last, of the end of the text."""
    weights = [-1 if c == "~" else ord(c) + (0 if c in _LETTERS else 256) for c in text]
    return [*weights, 0]
