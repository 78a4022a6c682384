"""Finds repeated values, so that only these are cached (controller)."""

from array import array
from collections.abc import Hashable

SLOTS = 1 << 14


class RepeatFilter:
    """Stores a number for each value instead of the value.

    If two values have the same slot among ``places`` (a power of two), it stores the later one.
    Thread-safe: at worst, a value counts as new once more, or as known too early.
    """

    def __init__(self, places: int = SLOTS) -> None:
        self._last = places - 1
        self._met = array("q", bytes(8 * places))

    def again(self, key: Hashable) -> bool:
        """Whether this value occurred before."""
        mark = hash(key) or 1
        place = mark & self._last
        if self._met[place] == mark:
            return True
        self._met[place] = mark
        return False
