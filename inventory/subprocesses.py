"""The programs that ccm runs on this machine, with all processes that they start (controller).

Each is the leader of its own process group, so that its child processes can be killed with it. A
program that is still running when ccm ends is killed.
"""

import contextlib
import math
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import SupportsIndex

_groups: dict[int, bool] = {}
"""The process groups, and whether they end with the run."""
_TICK = 0.2  # seconds between two looks at a program


@contextlib.contextmanager
def running(
    words: Sequence[str],
    *,
    stdin: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
    directory: str = "",
    environment: Mapping[str, str] | None = None,
    ends_with_run: bool = False,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program and read its output; at the end of the block, its process group is killed.

    ``ends_with_run``: it is also killed at the end of the run that it belongs to. OSError if it
    cannot be started.
    """
    process = subprocess.Popen(
        words,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        cwd=directory or None,
        env=environment,
        start_new_session=True,
    )
    _groups[process.pid] = ends_with_run
    try:
        yield process
    finally:
        _kill(process.pid)
        _groups.pop(process.pid, None)
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


class LastBytes(bytearray):
    """The last ``kept`` bytes of an output."""

    def __init__(self, kept: int) -> None:
        super().__init__()
        self._kept = kept

    def extend(self, data: Iterable[SupportsIndex]) -> None:
        """Add bytes."""
        super().extend(data)
        del self[: -self._kept]


def attend(
    process: subprocess.Popen[bytes],
    output: bytearray,
    *,
    errors: bytearray | None = None,
    left: Callable[[], float],
    data: bytes = b"",
    maximum: float = math.inf,
    linger: float = math.inf,
) -> int | None:
    """Write ``data`` to a program and read its output until it has ended; its exit code.

    None if no seconds are ``left`` before that, or if it prints more than ``maximum`` bytes. Output
    of processes that it leaves behind is read until it ends, for at most ``linger`` seconds.
    """
    view, ended = memoryview(data), 0.0
    with selectors.DefaultSelector() as selector:
        for pipe, sink in ((process.stdout, output), (process.stderr, errors)):
            if pipe is not None:
                selector.register(pipe, selectors.EVENT_READ, sink)
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
            selector.register(process.stdin, selectors.EVENT_WRITE)
        while len(output) <= maximum and left() > 0:
            code = process.poll()
            ended = ended or (time.monotonic() if code is not None else 0.0)
            ready = [key for key, _ in selector.select(_TICK)] if selector.get_map() else []
            is_silent = all(key.fileobj is process.stdin for key in ready)
            if code is not None and (is_silent or time.monotonic() - ended > linger):
                return code
            for key in ready:
                if key.fileobj is process.stdin:
                    view = _feed(key.fd, view)
                    is_done = not view
                else:
                    chunk = os.read(key.fd, 65536)
                    key.data.extend(chunk)
                    is_done = not chunk
                if is_done:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]  # it is a pipe
            if code is None and not selector.get_map():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_TICK)
    return None


def _feed(pipe: int, view: memoryview) -> memoryview:
    """Write as much as a program accepts; the rest, which is empty once it has closed its input."""
    try:
        return view[os.write(pipe, view[:65536]) :]
    except BlockingIOError:
        return view
    except BrokenPipeError:
        return view[:0]


def end_programs(*, of_run: bool = False) -> None:
    """Kill the programs that are still running; with ``of_run``, only those that end with the run.
    Safe in a signal handler.
    """
    for group, ends_with_run in tuple(_groups.items()):
        if ends_with_run or not of_run:
            _kill(group)


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
