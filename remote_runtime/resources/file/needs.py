"""What must be there before a file can be written (target); noop counts what is planned."""

import os
from typing import Optional

from remote_runtime import words
from remote_runtime.base import Condition, Missing
from remote_runtime.context import Context


def planned_away(context: Context, path: str) -> bool:
    """Whether noop counts a path as removed, by itself or with a directory above it."""
    if not context.noop or context.planned(Condition("path", path)):
        return False  # the second: it would be made again, a directory included
    while path != "/":
        if context.planned(Condition("absent", path)):
            return True
        path = os.path.dirname(path)
    return False


def parent(context: Context, path: str) -> Optional[Missing]:
    """What is wrong with the directory that is to hold ``path``, or None."""
    folder = os.path.dirname(path)
    condition = Condition("directory", folder)
    gone = planned_away(context, folder)
    if context.planned(condition) or (context.files.is_directory(folder) and not gone):
        return None
    there = context.files.exists(folder) and not gone
    return Missing(
        condition,
        "the parent directory %s %s"
        % (folder, "is not a directory" if there else "does not exist"),
        hint="manage it in an earlier file resource with ensure: directory",
    )


def validator(context: Context, command: str) -> Optional[Missing]:
    """What keeps the validation of a file from being started, or None."""
    program = words.split(command)[0]
    condition = Condition("program", program)
    if "{}" in program or context.planned(condition):
        return None
    why, hint = context.commands.lacking(program)
    return Missing(condition, "it cannot be validated: %s" % why, hint=hint) if why else None
