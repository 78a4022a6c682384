"""Walks paths over the planned state, by the rules of ``system/walk`` (target; in previews only).

``FileOverlay.find`` resolves a path. This module checks whether the run would follow it: we need
access to each directory on the way, and the owner of each symlink and the writers of its directory
must be trusted.
"""

import errno
import os
import stat
from typing import Callable, NamedTuple, Optional

from remote_runtime.changes import Unknowable
from remote_runtime.overlay.file_overlay import FileOverlay
from remote_runtime.overlay.planned_nodes import UNTOLD, Node
from remote_runtime.system.errno_messages import failure
from remote_runtime.system.paths import MAX_LINKS
from remote_runtime.system.walk import (
    Link,
    dangling_link_error,
    foreign_link_error,
    is_shared,
    untrusted_link_error,
)


class PlannedPath(NamedTuple):
    """The planned node at a path without links. ``hidden``: the host's own content below it is
    ignored.

    ``by`` is the link of another user that led to a directory, if any.
    """

    path: str
    kind: str
    uid: int
    gid: int
    mode: int
    target: str = ""
    node: Optional[Node] = None
    hidden: bool = False
    by: Optional[Link] = None

    def is_shared(self, sticky: bool) -> bool:
        """See ``walk.is_shared``."""
        return is_shared(self.uid, self.gid, mode=self.mode, path=self.path, sticky=sticky)


class _Place(NamedTuple):
    directory: PlannedPath
    name: str
    by: Optional[Link] = None


class PlannedWalk(object):
    """Resolves paths, one walk at a time. ``rights`` returns our rights in a directory by its
    planned attributes, as in ``ours``; None if the host decides.
    """

    def __init__(self, layer: FileOverlay, rights: Callable[[str], Optional[int]]) -> None:
        self._layer, self._rights = layer, rights
        self._links = 0

    def require_reached(self, path: str, follow: bool, action: str) -> None:
        """Raise ``ResourceError`` if the walk to a path is refused; a missing path counts as
        reached.

        ``action`` is the purpose.
        """
        try:
            place = self._place(path, follow)
            there = self._look(place.directory, place.name)
            if place.by is not None:
                _admit(place.by, there)
        except FileNotFoundError:
            return
        except OSError as error:
            raise failure(action, path, error) from error

    def require_end(self, path: str) -> None:
        """Raise ``ResourceError`` if the machine would refuse the resolved form of this path, see
        ``Files.real``.
        """
        try:
            place = self._place(path, follow=True)
            try:
                there = self._look(place.directory, place.name)
            except FileNotFoundError:
                if place.by is None:
                    return
                nothing = os.path.join(place.directory.path, place.name)
                _admit(place.by, place.directory._replace(path=nothing))
                raise dangling_link_error(place.by, nothing) from None
            if place.by is not None:
                _admit(place.by, there)
        except OSError as error:
            raise failure("inspect", path, error) from error

    def directory_of(self, path: str) -> PlannedPath:
        """Return the directory that contains a path without links."""
        return self._walk(self._root(), os.path.dirname(path))

    def _place(self, path: str, follow: bool) -> _Place:
        above, name = os.path.split(path)
        self._links = 0
        place = _Place(self._walk(self._root(), above), name or ".")
        self._links = 0
        while follow:
            try:
                there = self._look(place.directory, place.name)
            except FileNotFoundError:
                break  # the end need not be there
            if there.kind != "symlink":
                break
            place = self._behind(place, there)
        return place

    def _root(self) -> PlannedPath:
        status = os.stat("/")
        return _found("/", "directory", status)

    def _walk(self, directory: PlannedPath, path: str) -> PlannedPath:
        for name in path.split("/"):
            if name not in ("", "."):
                directory = self._step(directory, name)
        return directory

    def _step(self, directory: PlannedPath, name: str) -> PlannedPath:
        there = self._look(directory, name)
        if there.kind == "directory":
            _admit(directory.by, there)
            return there._replace(by=directory.by)
        if there.kind != "symlink":
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        behind = self._behind(_Place(directory, name), there)
        reached = self._walk(behind.directory._replace(by=None), behind.name)
        _admit(behind.by, reached)
        return reached._replace(by=behind.by)

    def _behind(self, place: _Place, there: PlannedPath) -> _Place:
        """Return the target of a link. ``ResourceError`` for an untrusted one."""
        self._links += 1
        if self._links > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        directory, link = place.directory, Link(there.path, there.uid)
        trusted = there.uid in (0, os.geteuid())
        if trusted and directory.is_shared(sticky=True):
            raise untrusted_link_error(link, there.target, directory.path, directory.uid)
        before = place.by or directory.by
        if before is not None and before.owner != there.uid:
            raise foreign_link_error(before, there.path, there.uid)
        above, name = os.path.split(there.target.rstrip("/") or "/")
        base = self._root() if there.target.startswith("/") else directory._replace(by=None)
        return _Place(self._walk(base, above), name or ".", None if trusted else link)

    def _look(self, directory: PlannedPath, name: str) -> PlannedPath:
        """Return the node of a name in a directory. ``OSError`` as from the system."""
        self._require_entered(directory)
        path, hidden = os.path.join(directory.path, name), directory.hidden
        if name == "..":
            path = os.path.dirname(directory.path)
            hidden = self._layer.is_hidden(path)
        elif name == ".":
            return directory
        node = self._layer.node(path, hidden)
        if node is not None and node.mount is not None and node.mount.source:
            path = self._layer.find(node.mount.source, follow=True).path
            hidden = self._layer.is_hidden(path)
            node = self._layer.node(path, hidden)
        if node is not None:
            return _planned(path, node)
        if hidden:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return self._of_host(directory, path)

    def _of_host(self, directory: PlannedPath, path: str) -> PlannedPath:
        try:
            status = os.lstat(path)
        except PermissionError as error:
            if directory.node is None:
                raise
            raise closed(directory.path, directory.node) from error
        kind, target = "file", ""
        if stat.S_ISLNK(status.st_mode):
            kind, target = "symlink", os.readlink(path)
        elif stat.S_ISDIR(status.st_mode):
            kind = "directory"
        return _found(path, kind, status, target)

    def _require_entered(self, directory: PlannedPath) -> None:
        """Raise ``PermissionError`` for a directory that we will not be able to enter by then."""
        if os.geteuid() == 0:
            return
        rights = self._rights(directory.path)
        entered = directory.hidden or os.access(directory.path, os.X_OK, effective_ids=True)
        if not (entered if rights is None else rights & 1):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def closed(path: str, node: Node) -> Unknowable:
    """Return the error for a path that is invisible until we can enter a directory."""
    return Unknowable(
        "the contents of %s are not known until %s makes it accessible" % (path, node.by)
    )


def _found(path: str, kind: str, status: os.stat_result, target: str = "") -> PlannedPath:
    return PlannedPath(
        path,
        kind,
        uid=status.st_uid,
        gid=status.st_gid,
        mode=stat.S_IMODE(status.st_mode),
        target=target,
    )


def _planned(path: str, node: Node) -> PlannedPath:
    if node.kind == "absent":
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if node.kind == UNTOLD:
        raise Unknowable("the result of %s at %s is not known" % (node.by, path))
    return PlannedPath(
        path,
        node.kind,
        uid=node.uid,
        gid=node.gid,
        mode=node.mode,
        target=node.target,
        node=node,
        hidden=node.opaque,
    )


def _admit(by: Optional[Link], there: PlannedPath) -> None:
    if by is not None and there.uid != by.owner:
        raise foreign_link_error(by, there.path, there.uid)
