"""Removes paths in a directory that no resource of the run manages (target)."""

import os
from typing import TYPE_CHECKING, List, Sequence, Set, Tuple

from remote_runtime.base import Change
from remote_runtime.errors import ResourceError
from remote_runtime.resources.file.removal import require_access
from remote_runtime.resources.file.tree_scan import Entry, Walk, shown
from remote_runtime.tasks import Task

if TYPE_CHECKING:
    from remote_runtime.host.ports import Host

MAX_PATHS = 1000  # paths of one resource


def extra(walk: Walk) -> List[Entry]:
    """Return the entries to remove, the contents of a directory before the directory itself.
    ``ResourceError`` if the files of a scaffold are unknown.
    """
    if walk.others.unknown:
        raise ResourceError(
            "the plan does not contain the files of %s, so nothing was purged"
            % ", ".join(walk.others.unknown),
            kind="resource.file.purge",
            hint="manage the scaffold on this host, too, and check that its templates render",
        )
    parents: Set[str] = set(walk.others.above)
    entries = []
    for entry in reversed(walk.entries):
        if entry.purged and entry.shown not in parents:
            entries.append(entry)
        else:
            parents.add(os.path.dirname(entry.shown))
    return sorted(entries, key=_inner_first)


def _inner_first(entry: Entry) -> List[Tuple[int, str]]:
    """Return a sort key by name; a directory sorts after its contents."""
    return [*((0, part) for part in entry.shown.split("/")), (1, "")]


def tasks(top: str, entries: Sequence[Entry]) -> List[Task]:
    """Return the tasks that remove each of these. ``ResourceError`` for too many."""
    if len(entries) > MAX_PATHS:
        raise ResourceError(
            "purge would remove %d paths from %s, more than %d; nothing was removed"
            % (len(entries), top, MAX_PATHS),
            kind="resource.file.purge",
            hint="check that it is the right directory; add the paths to preserve to keep",
        )
    paths = "1 path" if len(entries) == 1 else "%d paths" % len(entries)
    message = "Would have purged %s from the directory" % paths
    return [_removing(entry, message) for entry in entries]


def _removing(entry: Entry, message: str) -> Task:
    kind = entry.node.kind

    def remove(host: "Host") -> None:
        """Remove the entry, unless something else has replaced it."""
        if kind == "directory":
            host.files.rmdir(entry.path)
        else:
            require_access(host, entry.path)
            host.files.unlink(entry.path, kind)

    before = "present" if kind == "other" else kind
    return Task(message, remove, [Change(shown(entry.path), before, "absent")])
