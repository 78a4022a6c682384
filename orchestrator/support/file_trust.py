"""Whose files are believed (controller)."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterable

from remote_runtime.errors import InputError, Problem

_OTHERS = stat.S_IWGRP | stat.S_IWOTH
UNTRUSTED = "input.untrusted"

PathStatus = tuple[str, os.stat_result]


def trusted_owners() -> set[int]:
    """Root's id, this user's, and for root that of the user who became root with sudo."""
    given = os.environ.get("SUDO_UID", "")
    behind = [int(given)] if os.geteuid() == 0 and given.isdecimal() else []
    return {0, os.geteuid(), *behind}


def entries_above(path: str) -> list[PathStatus]:
    """What decides which file a path leads to: the path itself and its directory; where the path is
    a link, the directory and the file that it leads to as well. OSError.
    """
    directory = os.path.dirname(path) or os.curdir
    looked = [(path, os.lstat(path)), (directory, os.stat(directory))]
    real = os.path.realpath(path)
    return looked + [(name, os.stat(name)) for name in (os.path.dirname(real), real)]


def require_own(looked: Iterable[PathStatus], what: str, otherwise: str) -> None:
    """InputError if one of these belongs to another user, or others can write it.

    The error says ``what`` such a user could control, and what to do ``otherwise``.
    """
    believed = trusted_owners()
    for name, status in looked:
        if status.st_uid not in believed:
            message = f"{name} belongs to another user (id {status.st_uid}), who decides {what}"
            hint = f"look at it, then change its owner, or {otherwise}"
            raise InputError([Problem(message, None, hint, UNTRUSTED)])
        if status.st_mode & _OTHERS and not stat.S_ISLNK(status.st_mode):
            message = f"{name} can be written by other users, who decide {what}"
            hint = f"chmod go-w {shlex.quote(name)}, or {otherwise}"
            raise InputError([Problem(message, None, hint, UNTRUSTED)])
