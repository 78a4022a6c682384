"""Ends a run early (target): one flag that every wait of the runtime checks."""

import os
from typing import Any, List, Sequence

_MAX_POLL = 2**31 - 1  # milliseconds that poll takes


class Cancelled(BaseException):
    """The run was cancelled. This is not an ``Exception``: no provider may treat it as its own
    failure.
    """


class HostRebooting(BaseException):
    """The host reboots, which ends the run: nothing is reported about the current resource."""


def await_input(ends: Sequence[int], seconds: float) -> List[int]:
    """Wait until one of these descriptors can be read or has ended, or the time has run out; return
    those that are ready.
    """
    import select

    poll = select.poll()  # select does not support descriptors from 1024 on
    for end in ends:
        poll.register(end, select.POLLIN)
    ready = poll.poll(min(_MAX_POLL, max(0, -int(-seconds * 1000 // 1))))
    return [end for end, _ in ready]


class Cancellation(object):
    """Set once, from any thread or signal handler; never cleared.

    ``wakeup`` is a descriptor that becomes readable when it is set, for use with others in
    ``poll``. Inside ``protected()``, a running command may finish.
    """

    def __init__(self) -> None:
        self.wakeup, self._signal = os.pipe()
        self.reason = ""
        self.protections = 0
        self.begun = 0  # protected blocks whose work has started

    def set(self, reason: str) -> None:
        """Cancel the run; the first reason counts."""
        if self.reason:
            return
        self.reason = reason or "cancelled"
        os.write(self._signal, b"x")

    def end_after(self, seconds: float) -> None:
        """End the run after this time."""
        import threading

        reason = "the run took longer than %g s (--timeout)" % seconds
        timer = threading.Timer(seconds, self.set, [reason])
        timer.daemon = True
        timer.start()

    def is_set(self) -> bool:
        """Return whether the run must end."""
        return bool(self.reason)

    def check(self) -> None:
        """Raise ``Cancelled`` if the run must end; called before anything is started."""
        if self.reason:
            raise Cancelled(self.reason)

    @property
    def protecting(self) -> bool:
        """Whether a command is running that must not be killed."""
        return self.protections > 0

    def protected(self, begun: bool = False) -> "Protected":
        """A block whose commands complete even if the run is cancelled in the meantime.

        ``Cancelled`` if the run is already ending, unless the work has ``begun``; then its commands
        may start, too.
        """
        return Protected(self, begun)

    def sleep(self, seconds: float) -> None:
        """Sleep, or raise ``Cancelled`` as soon as the run must end."""
        await_input([self.wakeup], seconds)
        self.check()


class Protected(object):
    """See ``Cancellation.protected``."""

    def __init__(self, cancellation: Cancellation, begun: bool) -> None:
        self._cancellation = cancellation
        self._begun = begun

    def __enter__(self) -> None:
        if not self._cancellation.begun and not self._begun:
            self._cancellation.check()
        self._cancellation.begun += self._begun
        self._cancellation.protections += 1

    def __exit__(self, *failure: Any) -> None:
        self._cancellation.protections -= 1
        self._cancellation.begun -= self._begun


def end_on_signals(cancellation: Cancellation) -> None:
    """Make the signals that end a process cancel the run instead."""
    signal: Any = __import__("_signal")  # its functions without its enumerations

    def end(number: int, frame: Any) -> None:
        cancellation.set("signal %d" % number)

    for name in ("SIGTERM", "SIGHUP", "SIGINT"):
        signal.signal(getattr(signal, name), end)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
