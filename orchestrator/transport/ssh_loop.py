"""Reads a connection in the thread that waits for what it brings (controller; greenlet).

paramiko reads in a thread of its own, so that every answer takes two threads and two turns of the
interpreter. Where one thread alone uses a connection, what paramiko does there is a coroutine of
that thread: it goes on whenever the thread waits for an answer, and pauses before it would wait
itself with the answer there or the time over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from greenlet import getcurrent, greenlet

NEVER = float("inf")
LEAST = 0.001  # seconds that even a wait of none takes, so that what has arrived is seen
_beginning_to_wait = threading.Lock()


class Loop:
    """What reads a connection; of the thread that makes it."""

    def __init__(self, run: Callable[[], object]) -> None:
        self._thread = threading.get_ident()
        self._caller = getcurrent()
        self._run = greenlet(run)
        self._done: Callable[[], bool] = bool
        self._until = 0.0

    @property
    def is_own(self) -> bool:
        """Whether the caller is the thread that reads, and not what reads itself."""
        return threading.get_ident() == self._thread and getcurrent() is not self._run

    @property
    def is_reading(self) -> bool:
        """Whether the caller is what reads."""
        return getcurrent() is self._run

    @property
    def is_over(self) -> bool:
        """Whether it has come to its end."""
        return bool(self._run.dead)

    def go_on(self, done: Callable[[], bool], until: float) -> None:
        """Read until it is ``done``, the moment (``time.monotonic()``) comes, or all is read.

        Of its own thread only.
        """
        if self._run.dead:
            return
        self._done, self._until = done, max(until, time.monotonic() + LEAST)
        self._run.switch()
        self._done = bool  # refers to nothing that refers to this

    def pause(self) -> float:
        """Seconds that there are to wait for the server; whoever waits for an answer that is there
        goes on first. Of what reads only."""
        while True:
            left = self._until - time.monotonic()
            if left > 0 and not self._done():
                return left
            self._caller.switch()

    def end(self) -> None:
        """Have it end as if the connection had, and let go of what it refers to; does nothing in
        another thread."""
        if self._run and self.is_own:  # it has begun, and not ended
            self._run.throw(EOFError)


class ReadingEvent(threading.Event):
    """An event that the loop sets: its thread reads on until then, others wait.

    A connection has some of these for as long as it is there, and hardly ever does another thread
    wait: what that takes is made when one does.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._is_set = False
        self._others: threading.Event | None = None

    def is_set(self) -> bool:
        """Whether it has come."""
        return self._is_set

    def set(self) -> None:
        """It has come."""
        self._is_set = True
        if self._others is not None:
            self._others.set()

    def clear(self) -> None:
        """It is yet to come, once more."""
        self._is_set = False
        if self._others is not None:
            self._others.clear()

    def wait(self, timeout: float | None = None) -> bool:
        """Whether it is set within so many seconds, or before the connection ends."""
        if self._is_set:
            return True
        if not self._loop.is_own:
            return self._waited(timeout)
        until = NEVER if timeout is None else time.monotonic() + timeout
        self._loop.go_on(self.is_set, until)
        return self._is_set

    def _waited(self, timeout: float | None) -> bool:
        with _beginning_to_wait:
            others = self._others = self._others or threading.Event()
        # Whoever has set it before could not set that.
        return self._is_set or others.wait(timeout)
