"""Handles the signals of a command (controller).

During a run, the first signal stops it gracefully and the second immediately.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from inventory.subprocesses import end_programs

if TYPE_CHECKING:
    from orchestrator.fleet.sliding_window import Window

_CAUGHT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_ENDING = (signal.SIGTERM, signal.SIGHUP)
_SHOW_CURSOR = "\x1b[?25h\n"


@contextlib.contextmanager
def programs_end_with_it() -> Iterator[None]:
    """End the programs that the block started regardless of how it ends, including by SIGTERM and
    SIGHUP.
    """
    in_main = threading.current_thread() is threading.main_thread()
    caught = [n for n in _ENDING if in_main and signal.getsignal(n) == signal.SIG_DFL]
    for number in caught:
        signal.signal(number, _end_with_programs)
    try:
        yield
    finally:
        end_programs()
        for number in caught:
            signal.signal(number, signal.SIG_DFL)


def _end_with_programs(number: int, frame: FrameType | None) -> None:
    end_programs()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


class Interrupts:
    """Within this context, the first signal calls ``first``; the second exits with 130.

    Exiting closes every connection, which also ends the runtime on each host.
    """

    def __init__(self, first: Callable[[], None]) -> None:
        self._first = first
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
            end_programs()
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
