"""The owner, group and modes of everything in a directory (target)."""

from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.base import Change, Properties
from remote_runtime.host.file_ports import NewAttributes
from remote_runtime.resources.file import modes
from remote_runtime.resources.file.tree_scan import Entry, shown
from remote_runtime.tasks import Task

if TYPE_CHECKING:
    from remote_runtime.host.file_ports import Node
    from remote_runtime.host.ports import Host, HostReader

_NAMED = 3  # paths of a record
_AS_ANOTHER = 0o6000


class Wish(NamedTuple):
    """The desired attributes of the contents; None for one that does not change. An ID is -1 for a
    missing account.
    """

    uid: Optional[int]
    gid: Optional[int]
    dir_mode: Optional[str]
    file_mode: Optional[int]


class Differing(NamedTuple):
    """A path whose attributes differ from these."""

    entry: Entry
    uid: int
    gid: int
    mode: int


def wish_of(properties: Dict[str, Any], uid: int, gid: int) -> Wish:
    """The wish of a resource, with its owner and group as numbers."""
    of_files = properties.get("file_mode")
    return Wish(
        uid if properties.get("owner") is not None else None,
        gid if properties.get("group") is not None else None,
        properties.get("dir_mode") or properties.get("mode"),
        None if of_files is None else modes.parse_mode(str(of_files)),
    )


def differing(wish: Wish, entries: Sequence[Entry]) -> List[Differing]:
    """Return the entries to change, inner paths first, because a directory may belong to another
    user afterwards.
    """
    result = []
    for entry in reversed(entries):
        node = entry.node
        if not entry.managed or node.kind == "other":
            continue
        uid = node.uid if wish.uid is None else wish.uid
        gid = node.gid if wish.gid is None else wish.gid
        given = (uid, gid) != (node.uid, node.gid)
        mode = _mode(wish, node, given)
        if given or mode != node.mode:
            result.append(Differing(entry, uid, gid, mode))
    return result


def _mode(wish: Wish, node: "Node", changes_owner: bool) -> int:
    """The desired mode of a path; ``changes_owner``: its owner or group changes."""
    if node.kind == "symlink":
        return node.mode
    if node.kind == "directory":
        if wish.dir_mode is None:
            return node.mode
        kept = node.mode & 0o7000 if modes.leaves_special_bits(str(wish.dir_mode)) else 0
        return modes.directory_mode(modes.parse_mode(str(wish.dir_mode))) | kept
    if wish.file_mode is not None:
        return wish.file_mode
    # A program of one user must not become one that runs as another.
    return node.mode & ~_AS_ANOTHER if changes_owner else node.mode


def tasks(
    host: "HostReader", top: str, properties: Properties, differing: Sequence[Differing]
) -> List[Task]:
    """Return the tasks that set the attributes of all these entries."""
    if not differing:
        return []
    wanted = [
        NewAttributes(entry.path, entry.node.kind, mode=mode, uid=uid, gid=gid)
        for entry, uid, gid, mode in differing
    ]

    def act(host: "Host") -> None:
        host.files.set_all_attributes(wanted)

    paths = "1 path" if len(differing) == 1 else "%d paths" % len(differing)
    message = "Would have updated attributes of %s in the directory" % paths
    doing = "setting attributes of %s below %s" % (paths, top)
    return [Task(message, act, _changes(host, properties, differing), doing)]


def _changes(
    host: "HostReader", properties: Properties, differing: Sequence[Differing]
) -> List[Change]:
    """One record for each current value: the number of paths with it, and the first of them."""
    groups: Dict[Tuple[str, Any, Any], List[Entry]] = {}
    for one in reversed(differing):  # outer paths first
        node = one.entry.node
        if one.uid != node.uid:
            groups.setdefault(("owner", node.uid, str(properties.get("owner"))), []).append(
                one.entry
            )
        if one.gid != node.gid:
            groups.setdefault(("group", node.gid, str(properties.get("group"))), []).append(
                one.entry
            )
        if one.mode != node.mode:
            groups.setdefault(("mode", node.mode, one.mode), []).append(one.entry)
    names = {"owner": host.accounts.user_name, "group": host.accounts.group_name}
    changes = []
    for (what, before, after), entries in groups.items():
        if what == "mode":
            before, after = "%04o" % before, "%04o" % after
        else:
            before = names[what](before) or str(before)
        changes.append(Change("%s of %s" % (what, _some(entries)), before, after))
    return changes


def _some(entries: Sequence[Entry]) -> str:
    names = [shown(e.shown) + ("/" if e.node.kind == "directory" else "") for e in entries]
    text = ", ".join(names[:_NAMED])
    return text if len(names) <= _NAMED else "%s and %d more" % (text, len(names) - _NAMED)
