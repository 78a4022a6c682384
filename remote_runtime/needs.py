"""What must be there before a resource can act (target); noop counts what is planned."""

import os
from typing import Iterable, List, Optional, Sequence, Tuple

from remote_runtime.changes import Action, Condition, Missing
from remote_runtime.context import Context


def unmet(context: Context, *missing: Optional[Missing]) -> List[Missing]:
    """Those that noop does not count as there."""
    return [m for m in missing if m is not None and not context.planned(m.condition)]


def raise_first(context: Context, missing: Iterable[Missing], would: Sequence[Action]) -> None:
    """Raise what is missing, first what nothing pending could bring; ``would`` is what it keeps."""
    for first in sorted(missing, key=lambda m: context.pending.may_hold(m.condition)):
        raise Missing(
            first.condition, first.message, would=would, hint=first.hint, reason=first.reason
        )


def planned_away(context: Context, path: str) -> bool:
    """Whether noop counts a path as removed, by itself or with a directory above it."""
    if not context.noop or context.planned(Condition("path", path)):
        return False  # the second: it would be made again, a directory included
    while path != "/":
        if context.planned(Condition("absent", path)):
            return True
        path = os.path.dirname(path)
    return False


def account(context: Context, kind: str, name: str) -> Optional[Missing]:
    """The ``kind`` user or group that does not exist, or None."""
    why, hint = context.accounts.lacking(kind, name)
    return Missing(Condition(kind, name), why, hint=hint) if why else None


def owners(context: Context, owner: str, group: str) -> Tuple[int, int, List[Missing]]:
    """Owner and group as numbers, -1 for one that does not exist (yet), and those unmet."""
    user, team = account(context, "user", owner), account(context, "group", group)
    uid = -1 if user else context.accounts.uid(owner)
    gid = -1 if team else context.accounts.gid(group)
    return uid, gid, unmet(context, user, team)


def parent(context: Context, path: str) -> Optional[Missing]:
    """What is wrong with the directory that is to hold ``path``, or None."""
    folder = os.path.dirname(path)
    gone = planned_away(context, folder)
    if context.files.is_directory(folder) and not gone:
        return None
    there = context.files.exists(folder) and not gone
    return Missing(
        Condition("directory", folder),
        "the parent directory %s %s"
        % (folder, "is not a directory" if there else "does not exist"),
        hint="manage it in an earlier file resource with ensure: directory",
    )


def program(
    context: Context,
    name: str,
    *,
    what: str,
    path: Optional[str] = None,
    cwd: Optional[str] = None,
) -> Optional[Missing]:
    """What keeps a program from being started, or None; ``what`` it is for begins the message."""
    why, hint = context.commands.lacking(name, path, cwd)
    return Missing(Condition("program", name), "%s: %s" % (what, why), hint=hint) if why else None
