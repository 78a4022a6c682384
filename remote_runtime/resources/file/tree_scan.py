"""The contents of a directory, read in one walk (target). Links are not followed."""

import fnmatch
import os
from typing import TYPE_CHECKING, List, NamedTuple, Optional, Sequence, Set, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.resources.file.resource_paths import Others

if TYPE_CHECKING:
    from remote_runtime.host.file_ports import Node
    from remote_runtime.host.ports import HostReader

MAX_PATHS = 100000  # paths below one directory
MAX_DEPTH = 200  # of directories: each is reached step by step


class Scope(NamedTuple):
    """The purpose of a walk; ``keep`` are the patterns of paths that are not purged."""

    recurse: bool
    purge: bool
    keep: Sequence[str] = ()


class Entry(NamedTuple):
    """A path below a directory, relative and absolute; whether its attributes are managed, and
    whether it is removed unless something in it is kept."""

    shown: str
    path: str
    node: "Node"
    managed: bool
    purged: bool


class Walk(object):
    """One walk. Outer directories come before their contents.

    Other file systems are omitted, including bind mounts. ``ResourceError`` for too many paths, or
    too deep ones.
    """

    def __init__(
        self, host: "HostReader", top: str, *, real: str, node: "Node", scope: Scope
    ) -> None:
        """``real`` is the directory ``top`` with links resolved."""
        self._files = host.files
        self._top, self._node, self._scope = top.rstrip("/"), node, scope
        self._points = self._mounted(real)
        self.others = Others(host, top, real)
        self.entries: List[Entry] = []
        self.unknown: Optional[Unknowable] = None  # why a preview does not know all of them
        if scope.recurse:
            for path in sorted(self.others.named - self.others.owned):
                self._probe(self.full(path))  # which need not be there yet
        self._walk()

    def _mounted(self, real: str) -> Set[str]:
        points = self._files.mount_points()
        inside = real.rstrip("/") + "/"
        return {point[len(inside) :] for point in points if point.startswith(inside)}

    def _walk(self) -> None:
        waiting = [("", self._scope.recurse, self._scope.purge)]
        while waiting:  # not recursive: users who may write there decide the depth
            at, managed, purged = waiting.pop()
            inside = []
            for name, node in self._listing(at, managed, purged):
                path = "%s/%s" % (at, name) if at else name
                entry = self._entry(path, node, managed, purged)
                self.entries.append(entry)
                if len(self.entries) > MAX_PATHS:
                    raise self._too_large("more than %d paths" % MAX_PATHS)
                if entry.node.kind == "directory" and (entry.managed or entry.purged):
                    inside.append((path, entry.managed, entry.purged))
            if inside and at.count("/") >= MAX_DEPTH:
                raise self._too_large("more than %d levels of directories" % MAX_DEPTH)
            waiting += reversed(inside)

    def _too_large(self, what: str) -> ResourceError:
        return ResourceError(
            "%s contains %s; nothing was changed" % (self._top, what),
            kind="resource.file.tree",
            hint="manage directories further down, or use an exec",
        )

    def _listing(self, at: str, managed: bool, purged: bool) -> List[Tuple[str, "Node"]]:
        directory = self.full(at) if at else self._top + "/."  # the top may be a link to one
        self._probe(directory)
        try:
            return self._files.listing(directory)
        except Unknowable:
            return self._listed_one_by_one(at, managed, purged)
        except ResourceError:
            if at and self._files.lstat(directory) is None:
                return []  # another process has removed it in the meantime
            raise

    def _entry(self, path: str, node: "Node", managed: bool, purged: bool) -> Entry:
        full, others = self.full(path), self.others
        foreign = path in self._points or others.is_backup(path)
        if node.kind == "directory" and node.device != self._node.device:
            foreign = True
        managed = managed and not foreign and path not in others.owned
        if purged:
            purged = not foreign and path not in others.named and not _is_kept(path, self._scope)
        return Entry(path, full, node=node, managed=managed, purged=purged)

    def full(self, path: str) -> str:
        """The absolute path."""
        return "%s/%s" % (self._top, path)

    def _listed_one_by_one(self, at: str, managed: bool, purged: bool) -> List[Tuple[str, "Node"]]:
        """In a preview, return the same without unmanaged entries, regardless of their kind."""
        others, found = self.others, []
        for name in self._files.entries(self.full(at) if at else self._top + "/."):
            path = "%s/%s" % (at, name) if at else name
            if (managed and path not in others.owned) or (purged and path not in others.named):
                try:
                    node = self._files.lstat(self.full(path))
                except Unknowable as error:
                    self.unknown = self.unknown or error
                    continue
                if node is not None:
                    found.append((name, node))
        return found

    def _probe(self, directory: str) -> None:
        """Record whether earlier resources may create anything in a directory."""
        try:
            self._files.require_known(directory)
        except Unknowable as error:
            self.unknown = self.unknown or error


def _is_kept(path: str, scope: Scope) -> bool:
    """Return whether a pattern matches the relative path or, for a pattern without a slash, the
    name.
    """
    parts = path.split("/")
    for pattern in scope.keep:
        wanted = pattern.strip("/").split("/")
        if len(wanted) == 1 and "/" not in pattern:
            if fnmatch.fnmatchcase(parts[-1], pattern):
                return True
        elif len(wanted) == len(parts) and all(map(fnmatch.fnmatchcase, parts, wanted)):
            return True
    return False


def shown(path: str) -> str:
    """A path for people: bytes that are not UTF-8 are shown as escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
