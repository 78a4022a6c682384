"""Locks of package managers held by other processes (target)."""

import os
import struct
import time
from typing import TYPE_CHECKING, Callable, NamedTuple, Optional, Sequence

from remote_runtime.errors import ResourceError
from remote_runtime.system.paths import content_of
from remote_runtime.system.process.process_identity import service_of

if TYPE_CHECKING:
    from remote_runtime.context import Context

LOCKED = "package.lock"
LOCK_HINT = "wait for the other package manager, or raise lock_timeout"
PAUSE = 0.5  # seconds between two checks of a lock
_FLOCK = "hhqqi"  # struct flock: type, whence, start, length, pid


class Holder(NamedTuple):
    """The process that holds a lock. ``pid`` is 0 if the kernel does not show it; ``unit`` is its
    systemd service, such as apt-daily-upgrade.service, "" for a process of a login."""

    path: str
    pid: int
    program: str
    unit: str = ""

    def __str__(self) -> str:
        if self.pid <= 0:
            return "%s, held by another process" % self.path
        unit = ", %s" % self.unit if self.unit else ""
        return "%s, held by %s (pid %d%s)" % (
            self.path, self.program or "a process", self.pid, unit,
        )  # fmt: skip


Look = Callable[[], Optional[Holder]]


def holder(paths: Sequence[str]) -> Optional[Holder]:
    """Return the holder of the first of these record locks that is held; None if all are free.

    This only queries: taking a lock to find out would make the other package manager fail.
    """
    for path in paths:
        pid = _pid_of_holder(path)
        if pid is not None:
            return Holder(path, pid, _program(pid), service_of(pid))
    return None


def _pid_of_holder(path: str) -> Optional[int]:
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None  # the package manager will report why it cannot open it
    try:
        question = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        answer = struct.unpack(_FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, question))
    finally:
        os.close(descriptor)
    return None if answer[0] == fcntl.F_UNLCK else answer[4]


def holder_of_pid_files(paths: Sequence[str]) -> Optional[Holder]:
    """Return the holder that the first of these files with a running process names."""
    for path in paths:
        text = content_of(path)[:20].decode("ascii", "replace").strip()
        if text.isdigit() and os.path.exists("/proc/" + text):
            return Holder(path, int(text), _program(int(text)), service_of(int(text)))
    return None


def _program(pid: int) -> str:
    return content_of("/proc/%d/comm" % pid).decode("utf-8", "replace").strip()


def wait(context: "Context", find_holder: Look, deadline: float) -> None:
    """Return once ``find_holder`` finds no holder; report once if there is one.

    ``deadline`` is a time of ``time.monotonic``; ``ResourceError`` when it has passed.
    """
    reported = False
    while True:
        holder = find_holder()
        if holder is None:
            return
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            raise ResourceError(
                "timed out waiting for the package lock %s" % (holder,), kind=LOCKED, hint=LOCK_HINT
            )
        if not reported:
            reported = True
            text = "waiting up to %.0f s for the package lock %s" % (seconds, holder)
            context.progress(text)
            context.notice("waiting", text)
        context.sleep(min(PAUSE, seconds))
