"""What a scaffold removes: its own files when it is absent, others when it purges (target)."""

from typing import Iterable, List, NamedTuple, Set

from remote_runtime.base import Action, Change, PathEffect, ResourceType
from remote_runtime.errors import ResourceError
from remote_runtime.resources.scaffold import wording
from remote_runtime.resources.scaffold.tree import Tree, parents
from remote_runtime.resources.scaffold.tree_scan import Look, shown


class Extra(NamedTuple):
    """What removes the files that are not part of a scaffold: before it is written, and after."""

    first: List[Action]
    last: List[Action]


def of_extra(resource: ResourceType, look: Look, tree: Tree) -> Extra:
    """Remove the files that are not part of the scaffold, and the directories that leaves empty."""
    extra = look.extra(tree)
    if not extra:
        return Extra([], [])
    ours = directories_of(tree)
    staying = [path for path in extra if path not in ours and _stays(resource, look.full(path))]
    going = [path for path in extra if path not in set(staying)]
    actions = [_removing(resource, look, path, wording.CHANGED) for path in going]
    tidying = [_tidying(resource, look, _above(going) - ours, going)] if going else []
    return Extra(actions + tidying, _trying(resource, look, staying, wording.CHANGED))


def of_scaffold(resource: ResourceType, look: Look, tree: Tree) -> List[Action]:
    """Remove the scaffold's files, then what is empty of its directories, at last its own."""
    there = [file.path for file in tree.files if _is_there(look, file.path)]
    if look.unmet and resource.context.files.is_there(look.root) and not look.exists:
        raise look.unmet[0]  # what is at the path itself is no directory
    if not there:
        return _of_empty(resource, look, directories_of(tree) | {""})
    message = wording.REMOVED % len(there)
    staying = [path for path in there if _stays(resource, look.full(path))]
    going = [path for path in there if path not in set(staying)]
    actions = [_removing(resource, look, path, message) for path in going]
    actions.append(_tidying(resource, look, directories_of(tree) | {""}, going))
    return actions + _trying(resource, look, staying, message)


def _of_empty(resource: ResourceType, look: Look, directories: Set[str]) -> List[Action]:
    """Remove the directories that a push has emptied that was cut short."""
    emptied = _emptied(resource, look, _inner_first(directories), [])
    changed = resource.context.changed_paths
    if not emptied or any(path.startswith(look.root + "/") for path in changed):
        return []  # none is there, or this run has tried
    action = _tidying(resource, look, set(emptied), [])
    changes = [Change(shown(path) if path else look.root, "present", "absent") for path in emptied]
    return [action._replace(message=wording.DIRECTORIES_REMOVED % len(emptied), changes=changes)]


def directories_of(tree: Tree) -> Set[str]:
    """Every directory of the scaffold below its own."""
    return set(tree.directories) | _above([file.path for file in tree.files] + tree.directories)


def _above(paths: Iterable[str]) -> Set[str]:
    return {above for path in paths for above in parents(path)}


def _is_there(look: Look, path: str) -> bool:
    status = look.status(path)
    return status is not None and status.kind in ("file", "symlink")


def _removing(resource: ResourceType, look: Look, path: str, message: str) -> Action:
    """Remove one file. One that cannot be removed keeps no other from being removed; the look
    afterwards finds it."""
    changes = [Change(shown(path), "present", "absent")]

    def remove() -> None:
        try:
            _remove(resource, look, path)
        except ResourceError as error:
            changes.clear()
            resource.context.notice("error", str(error))

    def rehearse() -> None:
        resource.context.files.obstacles(look.full(path)).removing()

    effects = [PathEffect(look.full(path), "absent")]
    return Action(message, remove, changes=changes, effects=effects, rehearse=rehearse)


def _trying(resource: ResourceType, look: Look, paths: List[str], message: str) -> List[Action]:
    """Try to remove what seems not to let itself be removed, once all else is done, and fail."""
    if not paths:
        return []

    def remove() -> None:
        failed = []
        for path in paths:
            try:
                _remove(resource, look, path)
            except ResourceError as error:
                failed.append(error)
        for other in failed[1:]:
            resource.context.notice("error", str(other))
        if failed:
            raise failed[0]

    def rehearse() -> None:
        for path in paths:
            resource.context.files.obstacles(look.full(path)).removing()

    changes = [Change(shown(path), "present", "absent") for path in paths]
    effects = [PathEffect(look.full(path), "absent") for path in paths]
    return [Action(message, remove, changes=changes, effects=effects, rehearse=rehearse)]


def _remove(resource: ResourceType, look: Look, path: str) -> None:
    full = look.full(path)
    look.ensure_inside(path)
    if resource.context.files.status(full) is not None:  # somebody else may have been here
        resource.provider.remove(full, False)
    resource.context.changed_paths.add(full)


def _tidying(
    resource: ResourceType, look: Look, directories: Set[str], removed: List[str]
) -> Action:
    """Remove those of the directories that are empty once what is ``removed`` is gone."""
    inner_first = _inner_first(directories)

    def tidy() -> None:
        for path in inner_first:
            _remove_empty(resource, look.full(path) if path else look.root)

    emptied = _emptied(resource, look, inner_first, removed)
    effects = [PathEffect(look.full(p) if p else look.root, "absent") for p in emptied]
    return Action("", tidy, effects=effects)


def _inner_first(directories: Set[str]) -> List[str]:
    return sorted(directories, key=lambda path: (path != "", path.count("/"), path), reverse=True)


def _emptied(
    resource: ResourceType, look: Look, directories: List[str], removed: List[str]
) -> List[str]:
    """The directories, inner ones first, that nothing is left in and that do not stay."""
    gone = set(removed)
    emptied = []
    for path in directories:
        if look.is_directory(path) and all(name in gone for name in look.names(path)):
            if resource.context.noop and _stays(resource, look.full(path) if path else look.root):
                continue
            gone.add(path)
            emptied.append(path)
    return emptied


def _stays(resource: ResourceType, directory: str) -> bool:
    try:
        resource.context.files.obstacles(directory).removing()
    except ResourceError:
        return True
    except OSError:  # whose directory it is has taken it away meanwhile: the removal will see
        return False
    return False


def _remove_empty(resource: ResourceType, path: str) -> None:
    try:
        files = resource.context.files
        found = files.status(path)
        if found is not None and found.kind == "directory" and not files.entries(path):
            resource.provider.remove(path, False)
            resource.context.changed_paths.add(path)
    except ResourceError as error:
        resource.context.notice(
            "warning", "%s is empty but was not removed: %s" % (shown(path), error)
        )
