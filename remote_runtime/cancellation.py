"""How a run is ended early (target): one flag that every wait of the runtime listens to."""

import os
from contextlib import contextmanager
from typing import Iterator


class Cancelled(BaseException):
    """The run was cancelled. No ``Exception``: no provider may take it for its own failure."""


class Cancellation(object):
    """Set once, from any thread or signal handler; never cleared.

    ``wakeup`` is a descriptor that becomes readable when it is set, for use beside others in
    ``poll``. Inside ``protected()`` a command in flight is let finish.
    """

    def __init__(self) -> None:
        self.wakeup, self._signal = os.pipe()
        self.reason = ""
        self._protected = 0

    def set(self, reason: str) -> None:
        """End the run; the first reason given is kept."""
        if self.reason:
            return
        self.reason = reason or "cancelled"
        os.write(self._signal, b"x")

    def is_set(self) -> bool:
        """Whether the run is to end."""
        return bool(self.reason)

    def check(self) -> None:
        """Raise ``Cancelled`` when the run is to end; before everything that starts something."""
        if self.reason:
            raise Cancelled(self.reason)

    @property
    def protecting(self) -> bool:
        """Whether a command is in flight that must not be killed."""
        return self._protected > 0

    @contextmanager
    def protected(self) -> Iterator[None]:
        """Let the commands of this block finish even when the run is cancelled meanwhile."""
        self.check()
        self._protected += 1
        try:
            yield
        finally:
            self._protected -= 1

    def sleep(self, seconds: float) -> None:
        """Sleep, or raise ``Cancelled`` as soon as the run is to end."""
        import select

        select.select([self.wakeup], [], [], max(0.0, seconds))
        self.check()
