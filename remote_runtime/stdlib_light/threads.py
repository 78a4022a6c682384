"""The part of ``threading`` that the runtime needs (target)."""

import time
from _thread import allocate_lock, start_new_thread
from typing import Any, Callable, List, Optional


class Condition(object):
    """A lock for use in ``with``, with which threads can wait for changes of the guarded state; not
    reentrant.
    """

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._waiting: List[Any] = []

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *failure: Any) -> None:
        self._lock.release()

    def wait(self, seconds: Optional[float] = None) -> None:
        """Release the lock until another thread notifies or the time has run out, then acquire it
        again.
        """
        mine = allocate_lock()
        mine.acquire()
        self._waiting.append(mine)
        self._lock.release()
        try:
            if seconds is None:
                mine.acquire()
            else:
                mine.acquire(True, max(0.0, seconds))
        finally:
            self._lock.acquire()
            if mine in self._waiting:
                self._waiting.remove(mine)

    def notify_all(self) -> None:
        """Wake all waiting threads; the caller holds the lock."""
        for lock in self._waiting:
            lock.release()
        self._waiting = []


class Event(object):
    """An event that happens once."""

    def __init__(self) -> None:
        self._happened = False
        self._changed = Condition()

    def is_set(self) -> bool:
        """Return whether it has happened."""
        return self._happened

    def set(self) -> None:
        """Set the event."""
        with self._changed:
            self._happened = True
            self._changed.notify_all()

    def wait(self, seconds: float) -> bool:
        """Wait for it, at most that long; return whether it has happened."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while not self._happened:
                left = deadline - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            return self._happened


class Thread(object):
    """A thread that does not delay the end of the process."""

    def __init__(self, target: Callable[[], None]) -> None:
        self._target = target
        self._over = Event()

    def start(self) -> None:
        """Start the thread. ``RuntimeError`` if the system allows no more threads."""
        start_new_thread(self._run, ())

    def join(self, seconds: float) -> bool:
        """Wait for its end, at most that long; return whether it has ended."""
        return self._over.wait(seconds)

    def _run(self) -> None:
        try:
            self._target()
        finally:
            self._over.set()
