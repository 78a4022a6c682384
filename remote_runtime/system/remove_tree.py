"""Removes directories with everything in them (target); imported only when one is removed."""

import errno
import os
import stat
from contextlib import suppress
from typing import List, NamedTuple, Optional, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.system.errno_messages import failure
from remote_runtime.system.preconditions import mounted_in
from remote_runtime.system.walk import Place, Walker

_LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_PASSED = (getattr(os, "O_PATH", 0) or os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW


class _Level(NamedTuple):
    name: str
    above: Tuple[int, int]  # what .. must lead to, once everything in here is gone
    waiting: List[str]  # the directories in here that are still to be removed


def clear(place: Place, opened: Optional[int] = None) -> None:
    """Remove a directory with its content, at any depth; links in it are removed, not followed.

    One directory is open at a time. ``ResourceError`` names a path that cannot be removed, or was
    moved away; paths that another process removes in the meantime are ignored. If something is
    mounted at or below the directory, nothing is removed. With ``opened``, the path must still be
    that directory.
    """
    mounted_in(place.path)
    levels: List[_Level] = []
    name = place.name
    try:
        here = os.open(".", _PASSED, dir_fd=place.directory.descriptor)
    except OSError as error:
        raise failure("remove", place.path, error) from error
    try:
        while True:
            try:
                below = _opened(name, here)
                if below is None and not levels:
                    return
                if below is not None:
                    above = _identity(here)
                    here = _replaced(here, below)
                    if not levels and opened is not None and _identity(here) != _identity(opened):
                        raise OSError(errno.ESTALE, "it was replaced by another directory")
                    levels.append(_Level(name, above, _emptied(here)))
                while not levels[-1].waiting:
                    level = levels.pop()
                    here = _replaced(here, os.open("..", _PASSED, dir_fd=here))
                    if _identity(here) != level.above:
                        raise OSError(errno.ESTALE, "it was moved during the removal")
                    with suppress(FileNotFoundError):
                        os.rmdir(level.name, dir_fd=here)
                    if not levels:
                        return
            except OSError as error:
                path = os.path.join(place.directory.path, *[level.name for level in levels], name)
                raise failure("remove", path, error) from error
            name = levels[-1].waiting.pop()
    finally:
        os.close(here)


def clear_private(walker: Walker, path: str) -> None:
    """Do the same with a private working directory, as far as possible."""
    with suppress(OSError, ResourceError):
        clear(walker.place(path))


def _opened(name: str, within: int) -> Optional[int]:
    """A descriptor of that directory; None if it no longer exists."""
    try:
        return os.open(name, _LISTED, dir_fd=within)
    except FileNotFoundError:
        return None


def _emptied(descriptor: int) -> List[str]:
    """Remove everything except directories, whose names are returned."""
    directories = []
    for name in os.listdir(descriptor):
        with suppress(FileNotFoundError):
            if stat.S_ISDIR(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode):
                directories.append(name)
            else:
                os.unlink(name, dir_fd=descriptor)
    return directories


def _identity(descriptor: int) -> Tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def _replaced(old: int, new: int) -> int:
    os.close(old)
    return new
