"""Runs that several people store in one directory (controller).

``DIR/runs/ID/`` is a copy of a run. Everyone who may read DIR can read all of them; only its owner
writes to a copy. Names are opened relative to an open directory, and links are never followed,
because other writers are not trusted.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shlex
import stat
from pathlib import Path

from orchestrator.history.location import HistoryError, HistoryUnreachableError
from orchestrator.history.run_copy import RunCopyTarget
from orchestrator.history.run_names import is_run_id
from remote_runtime.errors import UsageError
from remote_runtime.system.paths import write_all

RUNS = "runs"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_GROUP = stat.S_IRWXG
_GROUP_READS = stat.S_IRGRP | stat.S_IXGRP


class SharedDirectory:
    """A directory of shared runs."""

    def __init__(self, directory: str) -> None:
        self._directory = Path(directory)

    @property
    def label(self) -> str:
        """The directory."""
        return str(self._directory / RUNS)

    def check(self) -> os.stat_result:
        """Check the directory. UsageError if others can replace runs; HistoryUnreachableError."""
        where = self._directory
        try:
            found = os.stat(where)
        except OSError as error:
            raise HistoryUnreachableError(
                f"the history {where} cannot be used: {error.strerror}",
                hint="mount or create it: install -d -m 3770 -g GROUP DIR",
            ) from error
        if not stat.S_ISDIR(found.st_mode):
            raise UsageError(
                f"the history {where} is not a directory", hint="set history to a directory"
            )
        if found.st_mode & stat.S_IWOTH:
            raise UsageError(
                f"every user can write to the history {where}",
                hint=f"run: chmod o-w {shlex.quote(str(where))}",
            )
        if found.st_mode & stat.S_IWGRP and not found.st_mode & stat.S_ISVTX:
            raise UsageError(
                f"members of its group can remove the runs of others in the history {where}",
                hint=f"run: chmod +t {shlex.quote(str(where))}",
            )
        return found

    def names(self) -> list[str]:
        """The names of the runs, newest first. UsageError, HistoryUnreachableError."""
        self.check()
        try:
            names = os.listdir(self._directory / RUNS)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise HistoryUnreachableError(
                f"{self.label} cannot be read: {error.strerror}",
                hint="add this user to its group",
            ) from error
        return sorted(filter(is_run_id, names), reverse=True)

    def path(self, name: str) -> Path:
        """The directory of a run. OSError, and ValueError for one with links or other files."""
        path = self._directory / RUNS / name
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise ValueError("it is not a directory")
        with os.scandir(path) as entries:
            for entry in entries:
                if not entry.is_file(follow_symlinks=False):
                    raise ValueError(f"{entry.name!r} in it is not a regular file")
        return path

    def open(self, run_id: str) -> DirectoryCopy:
        """Return the copy of a run; create it if it is missing. UsageError, HistoryError."""
        found = self.check()
        try:
            runs = self._opened(self._directory / RUNS, stat.S_IMODE(found.st_mode), found.st_gid)
            try:
                return self._copy(runs, run_id, found)
            finally:
                os.close(runs)
        except OSError as error:
            raise HistoryUnreachableError(
                f"{self.label} cannot be written: {error.strerror}",
                hint="free space, or add this user to its group",
            ) from error

    def _opened(self, path: Path, mode: int, group: int) -> int:
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
            handle = os.open(path, _DIRECTORY)
            try:
                _share(handle, mode, group)
            finally:
                os.close(handle)
        return os.open(path, _DIRECTORY)

    def _copy(self, runs: int, run_id: str, whole: os.stat_result) -> DirectoryCopy:
        reads = whole.st_mode & _GROUP_READS == _GROUP_READS
        with contextlib.suppress(FileExistsError):
            os.mkdir(run_id, 0o700, dir_fd=runs)
        handle = os.open(run_id, _DIRECTORY, dir_fd=runs)
        if os.fstat(handle).st_uid != os.geteuid():
            os.close(handle)
            raise HistoryError(
                f"run {run_id} in {self.label} belongs to another user",
                hint="the existing copy is not changed",
            )
        shared = reads and _share(handle, 0o750, whole.st_gid)
        if not shared:
            os.fchmod(handle, 0o700)
        return DirectoryCopy(handle, 0o640 if shared else 0o600, whole.st_gid)

    def prune(self, keep: int) -> None:
        """Remove the runs of this user that are not among the newest ``keep``. Runs of others can
        be removed only by their owners.
        """
        import shutil

        for name in self.names()[keep:]:
            with contextlib.suppress(OSError):
                found = os.lstat(path := self._directory / RUNS / name)
                if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
                    shutil.rmtree(path)


class DirectoryCopy(RunCopyTarget):
    """A run in a shared directory, while it is copied. OSError if it cannot be written."""

    max_data = 1 << 20  # bytes at once

    def __init__(self, directory: int, mode: int, group: int) -> None:
        self._directory = directory
        self._mode = mode
        self._group = group
        self._held: list[int] = []

    def sizes(self) -> dict[str, int]:
        with os.scandir(self._directory) as entries:
            return {
                entry.name: entry.stat(follow_symlinks=False).st_size
                for entry in entries
                if entry.is_file(follow_symlinks=False)
            }

    def hold(self) -> bool:
        """See the base class. Locks the events; True if the file system has no locks."""
        handle = self._open("events.jsonl", os.O_CREAT | os.O_APPEND)
        self._held.append(handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
        return True

    def append(self, name: str, at: int, data: bytes) -> int:
        """See the base class. OSError."""
        handle = self._open(name, os.O_CREAT | os.O_APPEND)
        try:
            size = os.fstat(handle).st_size
            if size != at:
                return size
            write_all(handle, data)
            return size + len(data)
        finally:
            os.close(handle)

    def write_about(self, text: bytes) -> None:
        """See the base class. Replaces ``run.json`` as a whole. OSError."""
        beside = f".run.json.{os.urandom(6).hex()}.new"
        handle = self._open(beside, os.O_CREAT | os.O_EXCL)
        try:
            write_all(handle, text)
            os.rename(beside, "run.json", src_dir_fd=self._directory, dst_dir_fd=self._directory)
        except OSError:
            os.unlink(beside, dir_fd=self._directory)
            raise
        finally:
            os.close(handle)

    def beat(self) -> None:
        """Do nothing, because the lock shows that the run is active."""

    def close(self) -> None:
        """Close the files."""
        for handle in (*self._held, self._directory):
            os.close(handle)
        self._held = []

    def _open(self, name: str, flags: int) -> int:
        flags |= os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        handle = os.open(name, flags, 0o600, dir_fd=self._directory)
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            os.close(handle)
            raise HistoryError(
                f"{name} of the copy is not a regular file of this user", hint="remove it"
            )
        if stat.S_IMODE(found.st_mode) != self._mode:
            _share(handle, self._mode, self._group)
        return handle


def _share(handle: int, mode: int, group: int) -> bool:
    """Give a file to the group and set its mode. If that group does not exist, others get no
    rights.
    """
    with contextlib.suppress(OSError):
        os.fchown(handle, -1, group)
    shared = os.fstat(handle).st_gid == group
    os.fchmod(handle, mode if shared else mode & ~_GROUP)
    return shared
