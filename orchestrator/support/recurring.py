"""Tells what comes more than once, so that only that is kept at hand (controller)."""

from array import array
from collections.abc import Hashable

PLACES = 1 << 14


class Recurring:
    """Remembers a number for each thing that came, and not the thing; of two that have the same of
    ``places`` (a power of two), the later one.

    Thread-safe: at worst something is taken for new once more, or for known one time too early.
    """

    def __init__(self, places: int = PLACES) -> None:
        self._last = places - 1
        self._met = array("q", bytes(8 * places))

    def again(self, key: Hashable) -> bool:
        """Whether this came before."""
        mark = hash(key) or 1
        place = mark & self._last
        if self._met[place] == mark:
            return True
        self._met[place] = mark
        return False
