"""The programs that ccm runs on this machine, each with all processes that it starts (controller).

Each is the leader of its own process group, so that its child processes can be ended with it.
A program that runs when ccm ends is ended with it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence

_groups: dict[int, bool] = {}
"""The process groups, and whether they end with the run."""


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
    """Start a program and read its output; at the end of the block its group is killed.

    ``ends_with_run``: also at the end of the run that it belongs to. OSError if it cannot be
    started.
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


def end_programs(*, of_run: bool = False) -> None:
    """Kill the programs that still run; with ``of_run``, only those that end with the run. Safe in
    a signal handler.
    """
    for group, ends_with_run in tuple(_groups.items()):
        if ends_with_run or not of_run:
            _kill(group)


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
