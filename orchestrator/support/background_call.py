"""Time limits of waits: each wait has its own, and none exceeds the time of its
host (controller).
"""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar, cast

T = TypeVar("T")


def deadline(seconds: float, until: float | None) -> float:
    """The time at which a wait of this many seconds ends, at the latest ``until``.

    Both are times of ``time.monotonic()``; None means never.
    """
    end = time.monotonic() + seconds
    return end if until is None else min(end, until)


class BackgroundCall(Generic[T]):
    """A call that cannot be cancelled, in its own thread."""

    def __init__(self, call: Callable[[], T], name: str) -> None:
        self._over = threading.Event()
        self._found: T | None = None
        self._error: Exception | None = None

        def carry() -> None:
            """Store the result or the error of the call."""
            try:
                self._found = call()
            except Exception as error:  # the waiting thread raises it again
                self._error = error
            finally:
                self._over.set()

        threading.Thread(target=carry, name=name, daemon=True).start()

    @property
    def found(self) -> T | None:
        """Its result, None if it has not ended or has failed."""
        return self._found

    def wait(self, until: float | None) -> T:
        """Its result or exception; TimeoutError if it has not ended by ``until``."""
        if not self._over.wait(None if until is None else max(0.0, until - time.monotonic())):
            raise TimeoutError
        if self._error is not None:
            raise self._error
        return cast(T, self._found)
