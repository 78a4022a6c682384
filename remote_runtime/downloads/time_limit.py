"""Time limits and progress of transfers (target)."""

import time
from typing import TYPE_CHECKING, Optional

from remote_runtime.retries import TransientError

if TYPE_CHECKING:
    from remote_runtime.context import Context

_CHECKED = 0.02  # seconds from one look at the limit to the next


class Limit(object):
    """A time limit of ``seconds``; ``check`` raises ``TransientError`` once it has passed.

    ``doing`` says in a few words what took too long; ``setting`` is the property that raises the
    limit.
    """

    def __init__(self, context: "Context", seconds: float, action: str, setting: str) -> None:
        self._context = context
        self._seconds = seconds
        self._doing = action
        self._setting = setting
        self._deadline = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Return the remaining seconds, never below 0."""
        return max(0.0, self._deadline - time.monotonic())

    def check(self) -> None:
        """Raise ``Cancelled`` if the run must end, ``TransientError`` if the time has run out."""
        self._context.check_cancelled()
        if not self.left:
            raise TransientError(
                "%s took longer than %g s" % (self._doing, self._seconds),
                kind="resource.timeout",
                hint="raise %s" % self._setting,
            )


class ProgressCheck(object):
    """Checks the limit during a transfer, and reports its progress."""

    def __init__(self, context: "Context", limit: Limit, action: str) -> None:
        self._clock = time.monotonic
        self._context = context
        self._limit = limit
        self._doing = action
        self._checked = 0.0
        self._told = 0.0

    def beat(self, done: int = 0, whole: Optional[int] = None) -> None:
        """Check the limit; called for every block or member, even for a few bytes. Twice a second,
        it reports that ``done`` of ``whole`` bytes were transferred.
        """
        now = self._clock()
        if now - self._checked < _CHECKED:
            return
        self._limit.check()
        self._checked = now
        if now - self._told >= 0.5:
            self._told = now
            progress = _progress(done, whole)
            self._context.progress("%s: %s" % (self._doing, progress) if progress else self._doing)


def _progress(size: int, whole: Optional[int]) -> str:
    text = _mebibytes(size) if size else ""
    return (
        text if not whole else "%s of %s (%d %%)" % (text, _mebibytes(whole), size * 100 // whole)
    )


def _mebibytes(size: int) -> str:
    return "%.1f MiB" % (size / float(1 << 20))
