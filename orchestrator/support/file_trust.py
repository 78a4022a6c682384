"""Determines whose files are trusted (controller)."""

import os
import shlex
import stat
from collections.abc import Iterable

from remote_runtime.errors import InputError, Problem

_OTHERS = stat.S_IWGRP | stat.S_IWOTH
UNTRUSTED = "input.untrusted"

PathStatus = tuple[str, os.stat_result]


def trusted_owners() -> set[int]:
    """The UIDs of root, of this user and, if this is root, of the user who became root
    with sudo.
    """
    given = os.environ.get("SUDO_UID", "")
    behind = [int(given)] if os.geteuid() == 0 and given.isdecimal() else []
    return {0, os.geteuid(), *behind}


def entries_above(path: str) -> list[PathStatus]:
    """The parts that determine which file is at a path: the path and its directory and, for a link,
    also the directory and the file of its target. OSError.
    """
    directory = os.path.dirname(path) or os.curdir
    looked = [(path, os.lstat(path)), (directory, os.stat(directory))]
    real = os.path.realpath(path)
    return looked + [(name, os.stat(name)) for name in (os.path.dirname(real), real)]


def require_own(looked: Iterable[PathStatus], what: str, otherwise: str) -> None:
    """InputError if one of these belongs to another user, or others can write to it.

    The error names ``what`` such a user could control, and the alternative ``otherwise``.
    """
    believed = trusted_owners()
    for name, status in looked:
        if status.st_uid not in believed:
            message = (
                f"{name} belongs to another user (id {status.st_uid}), who could change {what}"
            )
            hint = f"review it, then change its owner, or {otherwise}"
            raise InputError([Problem(message, None, hint, UNTRUSTED)])
        if status.st_mode & _OTHERS and not stat.S_ISLNK(status.st_mode):
            message = f"{name} is writable by other users, who could change {what}"
            hint = f"chmod go-w {shlex.quote(name)}, or {otherwise}"
            raise InputError([Problem(message, None, hint, UNTRUSTED)])
