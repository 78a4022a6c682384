"""A cache limited by the size of its values (controller)."""

from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

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
