"""What must be there before a resource can act (target)."""

import errno
import os
import stat
from typing import TYPE_CHECKING, List, Optional, Sequence, Tuple

from remote_runtime.changes import Action, Missing
from remote_runtime.effects import PathEffect
from remote_runtime.system.errno_messages import refusal

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.files import Files


def raise_first(missing: Sequence[Missing], would: Sequence[Action]) -> None:
    """Raise the first that is missing; ``would`` is what it keeps from being done."""
    for first in missing:
        first.would = list(would)
        raise first


def account(context: "Context", kind: str, name: str) -> Optional[Missing]:
    """The ``kind`` user or group that does not exist, or None."""
    why, hint = context.accounts.lacking(kind, name)
    return Missing(why, hint=hint) if why else None


def owners(context: "Context", owner: str, group: str) -> Tuple[int, int, List[Missing]]:
    """Owner and group as numbers, -1 for one that does not exist, and those missing."""
    accounts = context.accounts
    uid, gid = accounts.number("user", owner), accounts.number("group", group)
    if uid is not None and gid is not None:
        return uid, gid, []
    missing = account(context, "user", owner), account(context, "group", group)
    return (
        -1 if uid is None else uid,
        -1 if gid is None else gid,
        [m for m in missing if m is not None],
    )


def parent(context: "Context", path: str) -> List[Missing]:
    """What is wrong with the directory that is to hold ``path``: one thing or none."""
    directory = os.path.dirname(path)
    if context.files.is_directory(directory):
        return []
    there = context.files.exists(directory)
    what = "is not a directory" if there else "does not exist"
    return [
        Missing(
            "the parent directory %s %s" % (directory, what),
            hint="manage it in an earlier file resource with ensure: directory",
        )
    ]


def parents(files: "Files", path: str, mode: int) -> List[PathEffect]:
    """The missing parents of a path, outermost first.

    ``ResourceError`` if one of them is a dangling symlink.
    """
    missing: List[str] = []
    above = os.path.dirname(path)
    while above != "/" and not files.exists(above):
        if files.is_there(above):
            raise refusal("create the directory", os.path.normpath(path), errno.ENOENT)
        missing.insert(0, above)
        above = os.path.dirname(above)
    if missing:
        from remote_runtime.system.attributes import default_list_mode

        found = files.status(above, follow=True)
        mode &= default_list_mode(above)
        mode |= found.mode & stat.S_ISGID if found is not None else 0  # which they inherit
    return [PathEffect(each, "directory", mode, firm=False) for each in missing]


def program(
    context: "Context",
    name: str,
    *,
    what: str,
    path: Optional[str] = None,
    cwd: Optional[str] = None,
) -> List[Missing]:
    """What keeps a program of the user from being started: one thing or none.

    ``what`` it is for begins the message.
    """
    why, hint = context.user_commands.lacking(name, path, cwd)
    return [Missing("%s: %s" % (what, why), hint=hint)] if why else []
