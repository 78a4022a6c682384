"""Ctrl-C and SIGTERM during a run (controller): the first ends it in order, the second at once."""

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.fleet.window import Window

_CAUGHT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SHOW_CURSOR = "\x1b[?25h\n"


class Interrupts:
    """While it is entered, the first signal calls ``first``; the second leaves with 130.

    Leaving closes every connection, and with its connection the runtime on a host ends; what else
    is to end is for ``leaving``.
    """

    def __init__(
        self, first: Callable[[], None], leaving: Callable[[], None] = lambda: None
    ) -> None:
        self._first = first
        self._leaving = leaving
        self._seen = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Interrupts":
        for number in _CAUGHT:
            self._before[number] = signal.signal(number, self._caught)
        return self

    def watch(self, window: "Window[Any]") -> None:
        """Let the first signal interrupt this window."""
        self._first = window.interrupt

    def _caught(self, number: int, frame: FrameType | None) -> None:
        if self._seen:
            if sys.stderr.isatty():
                os.write(sys.stderr.fileno(), _SHOW_CURSOR.encode())
            self._leaving()
            os._exit(130)
        self._seen = True
        self._first()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
