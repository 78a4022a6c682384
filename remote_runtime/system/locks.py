"""One push at a time per host (target)."""

import os
import time
from typing import Any, Callable, Dict, Optional

from remote_runtime.cancellation import Cancellation
from remote_runtime.errors import HostError
from remote_runtime.lean import jsontext

_POLL = 0.05


def lock_path() -> str:
    """Where the lock of this user is: for root on the system, for others in their own folder."""
    if os.geteuid() == 0:
        for folder in ("/run", "/var/run", "/var/tmp"):
            if os.path.isdir(folder) and os.access(folder, os.W_OK):
                return os.path.join(folder, "ccm.lock")
    return os.path.join(folder_of(os.geteuid()), "ccm.lock")


def folder_of(uid: int, runtime_folders: str = "/run/user") -> str:
    """The folder of one user's lock.

    XDG_RUNTIME_DIR has no say: a run from a terminal and one from cron must find the same lock.
    """
    own = os.path.join(runtime_folders, str(uid))
    try:
        if os.stat(own).st_uid == uid:
            return own
    except OSError:
        pass  # nobody is logged in, or this system has no such folders
    return os.path.join(os.path.expanduser("~"), ".cache")


class Lock(object):
    """The system drops it when the process ends, however it ends; the file itself stays."""

    def __init__(self, path: str, cancellation: Cancellation) -> None:
        self._path = path
        self._cancellation = cancellation
        self._descriptor = -1

    def acquire(
        self, holder: Dict[str, Any], timeout: float, notice: Callable[[str], None]
    ) -> None:
        """Take the lock, waiting at most ``timeout`` seconds; ``notice`` is told whom we wait for.

        ``HostError`` names the run that holds it, its user and since when.
        """
        import fcntl

        self._open()
        deadline = time.monotonic() + timeout
        told = False
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise self._taken(timeout) from None
                if not told:
                    notice("waiting for %s" % self._holder())
                    told = True
                self._cancellation.sleep(min(_POLL, max(0.01, deadline - time.monotonic())))
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, jsontext.dumps(holder).encode("ascii"), 0)

    def release(self) -> None:
        """Give it back; harmless when it was never taken."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _open(self) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        try:
            os.makedirs(os.path.dirname(self._path), 0o700, exist_ok=True)
            self._descriptor = os.open(self._path, flags, 0o600)
        except OSError as error:
            raise HostError(
                "could not open the lock %s: %s" % (self._path, error.strerror),
                kind="host.lock",
                hint="the user's home or runtime folder must be writable",
            ) from error

    def _holder(self) -> str:
        found: Optional[Dict[str, Any]] = None
        try:
            found = jsontext.loads(os.pread(self._descriptor, 4096, 0).decode("utf-8"))
        except (OSError, ValueError):
            pass
        if not isinstance(found, dict):
            return "another run"
        return "run %s of %s, since %s" % tuple(
            str(found.get(key, "?"))[:100] for key in ("run_id", "user", "since")
        )

    def _taken(self, timeout: float) -> HostError:
        holder = self._holder()
        self.release()
        return HostError(
            "another push is at work here: %s" % holder,
            kind="host.locked",
            hint="waited %g s; wait for it, or raise --lock-timeout" % timeout,
        )
