"""The scaffold type (target; ``check`` on both sides)."""

import os
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Tuple

from remote_runtime.base import Change, Missing, Properties
from remote_runtime.changes import HASHED, differs_by_size
from remote_runtime.errors import ResourceError
from remote_runtime.resources.scaffold import removal, rules
from remote_runtime.resources.scaffold.desired_files import PlannedFile, Tree, entries, tree_of
from remote_runtime.resources.scaffold.post_commands import PostCommands
from remote_runtime.resources.scaffold.tree_scan import TreeScan, display_path, parent_in_the_way
from remote_runtime.system.paths import walk
from remote_runtime.tasks import BlobNeed, NewContent, PathTaskStateType, Task

if TYPE_CHECKING:
    from remote_runtime.host.ports import Host, HostReader, Node

_NEW = 0o644
_EXECUTE = 0o111
_CHANGED = "Would have changed %d scaffold files"

CurrentState = Optional[Mapping[str, Any]]


class Resource(PathTaskStateType):
    """One directory of rendered files."""

    tree = True

    def __init__(self, name: str, properties: Properties) -> None:
        super().__init__(name, properties)
        self._processing = PostCommands(properties, name)
        self._unmet: List[Missing] = []
        self._files: List[PlannedFile] = []  # files that commands have yet to create
        self._tidied = False

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        return rules.problems(name, properties)

    def travels(self, host: "HostReader") -> List[BlobNeed]:
        """See the base class. Return files whose size or hash differs, and those that a command
        must process before comparison.
        """
        result: List[BlobNeed] = []
        for entry in entries(self.properties.get("source")) if self.ensure != "absent" else ():
            full = os.path.join(self.name, entry["path"])
            try:
                node = host.files.lstat(full)
                same = node is not None and (node.kind, node.size) == ("file", entry["size"])
                if same and host.files.digest(full, known=node) == entry["$blob"]:
                    continue
            except ResourceError:
                continue  # reported when the resource runs
            mode = file_mode(node, bool(entry.get("executable")))
            new = NewContent(full, host.contents.of(entry), mode, node)
            result.append(BlobNeed(entry["$blob"], self._processing.matches(entry["path"]), new))
        return result

    def read(self, host: "HostReader") -> CurrentState:
        above = parent_in_the_way(host, self.name)
        node = None if above is not None else host.files.lstat(self.name)
        return None if node is None else {"kind": node.kind}

    def left(self, host: "HostReader", state: CurrentState = None) -> Mapping[str, Any]:
        """See the base class. The state includes its files and, for one that purges, the names of
        all files.
        """
        contents = []
        for entry in entries(self.properties.get("source")):
            full = os.path.join(self.name, entry["path"])
            node = host.files.lstat(full)
            there = node is not None and node.kind == "file"
            same = node is not None and there and not differs_by_size(node.size, entry["size"])
            contents.append((entry["path"], host.files.digest(full) if same else ""))
        state = {"files": sorted(contents)}
        if self.properties.get("purge") is True:
            names = sorted([top, sorted(names)] for top, _, names in walk(self.name))
            return dict(state, names=names)
        return state

    def require(self, host: "HostReader", state: CurrentState) -> None:
        for missing in self._unmet:
            raise missing
        self._processing.require(host, self._files)

    def tasks(self, host: "HostReader", state: CurrentState) -> List[Task]:
        """See the base class. Removes extra files, then creates directories, then writes the
        contents.
        """
        tree = tree_of(self.properties.get("source"), host)
        purge = self.properties.get("purge") is True
        scan = TreeScan(host, self.name, purge)
        if self.ensure == "absent":
            return self._removing(host, scan, tree)
        self._files = tree.files
        try:
            self._processing.require(host, tree.files)
            ready = not scan.unmet
        except Missing:
            ready = False
        extra = removal.of_extra(host, scan, tree, _CHANGED) if purge else removal.Extra([], [])
        tasks = extra.first + self._directories(scan, tree)
        tasks += self._contents(host, scan, tree, ready) + extra.last
        self._unmet = scan.unmet
        if not tasks:  # in a preview later resources may read what would be written
            self._processing.discard()
        return _counted(tasks)

    def _removing(self, host: "HostReader", scan: TreeScan, tree: Tree) -> List[Task]:
        """See the base class. Empty directories are tried once; those that remain were already
        reported.
        """
        tasks = removal.of_scaffold(host, scan, tree)
        if not tasks and not self._tidied:
            tasks = removal.of_empty(host, scan, tree)
        self._tidied = True
        return tasks

    def unachieved(self, changes: Sequence[Change]) -> str:
        """See the base class. Names at most three paths."""
        names = [change.what for change in changes]
        if len(names) > 3:
            names[3:] = ["%d more" % (len(names) - 3)]
        return "still different: " + ", ".join(names) if names else ""

    def _directories(self, scan: TreeScan, tree: Tree) -> List[Task]:
        missing_directories = scan.missing_directories(tree.directories, tree.files)
        missing = missing_directories if scan.exists else ["", *missing_directories]
        return [self._directory(scan, path) for path in missing]

    def _directory(self, scan: TreeScan, path: str) -> Task:
        def create(host: "Host") -> None:
            scan.ensure_inside(host, path)
            host.files.make_directory(scan.full(path), 0o755)

        change = Change(display_path(path), "absent", "directory")
        return Task("Would have created directory", create, [change])

    def _contents(self, host: "HostReader", scan: TreeScan, tree: Tree, ready: bool) -> List[Task]:
        """Return the tasks that put the files in place; ``ready``: the commands can run."""
        files = [self._processing(host, one) if ready else one for one in tree.files]
        tasks = [self._file(host, scan, wanted) for wanted in files]
        return [task for task in tasks if task is not None]

    def _file(self, host: "HostReader", scan: TreeScan, wanted: PlannedFile) -> Optional[Task]:
        node = scan.node(wanted.path)
        if node is not None:
            scan.refuse(wanted, node)
        full, content = scan.full(wanted.path), wanted.content
        mode = file_mode(node, wanted.executable)
        before: Optional[str] = None if node is None else node.kind
        is_file = node is not None and node.kind == "file"
        if node is not None and is_file:
            before = "%d bytes" % node.size
            if not differs_by_size(node.size, content.size):
                before = HASHED + host.files.digest(full, known=node)
            if before == HASHED + content.sha256:
                return self._mode(scan, wanted.path, node, mode)
        uid, gid = (node.uid, node.gid) if node is not None and is_file else (-1, -1)

        def put(host: "Host") -> None:
            scan.ensure_inside(host, wanted.path)
            host.files.put(full, content, mode=mode, uid=uid, gid=gid)

        change = Change(display_path(wanted.path), before, HASHED + content.sha256)
        new = NewContent(full, content, mode, node)
        return Task(_CHANGED, put, [change], "writing %s" % full, new)

    def _mode(self, scan: TreeScan, path: str, node: "Node", mode: int) -> Optional[Task]:
        if node.mode & 0o777 == mode:
            return None

        def set_mode(host: "Host") -> None:
            scan.ensure_inside(host, path)
            host.files.set_mode(scan.full(path), mode)

        return Task(
            _CHANGED, set_mode, [Change(display_path(path), "%04o" % node.mode, "%04o" % mode)]
        )


def file_mode(node: "Optional[Node]", executable: bool) -> int:
    """The desired permissions of a file: the current ones, with or without those to execute it."""
    mode = node.mode & 0o777 if node is not None and node.kind == "file" else _NEW
    if not executable:
        return mode & ~_EXECUTE
    return mode if mode & _EXECUTE else mode | (mode & 0o444) >> 2


def _counted(tasks: List[Task]) -> List[Task]:
    """The tasks with the number of files in their message; directories are not counted."""
    count = sum(len(task.changes) for task in tasks if task.message == _CHANGED)
    if not count:
        return tasks
    message = _CHANGED % count
    return [task._replace(message=message if task.message else "") for task in tasks]
