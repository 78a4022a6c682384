"""A file to which lines are appended as events happen (controller)."""

import contextlib
import errno
import fcntl
import os
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class LineFile:
    """Always contains complete lines; a line that did not fit is removed.

    When ``write`` returns, the system has the line, so it survives this process; it is not synced.
    ``private`` files are new and belong to the user; others replace an existing file. OSErrors from
    all methods name the file.
    """

    def __init__(self, path: Path, private: bool = False) -> None:
        self.path = path
        new = os.O_EXCL if private else os.O_TRUNC
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | new
        self._handle = os.open(path, flags, 0o600 if private else 0o666)
        self._size = 0

    def write(self, text: str) -> None:
        """Append complete lines."""
        left = memoryview(text.encode("utf-8"))
        size = self._size + len(left)
        try:
            while left:
                left = left[os.write(self._handle, left) :]
        except OSError as error:
            with contextlib.suppress(OSError):  # a pipe has no size
                os.ftruncate(self._handle, self._size)
            raise OSError(error.errno, error.strerror, str(self.path)) from error
        self._size = size

    def hold(self) -> None:
        """Mark the file as being written, for ``is_held``, until it is closed or the process ends.

        Does nothing on a file system without locks.
        """
        with contextlib.suppress(OSError):
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def sync(self) -> None:
        """Wait until all of it is on disk."""
        os.fsync(self._handle)

    def close(self) -> None:
        """Close the file; may be called again."""
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


def is_held(path: Path) -> bool:
    """Whether a process is writing the file; False if it does not exist."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False
