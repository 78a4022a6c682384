"""Starts workers (controller): copies of this process, which has no other threads yet.

A copy has the site, the inventory and the credentials in memory, so nothing is loaded, parsed or
prompted for again, and no secret is on a command line or in a file.
"""

import contextlib
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, NoReturn

from orchestrator.support.crash_report import describe_crash
from orchestrator.workers.channel import MAX_MESSAGE, Channel

START_TIMEOUT = 5.0  # seconds
_TICK = 0.02
_TASKS = Path("/proc/self/task")
_HELD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class ForkedWorker(NamedTuple):
    """A worker process, and the controller's end of the channel to it."""

    pid: int
    channel: Channel


def is_possible(patience: float = START_TIMEOUT) -> bool:
    """Whether this process can be forked: it has one thread, and the system supports it.

    Threads that have ended may take a moment to disappear.
    """
    until = time.monotonic() + patience
    try:
        while len(list(_TASKS.iterdir())) > 1:
            if time.monotonic() >= until:
                return False
            time.sleep(_TICK)
    except OSError:
        return False
    return True


def start(serve: Callable[[Channel], None], others: Iterable[Channel]) -> ForkedWorker:
    """Start a worker; it closes its copies of the channels to the ``others``. OSError."""
    ours, theirs = socket.socketpair()
    sys.stdout.flush()
    sys.stderr.flush()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    try:
        pid = os.fork()
        if pid == 0:
            _live(serve, Channel(theirs), (Channel(ours), *others))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
    return ForkedWorker(pid, Channel(ours, MAX_MESSAGE))


class Process:
    """A worker process that was started here."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def kill(self) -> None:
        """Kill a worker that does not exit by itself."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def ending(self) -> str:
        """Wait for its end, and return how it ended."""
        try:
            code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        except ChildProcessError:
            return "ended"
        return f"killed by signal {-code}" if code < 0 else f"exit status {code}"


def _live(
    serve: Callable[[Channel], None], channel: Channel, others: Iterable[Channel]
) -> NoReturn:
    """Run as a worker; code of the controller never continues in this process."""
    code = 70
    try:
        # The controller handles them. Processes that a worker starts ignore none.
        for number in _HELD:
            signal.signal(number, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD)
        for other in others:
            other.close()
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.close(nothing)
        serve(channel)
        code = 0
    except BaseException as error:  # a copy of the process must not run on in its parent's code
        crash(error)
    finally:
        os._exit(code)


def crash(error: BaseException) -> NoReturn:
    """End this worker process because of a defect in it."""
    describe_crash(error, "work of a worker process")
    os._exit(70)
