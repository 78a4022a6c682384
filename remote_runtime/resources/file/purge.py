"""Removes what is in a directory and in no resource of the run (target)."""

import os
from typing import List, Sequence, Set, Tuple

from remote_runtime.base import Action, Change, PathEffect, ResourceType
from remote_runtime.errors import ResourceError
from remote_runtime.resources.file import wording
from remote_runtime.resources.file.tree import Entry, Walk, shown

MOST = 1000  # paths of one resource


def extra(walk: Walk) -> List[Entry]:
    """What is to go, what is in a directory before the directory itself. ``ResourceError`` where
    the files of a scaffold are not known.
    """
    if walk.others.unknown:
        raise ResourceError(
            "the plan does not have the files of %s, so nothing was purged"
            % ", ".join(walk.others.unknown),
            kind="resource.file.purge",
            hint="manage the scaffold on this host, too; a scaffold whose templates fail "
            "has no files either",
        )
    held: Set[str] = set(walk.others.above)
    found = []
    for entry in reversed(walk.entries):
        if entry.purged and entry.shown not in held:
            found.append(entry)
        else:
            held.add(os.path.dirname(entry.shown))
    return sorted(found, key=_inner_first)


def _inner_first(entry: Entry) -> List[Tuple[int, str]]:
    """By name, a directory behind what is in it."""
    return [*((0, part) for part in entry.shown.split("/")), (1, "")]


def actions(resource: ResourceType, found: Sequence[Entry]) -> List[Action]:
    """What removes each of these. ``ResourceError`` for too many."""
    if len(found) > MOST:
        raise ResourceError(
            "purge would remove %d paths from %s, more than %d; nothing was removed"
            % (len(found), resource.name, MOST),
            kind="resource.file.purge",
            hint="check that it is the right directory, and add to keep what stays",
        )
    message = wording.PURGED % len(found)
    return [_removing(resource, entry, message) for entry in found]


def _removing(resource: ResourceType, entry: Entry, message: str) -> Action:
    path, files = entry.path, resource.context.files

    def remove() -> None:
        """Remove the entry, unless it has become another thing."""
        now = files.status(path)
        if now is not None and now.kind != entry.status.kind:
            raise ResourceError(
                "%s was replaced during the run" % path,
                kind="resource.file.moved",
                hint="find out what changes it; it was not removed",
            )
        if now is not None:  # else another process has removed it meanwhile
            files.remove(path)
        resource.context.changed_paths.add(path)

    def rehearse() -> None:
        files.obstacles(path).removing()

    kind = entry.status.kind
    before = "present" if kind == "other" else kind
    return Action(
        message,
        remove,
        changes=[Change(shown(path), before, "absent")],
        effects=[PathEffect(path, "absent")],
        rehearse=rehearse,
    )
