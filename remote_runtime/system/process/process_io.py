"""Feeds and drains one process until it ends, its time is up or it is cancelled (target)."""

import os
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple, Union

from remote_runtime.cancellation import Cancellation, Cancelled
from remote_runtime.system.process.output_capture import Capture

if TYPE_CHECKING:
    import subprocess

    from remote_runtime.stdlib_light.spawning import Spawned

    Process = Union["subprocess.Popen[bytes]", Spawned]

GRACE = 1.0  # seconds between asking a process group to end and killing it
DRAIN = 1.0  # seconds that a pipe held open by a daemon is still read
_BLOCK = 64 << 10

OutputSink = Callable[[str, str], None]
Moment = Callable[[], Optional[float]]
"""The time on the monotonic clock by which something must have ended; None if it is not
known yet.
"""


class _Pipe(object):
    """Our end of a pipe."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        os.close(self._descriptor)


class Outputs(object):
    """The pipes of stdout and stderr; ``theirs`` are the ends that the process receives."""

    def __init__(self) -> None:
        self.ours: List[int] = []
        self.theirs: List[int] = []
        try:
            for _ in ("stdout", "stderr"):
                reading, writing = os.pipe()
                self.ours.append(reading)
                self.theirs.append(writing)
        except OSError:
            self.close()
            raise

    def inodes(self) -> List[int]:
        """Return the inode numbers of these pipes."""
        return [os.fstat(descriptor).st_ino for descriptor in self.theirs]

    def started(self) -> None:
        """The process has its ends, so close our copies of them; otherwise, the pipes would never
        end.
        """
        while self.theirs:
            os.close(self.theirs.pop())

    def close(self) -> None:
        """Close all ends, because no process was started."""
        self.started()
        while self.ours:
            os.close(self.ours.pop())


class ProcessIO(object):
    """One process in its own session, with pipes for stdout, stderr and possibly stdin."""

    def __init__(
        self,
        process: "Process",
        outputs: Outputs,
        *,
        cancellation: Cancellation,
        data: Optional[bytes],
        limit: int,
        on_output: Optional[OutputSink],
    ) -> None:
        self._process = process
        self._cancellation = cancellation
        self._input = data or b""
        self._captures: Dict[int, Capture] = {}
        self._streams: Dict[int, Any] = {}
        for name, descriptor in zip(("stdout", "stderr"), outputs.ours):
            self._captures[descriptor] = Capture(limit, _sink(on_output, name))
            self._streams[descriptor] = _Pipe(descriptor)
        if process.stdin is not None:
            self._streams[process.stdin.fileno()] = process.stdin
        for descriptor in self._streams:
            os.set_blocking(descriptor, False)

    def wait(
        self, timeout: Optional[float], until: Optional[Moment] = None
    ) -> Tuple[int, str, str, bool]:
        """Exchange data until the process has ended, for at most ``timeout`` seconds and not beyond
        the time that ``until`` returns; return its code, stdout and stderr as text, and whether its
        time was up. ``Cancelled``.
        """
        deadline = time.monotonic() + timeout if timeout else None
        stdout, stderr = list(self._captures.values())
        timed_out = False
        try:
            if not self._until_exit(deadline, until):
                timed_out = True
                self._end()
            self._drain(DRAIN)
        except BaseException:
            self._end()
            raise
        finally:
            for descriptor in list(self._streams):
                self._close(descriptor)
        for capture in (stdout, stderr):
            capture.close()
        code = self._process.wait()
        if self._cancellation.is_set() and not self._cancellation.protecting:
            raise Cancelled(self._cancellation.reason)
        return code, stdout.text(), stderr.text(), timed_out

    def _until_exit(self, deadline: Optional[float], until: Optional[Moment]) -> bool:
        """Exchange data until the process has ended; False if the time is up first."""
        pause = 0.001
        while self._process.poll() is None:
            now = time.monotonic()
            nearer = until() if until is not None else None
            if nearer is not None and (deadline is None or nearer < deadline):
                deadline = nearer
            if deadline is not None and now >= deadline:
                return False
            if self._cancellation.is_set() and not self._cancellation.protecting:
                raise Cancelled(self._cancellation.reason)
            # With its pipes closed only waiting is left; with a daemon on them they stay open.
            waiting = 0.1 if self._captures.keys() & self._streams.keys() else pause
            pause = min(pause * 2, 0.05)
            if deadline is not None:
                waiting = min(waiting, deadline - now)
            self._exchange(waiting)
        return True

    def _drain(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self._captures.keys() & self._streams.keys():
            left = deadline - time.monotonic()
            if left <= 0:
                return
            self._exchange(left)

    def _exchange(self, seconds: float) -> None:
        import select

        poll = select.poll()
        for descriptor in self._streams:
            poll.register(
                descriptor, select.POLLIN if descriptor in self._captures else select.POLLOUT
            )
        if not self._cancellation.is_set():
            poll.register(self._cancellation.wakeup, select.POLLIN)
        for descriptor, _ in poll.poll(max(0.0, seconds) * 1000):
            if descriptor in self._captures:
                self._read(descriptor)
            elif descriptor in self._streams:
                self._write(descriptor)

    def _read(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, _BLOCK)
        except BlockingIOError:
            return
        if data:
            self._captures[descriptor].feed(data)
        else:
            self._close(descriptor)

    def _write(self, descriptor: int) -> None:
        try:
            written = os.write(descriptor, self._input[:_BLOCK])
        except BlockingIOError:
            return
        except BrokenPipeError:
            written = len(self._input)
        self._input = self._input[written:]
        if not self._input:
            self._close(descriptor)

    def _close(self, descriptor: int) -> None:
        self._streams.pop(descriptor).close()

    def _end(self) -> None:
        """End the process group: request termination, wait briefly, then kill. The leader is reaped
        last.

        Until then, its number cannot become another process group's.
        """
        import signal

        if self._process.returncode is not None:
            return
        self._signal(signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        while time.monotonic() < deadline:
            if not (self._captures.keys() & self._streams.keys()) and _ended(self._process.pid):
                break
            self._exchange(0.05)
            if not (self._captures.keys() & self._streams.keys()):
                time.sleep(0.01)
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            return  # PermissionError: macOS, for a group with only zombies left


def _ended(pid: int) -> bool:
    """Return whether a child has ended, without reaping it; False if the system cannot report
    it."""
    if not hasattr(os, "waitid"):
        return False
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def _sink(on_output: Optional[OutputSink], name: str) -> Optional[Callable[[str], None]]:
    if on_output is None:
        return None
    target = on_output
    return lambda line: target(name, line)
