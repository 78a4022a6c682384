"""Paths that cannot be redirected while a program uses them (target).

A program resolves the path that it receives, and may encounter a symlink of another user in it. A
path below ``/proc/PID/fd`` refers to an open file, regardless of where the file's name points by
then.
"""

import os
from typing import Dict, Iterator

from remote_runtime.system.walk import Walker

_PATH = getattr(os, "O_PATH", 0)  # only Linux has it, and /proc/PID/fd


class PinnedPaths(object):
    """Open files and directories, until ``close``."""

    def __init__(self, walker: Walker) -> None:
        self._walker = walker
        self._open: Dict[str, int] = {}

    def of(self, path: str) -> str:
        """A path that refers to the current target of ``path``; ``path`` itself if no other user
        can change its target, or if it does not exist. ``OSError``, ``ResourceError``"""
        try:
            place = self._walker.place(path, follow=True)
            if not (_PATH and self._is_shared(path, place.path)):
                return path
        except FileNotFoundError:
            return path
        if path in self._open:
            return _leading_to(self._open[path])
        number = os.open(place.name, _PATH | os.O_NOFOLLOW, dir_fd=place.directory.descriptor)
        self._open[path] = number
        place.admit(os.fstat(number))
        return _leading_to(number)

    def within(self, path: str) -> str:
        """Like ``of``, but only the directory is opened: for a mount point, which must not remain
        open.
        """
        above, name = os.path.split(path)
        return os.path.join(self.of(above), name)

    def named(self, text: str) -> str:
        """The output of the program with the original paths."""
        for path, number in self._open.items():
            text = text.replace(_leading_to(number), path)
        return text

    def _is_shared(self, *paths: str) -> bool:
        return any(self._is_of_others(*os.path.split(each)) for one in paths for each in _ways(one))

    def _is_of_others(self, above: str, name: str) -> bool:
        """Return whether another user can replace a name in a directory."""
        directory = self._walker.directory(above)
        status = os.stat(name, dir_fd=directory.descriptor, follow_symlinks=False)
        return directory.shared(sticky=status.st_uid in (0, os.geteuid()))

    def close(self) -> None:
        """Close all open files and directories."""
        while self._open:
            os.close(self._open.popitem()[1])


def _leading_to(number: int) -> str:
    return "/proc/%d/fd/%d" % (os.getpid(), number)


def _ways(path: str) -> Iterator[str]:
    """A path and the directories above it, except the topmost one."""
    parts = [name for name in path.split("/") if name]
    for length in range(1, len(parts) + 1):
        yield "/" + "/".join(parts[:length])
