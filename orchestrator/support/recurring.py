"""Tells what comes more than once, so that only that is kept at hand (controller)."""

from collections.abc import Hashable

MOST = 20_000


class Recurring:
    """Remembers a number for each thing that came, and not the thing.

    Thread-safe: at worst something is taken for new once more, or for known one time too early.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._met: set[int] = set()

    def again(self, key: Hashable) -> bool:
        """Whether this came before."""
        mark = hash(key)
        if mark in self._met:
            return True
        if len(self._met) >= self._most:
            self._met = set()
        self._met.add(mark)
        return False
