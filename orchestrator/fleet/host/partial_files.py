"""Partially fetched files: hidden, locked while they are written, removed when abandoned
(controller).

Their mode differs from that of every complete file, so a name that a host chooses cannot collide.
On a file system without locks, the leftovers of a killed fetch remain.
"""

import contextlib
import fcntl
import os
import re
import stat
from typing import BinaryIO

RIGHTS = 0o200  # of a file that is not finished
_NAME = re.compile(r"\.ccm-[0-9a-f]{12}\.part\Z")
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_OLD = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK


class PartialFile:
    """A new file in the directory of a descriptor; ``finish`` or ``drop`` it. OSError."""

    def __init__(self, directory: int) -> None:
        self._directory = directory
        while True:
            self._name = f".ccm-{os.urandom(6).hex()}.part"
            self._out = os.fdopen(os.open(self._name, _NEW, RIGHTS, dir_fd=directory), "wb")
            with contextlib.suppress(OSError):
                fcntl.flock(self._out, fcntl.LOCK_EX)
            if os.fstat(self._out.fileno()).st_nlink:
                return
            self._out.close()  # swept before it was locked

    @property
    def out(self) -> BinaryIO:
        """The file that is written."""
        return self._out

    def finish(self, name: str) -> None:
        """Set the mode and the final name of a completely written file."""
        with self._out:
            self._out.flush()
            os.fchmod(self._out.fileno(), 0o600)
            os.rename(self._name, name, src_dir_fd=self._directory, dst_dir_fd=self._directory)

    def drop(self) -> None:
        """Remove the file."""
        with contextlib.suppress(OSError):
            os.unlink(self._name, dir_fd=self._directory)
        with contextlib.suppress(OSError):
            self._out.close()


def sweep(directory: int) -> None:
    """Remove the leftovers of killed fetches from the directory of a descriptor, if possible."""
    with contextlib.suppress(OSError):
        for name in os.listdir(directory):
            if _NAME.match(name):
                with contextlib.suppress(OSError):
                    _sweep(name, directory)


def _sweep(name: str, directory: int) -> None:
    handle = os.open(name, _OLD, dir_fd=directory)
    try:
        opened = os.fstat(handle)
        ours = stat.S_ISREG(opened.st_mode) and opened.st_uid == os.geteuid()
        if ours and stat.S_IMODE(opened.st_mode) == RIGHTS:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError: it is being written
            named = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if os.path.samestat(named, os.fstat(handle)) and named.st_mode == opened.st_mode:
                os.unlink(name, dir_fd=directory)
    finally:
        os.close(handle)
