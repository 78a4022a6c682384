"""The files that a scaffold removes: its own if it is absent, others if it purges (target)."""

from typing import Iterable, List, NamedTuple, Set

from remote_runtime.base import Change, Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.resources.scaffold.desired_files import Tree
from remote_runtime.resources.scaffold.tree_scan import TreeScan, display_path
from remote_runtime.system.paths import parents
from remote_runtime.tasks import Task

REMOVED = "Would have removed %d scaffold files"


class Extra(NamedTuple):
    """The tasks that remove files outside a scaffold: before it is written, and after."""

    first: List[Task]
    last: List[Task]


def of_extra(host: HostReader, scan: TreeScan, tree: Tree, message: str) -> Extra:
    """Remove the files that are not part of the scaffold, and directories that become empty."""
    extra = scan.extra(tree)
    if not extra:
        return Extra([], [])
    ours = directories_of(tree)
    staying = [p for p in extra if p not in ours and not host.files.is_removable(scan.full(p))]
    going = [path for path in extra if path not in set(staying)]
    tasks = [_removing(scan, path, message) for path in going]
    tidying = [_tidying(scan, _above(going) - ours)] if going else []
    return Extra(tasks + tidying, _trying(scan, staying, message))


def of_scaffold(host: HostReader, scan: TreeScan, tree: Tree) -> List[Task]:
    """Return tasks that remove the scaffold's files, then its empty directories, and finally the
    scaffold's directory.
    """
    there = [file.path for file in tree.files if _is_there(scan, file.path)]
    if scan.unmet and host.files.lstat(scan.root) is not None and not scan.exists:
        raise scan.unmet[0]  # the path itself is not a directory
    if not there:
        return []
    message = REMOVED % len(there)
    staying = [path for path in there if not host.files.is_removable(scan.full(path))]
    going = [path for path in there if path not in set(staying)]
    tasks = [_removing(scan, path, message) for path in going]
    tasks.append(_tidying(scan, directories_of(tree) | {""}))
    return tasks + _trying(scan, staying, message)


def of_empty(host: HostReader, scan: TreeScan, tree: Tree) -> List[Task]:
    """Remove the directories that an interrupted push left empty."""
    emptied: Set[str] = set()
    for path in _inner_first(directories_of(tree) | {""}):
        is_empty = scan.is_directory(path) and emptied.issuperset(scan.names(path))
        if is_empty and host.files.is_removable(scan.full(path)):
            emptied.add(path)
    changes = [
        Change(display_path(path) if path else scan.root, "present", "absent") for path in emptied
    ]
    noun = "directory" if len(emptied) == 1 else "directories"
    message = "Would have removed %d empty scaffold %s" % (len(emptied), noun)
    task = _tidying(scan, emptied)
    return [task._replace(message=message, changes=changes)] if emptied else []


def directories_of(tree: Tree) -> Set[str]:
    """Every directory of the scaffold below its own directory."""
    return set(tree.directories) | _above([file.path for file in tree.files] + tree.directories)


def _above(paths: Iterable[str]) -> Set[str]:
    return {above for path in paths for above in parents(path)}


def _is_there(scan: TreeScan, path: str) -> bool:
    node = scan.node(path)
    return node is not None and node.kind in ("file", "symlink")


def _removing(scan: TreeScan, path: str, message: str) -> Task:
    """Remove one file. A failure does not prevent the removal of others; the final check reports
    it.
    """
    changes = [Change(display_path(path), "present", "absent")]

    def remove(host: Host) -> None:
        try:
            _remove(host, scan, path)
        except ResourceError as error:
            host.tolerate(error)
            changes.clear()

    return Task(message, remove, changes)


def _trying(scan: TreeScan, paths: List[str], message: str) -> List[Task]:
    """Remove the paths whose removal is likely to fail last, and report a failure."""
    if not paths:
        return []

    def remove(host: Host) -> None:
        """Try to remove each path, then raise the error of the first one that remains."""
        failed: List[ResourceError] = []
        for path in paths:
            try:
                _remove(host, scan, path)
            except ResourceError as error:
                failed.append(error)
        if not failed:
            return
        try:
            for other in failed[1:]:
                host.tolerate(other)
        finally:
            raise failed[0]

    return [
        Task(message, remove, [Change(display_path(path), "present", "absent") for path in paths])
    ]


def _remove(host: Host, scan: TreeScan, path: str) -> None:
    scan.ensure_inside(host, path)
    host.files.unlink(scan.full(path))


def _tidying(scan: TreeScan, directories: Set[str]) -> Task:
    """Return the task that removes the directories that are empty by then."""

    def tidy(host: Host) -> None:
        for path in _inner_first(directories):
            _remove_empty(host, scan.full(path))

    return Task("", tidy)


def _inner_first(directories: Set[str]) -> List[str]:
    return sorted(directories, key=lambda path: (path != "", path.count("/"), path), reverse=True)


def _remove_empty(host: Host, path: str) -> None:
    try:
        node = host.files.lstat(path)
        if node is not None and node.kind == "directory" and not host.files.entries(path):
            host.files.rmdir(path)
    except Unknowable:
        raise
    except ResourceError as error:
        host.warn("%s is empty but was not removed: %s" % (display_path(path), error))
