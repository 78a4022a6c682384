"""What the system's refusals are called for people (target)."""

import errno
import os

from remote_runtime.errors import ResourceError
from remote_runtime.system.paths import is_too_long

NOT_A_DIRECTORY = "resource.file.enotdir"
NO_ACCESS = "resource.file.eacces"
"""Kinds of ``failure`` that somebody asks for."""

_WORDS = {
    errno.ENOSPC: ("the disk is full", "free space or inodes on this file system"),
    errno.EDQUOT: ("the disk quota is used up", "raise the quota or free space"),
    errno.EROFS: ("the file system is read-only", "remount it writable"),
    errno.EACCES: ("permission denied", "run with become"),
    errno.EPERM: ("operation not permitted", "run with become, or look for an immutable attribute"),
    errno.EBUSY: (
        "it is a mount point",
        "a bind-mounted file cannot be replaced; manage its source",
    ),
    errno.ELOOP: ("too many symlinks", "follow the links on the host"),
    errno.ENAMETOOLONG: ("the name is too long", "a name holds at most 255 bytes"),
    errno.ENOTDIR: ("a part of the path is not a directory", "check the path"),
    errno.ENOTEMPTY: ("the directory is not empty", "it is left alone; check the path"),
}


def many_names(doing: str, path: str, count: int) -> ResourceError:
    """The error for a file that has other names and stands where another user can write."""
    return ResourceError(
        "could not %s %s: it has %d names, and others than root can write its folder"
        % (doing, path, count),
        kind="resource.file.names",
        hint="look whose file it is",
    )


def failure(doing: str, path: str, error: OSError) -> ResourceError:
    """The error for people: what was being done to which path, why it failed, what to do."""
    number = error.errno or 0
    words, hint = _WORDS.get(number, (error.strerror or str(error), ""))
    if number == errno.ENOENT and doing == "write" and os.path.isdir(os.path.dirname(path)):
        words = "no file can be made in %s" % os.path.dirname(path)
        hint = "what the kernel shows as files is set by its own tools: use an exec"
    if number == errno.ENAMETOOLONG and is_too_long(path):
        words, hint = "the path is too long", "a path holds at most 4095 bytes"
    kind = "resource.file." + errno.errorcode.get(number, "other").lower()
    return ResourceError("could not %s %s: %s" % (doing, path, words), kind=kind, hint=hint)


def refusal(doing: str, path: str, number: int) -> ResourceError:
    """The same without an attempt, by the number that the system would give."""
    return failure(doing, path, OSError(number, os.strerror(number)))
