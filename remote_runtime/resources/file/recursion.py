"""Owner, group and modes of all that is below a directory (target)."""

from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.base import Action, Change, PathEffect, ResourceType
from remote_runtime.errors import ResourceError
from remote_runtime.resources.file import modes, wording
from remote_runtime.resources.file.tree import Entry, shown

if TYPE_CHECKING:
    from remote_runtime.system.paths import Status

_NAMED = 3  # paths of a record
_AS_ANOTHER = 0o6000
_SYNCED = 64  # paths that are synced one by one


class Wish(NamedTuple):
    """What is wanted below; None where that stays. An id is -1 for an account that is missing."""

    uid: Optional[int]
    gid: Optional[int]
    dir_mode: Optional[str]
    file_mode: Optional[int]


class Differing(NamedTuple):
    """A path that has other attributes than these."""

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
    """What is to be changed, inner paths first: a directory may belong to another user then."""
    found = []
    for entry in reversed(entries):
        status = entry.status
        if not entry.managed or status.kind == "other":
            continue
        uid = status.uid if wish.uid is None else wish.uid
        gid = status.gid if wish.gid is None else wish.gid
        given = (uid, gid) != (status.uid, status.gid)
        mode = _mode(wish, status, given)
        if given or mode != status.mode:
            found.append(Differing(entry, uid, gid, mode))
    return found


def _mode(wish: Wish, status: "Status", given: bool) -> int:
    """The mode that a path is to have; ``given``: it gets another owner or group."""
    if status.kind == "symlink":
        return status.mode
    if status.kind == "directory":
        if wish.dir_mode is None:
            return status.mode
        kept = status.mode & 0o7000 if modes.leaves_special_bits(str(wish.dir_mode)) else 0
        return modes.directory_mode(modes.parse_mode(str(wish.dir_mode))) | kept
    if wish.file_mode is not None:
        return wish.file_mode
    # A program of one user must not become one that runs as another.
    return status.mode & ~_AS_ANOTHER if given else status.mode


def actions(resource: ResourceType, found: Sequence[Differing]) -> List[Action]:
    """What sets the attributes of all these."""
    if not found:
        return []
    done: List[PathEffect] = []
    files, context = resource.context.files, resource.context

    def call() -> None:
        """Set them one by one; what is gone meanwhile needs none."""
        context.progress("setting attributes of %d paths below %s" % (len(found), resource.name))
        for one in found:
            context.check_cancelled()
            try:
                _set(resource, one, len(found) <= _SYNCED)
            except ResourceError:
                if files.status(one.entry.path) is not None:
                    raise  # else another process has removed it meanwhile
        if len(found) > _SYNCED:
            files.sync_all()

    def rehearse() -> None:
        for one in found:
            place = files.obstacles(one.entry.path)
            if one.entry.status.kind == "symlink":
                place.changing_link(one.uid, one.gid)
            else:
                place.changing(one.uid, one.gid, one.mode)
            done.append(_effect(resource, one))

    effects = [_effect(resource, one) for one in found] if context.noop else []
    return [
        Action(
            wording.BELOW % len(found),
            call,
            changes=_changes(resource, found),
            effects=effects,
            rehearse=rehearse,
            unfinished=done,
        )
    ]


def _set(resource: ResourceType, one: Differing, synced: bool) -> None:
    path, files = one.entry.path, resource.context.files
    if one.entry.status.kind == "symlink":
        files.set_link_owner(path, one.uid, one.gid)
    else:
        attributes = one.uid, one.gid, one.mode
        if synced:
            files.set_attributes(path, *attributes)
        else:
            files.set_one_of_many(path, attributes)


def _effect(resource: ResourceType, one: Differing) -> PathEffect:
    entry = one.entry
    kind, target = entry.status.kind, ""
    if kind == "symlink":
        target = resource.context.files.link(entry.path)
    return PathEffect(entry.path, kind, mode=one.mode, uid=one.uid, gid=one.gid, target=target)


def _changes(resource: ResourceType, found: Sequence[Differing]) -> List[Change]:
    """One record for each value that paths have now: how many they are, and the first of them."""
    accounts, given = resource.context.accounts, resource.properties
    groups: Dict[Tuple[str, Any, Any], List[Entry]] = {}
    for one in reversed(found):  # outer paths first
        status = one.entry.status
        if one.uid != status.uid:
            groups.setdefault(("owner", status.uid, str(given.get("owner"))), []).append(one.entry)
        if one.gid != status.gid:
            groups.setdefault(("group", status.gid, str(given.get("group"))), []).append(one.entry)
        if one.mode != status.mode:
            groups.setdefault(("mode", status.mode, one.mode), []).append(one.entry)
    names = {"owner": accounts.user_name, "group": accounts.group_name}
    changes = []
    for (what, before, after), entries in groups.items():
        if what == "mode":
            before, after = "%04o" % before, "%04o" % after
        else:
            before = names[what](before)
        changes.append(Change("%s of %s" % (what, _some(entries)), before, after))
    return changes


def _some(entries: Sequence[Entry]) -> str:
    names = [shown(e.shown) + ("/" if e.status.kind == "directory" else "") for e in entries]
    text = ", ".join(names[:_NAMED])
    return text if len(names) <= _NAMED else "%s and %d more" % (text, len(names) - _NAMED)
