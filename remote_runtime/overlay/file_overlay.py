"""The paths with predicted changes, laid over those of the host (target)."""

import os
import stat
from typing import Dict, Iterator, List, Optional, Tuple

from remote_runtime.effects import MountEffect, PathEffect
from remote_runtime.errors import ResourceError
from remote_runtime.overlay.path_aliases import Mounts
from remote_runtime.overlay.planned_content import CachedContent, HostContent, MemoryBudget
from remote_runtime.overlay.planned_nodes import (
    UNTOLD,
    Node,
    ResolvedPath,
    kind_at,
    shared,
    space_used_at,
    undoes,
)
from remote_runtime.system.files import Files
from remote_runtime.system.paths import MAX_LINKS, is_within
from remote_runtime.system.preconditions import PAGE


class FileOverlay(object):
    """Planned nodes, by their paths without links."""

    def __init__(self, files: Files, mounts: Optional[Mounts] = None) -> None:
        self._files = files
        self._mounts = mounts or Mounts()
        self._room = MemoryBudget()
        self.nodes: Dict[str, Node] = {}
        self.remounted: Dict[str, MountEffect] = {}  # mounts of the host with other options
        self._inodes: Dict[Tuple[int, int], Node] = {}  # files of the host with several names
        self._inside: Dict[str, Dict[str, None]] = {}  # of a directory what leads to a node, or did
        self._shares: Dict[str, Tuple[int, int, int]] = {}  # of nodes: device, bytes, files
        self._sums: Dict[int, Tuple[int, int]] = {}  # of the shares, by device
        self._uncounted: Dict[str, None] = {}  # the nodes without a share
        self._points: Dict[str, None] = {}  # the nodes where something is mounted
        self.unmounted: Dict[str, None] = {}  # mount points of the host that are none by then

    def copy(self) -> "FileOverlay":
        """Return an independent copy."""
        self._count()  # once for all copies
        other = FileOverlay(self._files, self._mounts)
        other.nodes, other.remounted = dict(self.nodes), dict(self.remounted)
        other._inodes = dict(self._inodes)
        other._inside = {directory: dict(names) for directory, names in self._inside.items()}
        other._shares, other._sums = dict(self._shares), dict(self._sums)
        other._points, other.unmounted = dict(self._points), dict(self.unmounted)
        return other

    def _set_node(self, path: str, node: Node) -> None:
        self._uncount(path)
        self.nodes[path] = node
        self._uncounted[path] = None
        if node.mount is not None:
            self._points[path] = None
        while path.strip("/"):
            directory, name = os.path.split(path)
            names = self._inside.setdefault(directory, {})
            if name in names:
                return
            names[name] = None
            path = directory

    def _drop(self, path: str) -> None:
        """Drop a node."""
        self._uncount(path)
        del self.nodes[path]

    def _uncount(self, path: str) -> None:
        """Stop counting a node, and what is mounted there."""
        self._points.pop(path, None)
        self._uncounted.pop(path, None)
        if path in self._shares:
            self._add_usage(self._shares.pop(path), -1)

    def _add_usage(self, share: Tuple[int, int, int], sign: int) -> None:
        device, size, count = share
        sizes, counts = self._sums.get(device, (0, 0))
        self._sums[device] = (sizes + sign * size, counts + sign * count)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is planned."""
        return not (self.nodes or self.remounted)

    def find(self, path: str, follow: bool) -> ResolvedPath:
        """Resolve a path through the layer and the host; with ``follow``, a link at its end is
        followed, too.
        """
        waiting = [part for part in reversed(path.split("/")) if part not in ("", ".")]
        at, hidden, laid, since = "/", False, False, 0
        links: List[Tuple[str, int]] = []
        while waiting:
            part = waiting.pop()
            if part == "..":
                if self._is_file(at, hidden):
                    return ResolvedPath(at, None, False, laid, since, links=tuple(links))
                at = os.path.dirname(at)
                hidden, since = self.is_hidden(at), self._settled_since(at)
                continue
            full = at.rstrip("/") + "/" + part
            node = self.nodes.get(full)
            if node is not None:
                laid, since = True, max(since, node.counts_since(bool(waiting)))
            if node is None and not hidden and not waiting:
                node = self._node_of_other_name(full)
                laid = laid or node is not None
            if node is None and not hidden and not waiting and not follow:
                return ResolvedPath(full, None, True, laid, since, links=tuple(links))
            kind, target = kind_at(node, full, hidden)
            if node is not None and node.mount is not None and node.mount.source:
                kind, target = "mount", node.mount.source
            goes_on = kind == "symlink" and (waiting or follow)
            if (goes_on or kind == "mount") and len(links) < MAX_LINKS:
                links.append((full, node.since if node is not None else since))
                waiting += [p for p in reversed(target.split("/")) if p not in ("", ".")]
                if target.startswith("/"):
                    at, hidden = "/", False
                since = self._settled_since(at)  # a new link does not settle its target
                continue
            hidden = node.opaque if node is not None else hidden
            if not waiting:
                ends = kind != "file" or not path.endswith("/")
                free = node is None and not hidden and ends
                node = node if ends else None
                return ResolvedPath(full, node, free, laid, since, links=tuple(links))
            if (kind != "directory" and node is not None) or kind == "absent":
                rest = os.path.normpath(os.path.join(full, *reversed(waiting)))
                gone = node is not None or hidden or ".." in waiting
                within = node if kind == UNTOLD else None
                below = node is not None and kind == "file"
                return ResolvedPath(rest, None, not gone, laid, since, within, tuple(links), below)
            at = full
        free = not self.is_hidden(at)
        return ResolvedPath(at, self.nodes.get(at), free, laid, since, links=tuple(links))

    def exists(self, path: str) -> bool:
        """Return whether something is at a path, resolved as in a shell; no read is recorded."""
        node = self._current(self.find(path, follow=True))
        return node is not None and node.kind not in ("absent", "symlink")

    def _settled_since(self, path: str) -> int:
        """Return the time since when a directory without links has a known content."""
        since = 0
        while path.strip("/"):
            node = self.nodes.get(path)
            since = since if node is None else max(since, node.counts_since(True))
            path = os.path.dirname(path)
        return since

    def _is_file(self, path: str, hidden: bool) -> bool:
        """Return whether there is a file at a path without links."""
        kind, _ = kind_at(self.nodes.get(path), path, hidden)
        return kind == "file"

    def node(self, path: str, hidden: bool) -> Optional[Node]:
        """Return the planned node at a path without links; ``hidden``: the host's own node is
        ignored."""
        node = self.nodes.get(path)
        return self._node_of_other_name(path) if node is None and not hidden else node

    def at(self, path: str) -> ResolvedPath:
        """Return what ``find`` does for a path without links, but no times."""
        hidden = self.is_hidden(path)
        node = self.node(path, hidden)
        return ResolvedPath(path, node, node is None and not hidden, node is not None, 0)

    def is_hidden(self, path: str) -> bool:
        """Return whether the host's content below a path without links is ignored."""
        while path.strip("/"):
            node = self.nodes.get(path)
            if node is not None:
                return node.opaque
            path = path.rpartition("/")[0]
        return False

    def mount(self, effect: MountEffect, since: int, by: str) -> None:
        """Mount a file system over a directory, or unmount it; earlier plans below it
        are dropped.
        """
        path = self._resolve_parent(effect.path)
        self._drop_below(path)
        self.remounted.pop(path, None)
        old = self.nodes.get(path)
        if effect.present:
            node = Node("directory", effect.mode, effect.uid, effect.gid, since=since, by=by)
            self._set_node(path, node._replace(device=-since, once=True, mount=effect))
            self._record_parents(os.path.dirname(path), since, by)
        elif old is not None and old.mount is not None:
            self._drop(path)
        else:
            self.unmounted[path] = None

    def _resolve_parent(self, path: str) -> str:
        """Return a path without links in its parents."""
        directory, name = os.path.split(path)
        return os.path.join(self.find(directory, follow=True).path, name)

    def mounted(self, path: str) -> Optional[MountEffect]:
        """Return the planned file system that contains a path without links; None for one of the
        host.
        """
        while self._points and path.strip("/"):
            if path in self._points:
                return self.nodes[path].mount
            path = os.path.dirname(path)
        return None

    def remount(self, effect: MountEffect) -> None:
        """Record the options of a file system of the host."""
        self.remounted[self._resolve_parent(effect.path)] = effect

    def limits(self, resolved: ResolvedPath) -> Iterator[MountEffect]:
        """The planned mounts whose options limit what can be done at a path."""
        path = resolved.path
        mounted = self.mounted(path)
        if mounted is not None:
            yield mounted
        elif self.remounted:
            points = self._files.mount_points()
            while path.strip("/") and path not in points:
                path = os.path.dirname(path)
            if path in self.remounted:
                yield self.remounted[path]
        for number, (link, _) in enumerate(resolved.links):
            node = self.nodes.get(link)
            if node is not None and node.mount is not None and node.mount.source:
                inside = is_within(resolved.path, self.find(node.mount.source, True).path)
                if inside and not any(
                    self._is_absolute_link(one) for one, _ in resolved.links[number:]
                ):
                    yield node.mount

    def _is_absolute_link(self, path: str) -> bool:
        """Return whether an absolute symlink at a path without links leads out of its mount."""
        kind, target = kind_at(self.nodes.get(path), path, hidden=False)
        return kind == "symlink" and target.startswith("/")

    def others(self, path: str) -> List[str]:
        """Return the other paths of the host, without links, for the same file or directory."""
        return [] if self.mounted(path) else self._mounts.others(path)

    def is_mount_point(self, path: str) -> bool:
        """Return whether the host has a mount at a path without links."""
        return self._mounts.is_point(path)

    def mount_points(self, path: str) -> List[str]:
        """Return the planned mount points at a path and below it."""
        if not self._points:
            return []
        place = self._resolve_parent(path)
        return sorted(point for point in self._points if is_within(point, place))

    def below(self, path: str) -> List[str]:
        """Return the names directly below a directory for which the layer has something."""
        names = self._inside.get(path, ())
        return [name for name in names if os.path.join(path, name) in self.nodes]

    def is_touched(self, path: str) -> bool:
        """Return whether something is, or was, planned at a path or below it."""
        return path in self.nodes or bool(self._inside.get(path))

    def planned(self, path: str) -> Tuple[int, int]:
        """Return the bytes and files that will be written to the file system of a path."""
        self._count()
        return self._sums.get(self._device(path), (0, 0))

    def _count(self) -> None:
        """Count the nodes that were added since the last time."""
        for at in self._uncounted:
            self._shares[at] = share = self._usage(at)
            self._add_usage(share, 1)
        self._uncounted.clear()

    def _usage(self, path: str) -> Tuple[int, int, int]:
        node = self.nodes[path]
        device = node.device or self._device(path)
        held = node.content.size if node.content is not None else 0
        held = -(-held // PAGE) * PAGE
        if device < 0:  # nothing of the host is there
            return device, held, int(node.kind != "absent")
        old_size, old_count = space_used_at(path, below=node.opaque)
        size, count = -old_size, (node.kind != "absent") - old_count
        if node.kind == "file":
            size += held if node.content is not None else old_size
        return device, size, count

    def put(self, effect: PathEffect, since: int, by: str, sure: bool = True) -> str:
        """Lay one effect over the current state of its path; return the resource that it undoes, or
        "".

        Without ``sure``, the path may be another one.
        """
        # Only a directory is changed where a link leads to; all else replaces the link.
        planned_path = self.find(effect.path, follow=effect.kind == "directory")
        path = planned_path.path
        node = self._planned_node(effect, planned_path)._replace(
            since=since,
            by=by,
            firm=effect.firm,
            once=effect.once,
            part=effect.part,
            filled=effect.content is not None,
            unsure=not sure and effect.kind == "directory" and self._may_be_new(planned_path),
            via=tuple(link for link, _ in planned_path.links),
        )
        others = self.others(path)
        for other in [path, *others]:
            if effect.kind in ("absent", "file", "symlink"):
                self._drop_below(other)
            self._set_node(other, node)
        if node.inode is not None:
            self._inodes[node.inode] = node
            for other in [p for p, n in self.nodes.items() if n.inode == node.inode]:
                self._set_node(other, node)
        if effect.kind != "absent":
            for other in [path, *others]:
                self._record_parents(os.path.dirname(other), since, by, effect.kind == UNTOLD)
        old = planned_path.node
        return old.by if old is not None and old.by != by and undoes(node, old) else ""

    def _may_be_new(self, planned_path: ResolvedPath) -> bool:
        """Return whether an uncertain effect may create the directory."""
        old = self._current(planned_path)
        return old is None or old.kind != "directory" or old.unsure

    def _node_of_other_name(self, path: str) -> Optional[Node]:
        """Return the change under another name of the file that the host has at a path. The file
        may no longer be there."""
        inode = shared(path) if self._inodes else None
        return None if inode is None else self._inodes.get(inode)

    def _record_parents(self, path: str, since: int, by: str, guessed: bool = False) -> None:
        """Record that the parents of an existing path are directories."""
        while path.strip("/"):
            there = self.at(path)
            if there.node is not None and there.node.kind != "absent":
                return
            if there.node is None and there.there and os.path.lexists(path):
                return
            node = self._new_node("directory", path)
            self._set_node(path, node._replace(since=since, by=by, implied=True, guessed=guessed))
            path = os.path.dirname(path)

    def _planned_node(self, effect: PathEffect, resolved: ResolvedPath) -> Node:
        if effect.kind in ("absent", UNTOLD):
            return Node(effect.kind)
        old = self._current(resolved)
        same = old is not None and old.kind == effect.kind
        if old is None or not same:
            old = self._new_node(effect.kind, resolved.path)
        # A directory that stays, perhaps with other attributes, adds nothing about its content.
        stays = same and effect.kind == "directory" and old.since
        return old._replace(
            began=(old.began or old.since) if stays else 0,
            mode=old.mode if effect.mode is None else effect.mode,
            uid=old.uid if effect.uid is None else effect.uid,
            gid=old.gid if effect.gid is None else effect.gid,
            content=CachedContent(effect.content, self._room) if effect.content else old.content,
            target=effect.target,
            inode=old.inode if effect.content is None else None,
            guessed=old.guessed and effect.mode is None,
            kept=old.kept and effect.content is None,
        )

    def _new_node(self, kind: str, path: str) -> Node:
        """Return a path that our user creates; below a setgid directory, it gets that directory's
        group.
        """
        mode = {"directory": 0o755, "file": 0o644, "symlink": 0o777}.get(kind, 0)
        above = self._nearest_directory(path)
        device = above.device if above is not None and above.device else self._device(path)
        new = Node(kind, mode, os.geteuid(), os.getegid(), device=device)
        if above is None or not above.mode & stat.S_ISGID:
            return new
        inherited = stat.S_ISGID if kind == "directory" else 0
        return new._replace(mode=mode | inherited, gid=above.gid)

    def _nearest_directory(self, path: str) -> Optional[Node]:
        """Return the innermost directory above a path without links that will exist."""
        while path.strip("/"):
            path = os.path.dirname(path)
            there = self.at(path)
            if there.node is not None and there.node.kind != "absent":
                return there.node
            if there.there:
                try:
                    status = os.lstat(path)
                except OSError:
                    continue
                mode = stat.S_IMODE(status.st_mode)
                return Node("directory", mode, gid=status.st_gid, device=status.st_dev)
        return None

    def _current(self, resolved: ResolvedPath) -> Optional[Node]:
        """Return the planned node, or that of the host, without changes."""
        if resolved.node is not None:
            return resolved.node
        return self._host_node(resolved) if resolved.there else None

    def _host_node(self, resolved: ResolvedPath) -> Optional[Node]:
        try:
            status = self._files.status(resolved.path)
        except ResourceError:
            return None
        if status is None:
            return None
        content: Optional[CachedContent] = None
        if status.kind == "file":
            content = CachedContent(HostContent(resolved.path, status, self._files), self._room)
        opaque = status.kind != "directory"
        return Node(
            status.kind,
            status.mode,
            uid=status.uid,
            gid=status.gid,
            content=content,
            opaque=opaque,
            device=status.device,
            inode=shared(resolved.path),
            kept=status.kind == "file",
        )

    def _device(self, path: str) -> int:
        while path.strip("/"):
            path = os.path.dirname(path)
            node = self.nodes.get(path)
            if node is not None and node.device:
                return node.device
            if self.is_hidden(path):
                continue
            try:
                return os.lstat(path).st_dev
            except OSError:
                continue
        return 0

    def _drop_below(self, path: str) -> None:
        directories = [path]
        while directories:
            directory = directories.pop()
            for name in self._inside.pop(directory, ()):
                below = os.path.join(directory, name)
                directories.append(below)
                if below in self.nodes:
                    self._drop(below)
