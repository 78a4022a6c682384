"""The contents of a scaffold's directory (target). Symlinks in it are never followed."""

import os
from typing import Dict, List, Optional

from remote_runtime.base import Missing
from remote_runtime.errors import ResourceError
from remote_runtime.host.ports import HostReader, Node
from remote_runtime.resources.scaffold.desired_files import PlannedFile, Tree
from remote_runtime.system.paths import parents

MAX_PATHS = 100000  # paths in the directory
MAX_DEPTH = 400  # of directories: each is reached step by step
_PROPERTIES = ("", "ensure", "owner", "group", "mode", "provider")
_WORDS = {"symlink": "a symlink", "file": "a file", "directory": "a directory"}


class TreeScan(object):
    """One scan of a directory and of the scaffold's files in it; ``unmet`` is the reason if it
    cannot be created.

    With ``purge``, a file in place of a directory of the scaffold counts as removed.
    """

    def __init__(self, host: HostReader, root: str, purge: bool = False) -> None:
        self._files = host.files
        self.root = root
        self.unmet: List[Missing] = []
        self._purge = purge
        self._directories: Dict[str, bool] = {}
        above = parent_in_the_way(host, root)
        if above is not None:
            self.unmet.append(above)
        self.exists = above is None and self._is_directory("", root)

    def full(self, path: str) -> str:
        """The absolute path; that of the directory itself for ""."""
        return os.path.join(self.root, path) if path else self.root

    def node(self, path: str) -> Optional[Node]:
        """Return the node at the path of a file; None if nothing relevant is there."""
        if not self.directory(os.path.dirname(path)):
            return None
        return self._files.lstat(self.full(path))

    def directory(self, path: str) -> bool:
        """Return whether a directory exists, with all its parents."""
        if not path:
            return self.exists
        known = self._directories.get(path)
        if known is None:
            above = self.directory(os.path.dirname(path))
            known = above and self._is_directory(path, self.full(path))
            self._directories[path] = known
        return known

    def _is_directory(self, path: str, full: str) -> bool:
        status = self._files.lstat(full)
        if status is None:
            return False
        if status.kind == "directory":
            return True
        if self._purge and path:
            return False
        what = _WORDS.get(status.kind, "a device, socket or pipe")
        self.in_the_way(full, "%s is %s, not a directory" % (full, what))
        return False

    def in_the_way(self, full: str, message: str) -> None:
        """Record a path that must be removed first."""
        hint = "use another directory; ccm does not change the existing file"
        self.unmet.append(Missing(message, hint=hint))

    def refuse(self, wanted: PlannedFile, node: Node) -> None:
        """Record the obstacle to a file."""
        full = self.full(wanted.path)
        if node.kind == "directory":
            self.in_the_way(
                full, ("%s is a directory, but the scaffold has a file with this path") % full
            )
        elif node.kind == "other":
            self.in_the_way(full, "%s is a device, socket or pipe; it was not changed" % full)

    def ensure_inside(self, host: HostReader, path: str) -> None:
        """Check again, immediately before a change at ``path``, that no directory on the way has
        become a symlink: the owner of the directory could redirect the write.
        """
        for above in ["", *parents(path)]:
            full = self.full(above)
            status = host.files.lstat(full)
            if status is not None and status.kind != "directory":
                raise ResourceError(
                    "%s was replaced during the run" % full,
                    kind="resource.scaffold.moved",
                    hint="find out what changes it; nothing was written to it",
                )

    def missing_directories(self, wanted: List[str], files: List[PlannedFile]) -> List[str]:
        """The directories to create below this one, outermost first."""
        needed = set(wanted)
        for path in wanted + [file.path for file in files]:
            needed.update(parents(path))
        return sorted(path for path in needed if not self.directory(path))

    def extra(self, tree: Tree) -> List[str]:
        """The files that are not part of the scaffold, sorted; other file systems are skipped.
        ``ResourceError`` for too many paths, or too deep ones."""
        known = {file.path for file in tree.files}
        result: List[str] = []
        top = self._files.lstat(self.root) if self.exists else None
        waiting = [""] if self.exists else []  # users who may write there decide the depth
        seen = 0
        while waiting:
            names = self.names(waiting.pop())
            seen += len(names)
            if seen > MAX_PATHS or (names and names[0].count("/") > MAX_DEPTH):
                raise ResourceError(
                    "%s contains more than %d paths or %d levels of directories; nothing was"
                    " changed" % (self.root, MAX_PATHS, MAX_DEPTH),
                    kind="resource.scaffold.tree",
                    hint="find out what creates them, or manage a directory further down",
                )
            for path in names:
                node = self._files.lstat(self.full(path))
                if node is not None and node.kind != "directory":
                    result.append(path)
                elif node is not None and top is not None and node.device == top.device:
                    waiting.append(path)
        return sorted(path for path in result if path not in known)

    def is_directory(self, path: str) -> bool:
        """Return whether a directory is at this exact path, regardless of its parents."""
        status = self._files.lstat(self.full(path))
        return status is not None and status.kind == "directory"

    def names(self, path: str) -> List[str]:
        """Return the entries of a directory, as paths below the scaffold's."""
        full = self.full(path)
        return [os.path.join(path, name) for name in self._files.entries(full)]


def display_path(path: str) -> str:
    """A path in the directory for people: never the name of a property, and with bytes that are not
    UTF-8 as escapes.
    """
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "./" + text if text in _PROPERTIES else text


def parent_in_the_way(host: HostReader, root: str) -> Optional[Missing]:
    """Return the obstacle to the directory's creation: a parent that is not a directory."""
    above = os.path.dirname(root)
    while above != "/" and host.files.lstat(above) is None:
        above = os.path.dirname(above)
    status = host.files.stat(above)
    if status is not None and status.kind == "directory":
        return None
    return Missing(
        "%s is not a directory" % above,
        hint="use another directory; ccm does not change the existing file",
    )
