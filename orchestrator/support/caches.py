"""A cache limited by the size of its values, and what is worth caching (controller)."""

from array import array
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

SLOTS = 1 << 14

T = TypeVar("T")


class BoundedCache(Generic[T]):
    """Values by key. It drops all values once they take more than ``maximum``
    bytes. Thread-safe.
    """

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._lock = Lock()
        self._known: dict[Hashable, T] = {}
        self._bytes = 0

    def get(self, key: Hashable) -> T | None:
        """The value, None for an unknown key."""
        return self._known.get(key)

    def put(self, key: Hashable, value: T, size: int) -> None:
        """Store a value of this size, unless it is too large."""
        if size > self._maximum:
            return
        with self._lock:
            if self._bytes + size > self._maximum:
                self._known = {}
                self._bytes = 0
            self._bytes += size
            self._known[key] = value


class RepeatFilter:
    """Finds repeated values, so that only these are cached. It stores a number for each value.

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
