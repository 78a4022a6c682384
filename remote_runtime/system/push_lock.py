"""One push at a time per host (target).

The system releases the lock when the runtime ends, for any reason. A running command may then
continue, and a package manager's command must continue, so the lock file names it and the next
holder of the lock also waits for it.

The file contains one JSON object of a fixed length, written in one call, so it is always
consistent.
"""

import os
import stat
import time
from typing import Any, Callable, Dict, List, Optional

from remote_runtime.cancellation import Cancellation
from remote_runtime.errors import HostError
from remote_runtime.stdlib_light import json_text
from remote_runtime.system.process import process_identity

_POLL = 0.05
_SIZE = 4096  # of the file; what it holds is shorter
_MAX_LENGTH = 100  # characters of one value

# O_NONBLOCK: something else in its place, such as a pipe, must not block.
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


def lock_path() -> str:
    """The location of this user's lock: system-wide for root, in their own directory for others."""
    if os.geteuid() == 0:
        for directory in ("/run", "/var/run", "/var/tmp"):
            if os.path.isdir(directory) and os.access(directory, os.W_OK):
                return os.path.join(directory, "ccm.lock")
    return os.path.join(directory_of(os.geteuid()), "ccm.lock")


def directory_of(uid: int, runtime_directories: str = "/run/user") -> str:
    """The directory of a user's lock.

    XDG_RUNTIME_DIR is not used, because a run from a terminal and one from cron must find the same
    lock.
    """
    own = os.path.join(runtime_directories, str(uid))
    try:
        if os.stat(own).st_uid == uid:
            return own
    except OSError:
        pass  # no login sessions, or a system without such directories
    return os.path.join(os.path.expanduser("~"), ".cache")


def is_held(path: str) -> bool:
    """Return whether a run currently holds the lock."""
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


class Lock(object):
    """The lock of one run; the file itself is kept.

    ``starting`` and ``started`` record the running command. Every running command is named in the
    file: a starting process shares the lock until it becomes the command, and its pipes are
    recorded before that.
    """

    def __init__(self, path: str, cancellation: Cancellation) -> None:
        self._path = path
        self._cancellation = cancellation
        self._descriptor = -1
        self._record: Dict[str, Any] = {}

    def acquire(
        self, holder: Dict[str, Any], timeout: float, notice: Callable[[str], None]
    ) -> None:
        """Take the lock, waiting at most ``timeout`` seconds; ``notice`` receives its holder.

        ``HostError`` names the run that holds it, its user and its start, or the command that it
        left running.
        """
        deadline = time.monotonic() + timeout
        self._open()
        try:
            self._wait(
                "another push", self._held, deadline=deadline, timeout=timeout, notice=notice
            )
            self._wait(
                "a command", self._left_behind, deadline=deadline, timeout=timeout, notice=notice
            )
            self._record = {key: str(value)[:_MAX_LENGTH] for key, value in holder.items()}
            self._record["boot"] = process_identity.boot()
            self._write()
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Release the lock; harmless if it is not held."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def starting(self, pipes: List[int]) -> None:
        """Record that a command is about to be started whose outputs have these inode numbers."""
        self._note({"pipes": pipes})

    def started(self, pid: int) -> None:
        """Record the started command, which leads its own session."""
        process = process_identity.find(pid)
        if process is not None:
            self._note({"pid": pid, "start": process.start})

    def _note(self, command: Dict[str, Any]) -> None:
        self._record["command"] = command
        try:
            self._write()
        except OSError:
            pass  # the lock is ours anyway

    def _write(self) -> None:
        os.pwrite(self._descriptor, json_text.dumps(self._record).ljust(_SIZE).encode("ascii"), 0)

    def _open(self) -> None:
        try:
            os.makedirs(os.path.dirname(self._path), 0o700, exist_ok=True)
            self._descriptor = os.open(self._path, _FLAGS, 0o600)
            status = os.fstat(self._descriptor)
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error
        if not stat.S_ISREG(status.st_mode):
            raise self._unusable("it is not a regular file", "remove it; ccm creates a new one")
        if status.st_uid != os.geteuid():
            raise self._unusable(
                "it belongs to user %d" % status.st_uid, "find out who created it, and remove it"
            )

    def _unusable(
        self, reason: str, hint: str = "the user's home or runtime directory must be writable"
    ) -> HostError:
        self.release()
        return HostError(
            "could not open the lock %s: %s" % (self._path, reason), kind="host.lock", hint=hint
        )

    def _wait(
        self,
        kind: str,
        read_holder: Callable[[], str],
        *,
        deadline: float,
        timeout: float,
        notice: Callable[[str], None],
    ) -> None:
        """Return once ``read_holder`` returns "", and not what the run is waiting for."""
        reported = False
        while True:
            what = read_holder()
            if not what:
                return
            if time.monotonic() >= deadline:
                raise HostError(
                    "%s is in progress: %s" % (kind, what),
                    kind="host.locked",
                    hint="ccm waited %g s; try again later, or raise --lock-timeout" % timeout,
                )
            if not reported:
                notice("waiting for %s" % what)
                reported = True
            self._cancellation.sleep(min(_POLL, max(0.01, deadline - time.monotonic())))

    def _held(self) -> str:
        """Take the lock, or return its holder."""
        import fcntl

        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return run_words(self._read())
        return ""

    def _left_behind(self) -> str:
        """The command that a killed run left running; "" if there is none."""
        record = self._read()
        command = record.get("command")
        if not isinstance(command, dict) or record.get("boot") != process_identity.boot():
            return ""
        process = _running(command)
        if process is None:
            return ""
        return "process %d (%s) of %s" % (process.pid, process.program, run_words(record))

    def _read(self) -> Dict[str, Any]:
        try:
            document = json_text.loads(os.pread(self._descriptor, _SIZE, 0).decode("utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return document if isinstance(document, dict) else {}


def run_words(record: Dict[str, Any]) -> str:
    """A run in a message, from its record: its ID, user and time in seconds."""
    if not record:
        return "another run"
    run_id, user, since = [
        str(record.get(key, "?"))[:_MAX_LENGTH] for key in ("run_id", "user", "since")
    ]
    seconds, dot, _ = since.partition(".")
    return "run %s, started by %s at %s" % (run_id, user, seconds + "Z" if dot else since)


def _running(command: Dict[str, Any]) -> Optional[process_identity.Process]:
    pid, pipes = command.get("pid"), command.get("pipes")
    if isinstance(pid, int):
        process = process_identity.find(pid)
        return process if process is not None and process.start == command.get("start") else None
    return process_identity.leader_at(pipes) if isinstance(pipes, list) else None
