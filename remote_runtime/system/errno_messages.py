"""Descriptions of the system's errors (target)."""

import errno
import os

from remote_runtime.errors import ResourceError
from remote_runtime.system.paths import is_too_long

NOT_A_DIRECTORY = "resource.file.enotdir"
NO_ACCESS = "resource.file.eacces"
"""The kinds of ``failure`` that callers check for."""

_WORDS = {
    errno.ENOSPC: ("the disk is full", "free space or inodes on this file system"),
    errno.EDQUOT: ("the disk quota is used up", "raise the quota or free space"),
    errno.EROFS: ("the file system is read-only", "remount it writable"),
    errno.EACCES: ("permission denied", "run with become"),
    errno.EPERM: (
        "operation not permitted",
        ("run with become, or check for an immutable attribute"),
    ),
    errno.EBUSY: (
        "it is a mount point",
        "a bind-mounted file cannot be replaced; manage its source",
    ),
    errno.ELOOP: ("too many symlinks", "check the links on the host"),
    errno.ENAMETOOLONG: ("the name is too long", "a name has at most 255 bytes"),
    errno.ENOTDIR: ("a part of the path is not a directory", "check the path"),
    errno.ENOTEMPTY: (
        "the directory is not empty",
        "check the path; ccm does not empty the directory",
    ),
}


def many_names(action: str, path: str, count: int) -> ResourceError:
    """The error for a file with other hard links in a directory to which another user can write."""
    return ResourceError(
        "could not %s %s: it has %d hard links, and its directory is writable by other users"
        % (action, path, count),
        kind="resource.file.names",
        hint="check who owns the file",
    )


def failure(action: str, path: str, error: OSError) -> ResourceError:
    """Return the error with the action, the path, the reason and a hint."""
    number = error.errno or 0
    words, hint = _WORDS.get(number, (error.strerror or str(error), ""))
    if number == errno.ENOENT and action == "write" and os.path.isdir(os.path.dirname(path)):
        words = "cannot create files in %s" % os.path.dirname(path)
        hint = "this is a kernel file system: use an exec with the kernel's own tools"
    if number == errno.ENAMETOOLONG and is_too_long(path):
        words, hint = "the path is too long", "a path has at most 4095 bytes"
    kind = "resource.file." + errno.errorcode.get(number, "other").lower()
    return ResourceError("could not %s %s: %s" % (action, path, words), kind=kind, hint=hint)


def refusal(action: str, path: str, number: int) -> ResourceError:
    """Return the same error without an attempt, based on the number that the system
    would return.
    """
    return failure(action, path, OSError(number, os.strerror(number)))
