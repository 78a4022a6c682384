"""The predicted file system when a resource runs: the host's, below the layer (target)."""

import errno
import os
import stat
from typing import TYPE_CHECKING, AbstractSet, Callable, Generator, List, Optional, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.content import Content
from remote_runtime.errors import ResourceError
from remote_runtime.overlay.file_overlay import FileOverlay
from remote_runtime.overlay.permissions import ours
from remote_runtime.overlay.planned_nodes import Node, ResolvedPath, shared
from remote_runtime.overlay.planned_walk import PlannedWalk, closed
from remote_runtime.overlay.uncertainty import UnknownRegions
from remote_runtime.system.errno_messages import many_names, refusal
from remote_runtime.system.files import Files, Reader
from remote_runtime.system.paths import Status, has_long_name, is_too_long, joined
from remote_runtime.system.read_only_files import ReadOnly
from remote_runtime.system.walk import has_acl
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.system.preconditions import PlannedEntry, Preconditions
    from remote_runtime.system.temp_journal import TempJournal

_PROBE = ".ccm-any-name"


class OverlayFiles(ReadOnly, Files):
    """Reads the predicted state; a path outside of the layer is read from the host.

    Working directories of ccm are those of the host.
    """

    def __init__(self, host: Files, layer: FileOverlay, unknown_regions: UnknownRegions) -> None:
        super().__init__()
        self._host, self._layer, self._unknown_regions = host, layer, unknown_regions
        self.own_directories = host.own_directories
        self._walk = PlannedWalk(layer, self._rights)

    def _find(self, path: str, follow: bool) -> ResolvedPath:
        """Resolve a path that is read; while nothing is planned, the host resolves it."""
        if self._layer.is_empty and not self._unknown_regions:
            return ResolvedPath(path, None, True, False, 0)
        return self._resolve(path, follow)

    def _resolve(self, path: str, follow: bool) -> ResolvedPath:
        planned_path = self._layer.find(path, follow)
        if self._unknown_regions and not self._host.is_own(path):
            self._unknown_regions.record_read(
                "path", planned_path.path, self._is_there(planned_path), planned_path.since
            )
            for link, since in planned_path.links:
                if planned_path.node is None or link not in planned_path.node.via:
                    self._unknown_regions.record_read("path", link, True, since)
        if planned_path.within is not None:
            raise self._unreported(path, planned_path.within)
        if os.geteuid() != 0:
            self._require_seen(planned_path)
        return planned_path

    def _walked(self, path: str, follow: bool, action: str = "inspect") -> ResolvedPath:
        """Resolve a path that we walk ourselves, like the host; the walk may find something
        planned.
        """
        resolved_path = self._find(path, follow)
        if resolved_path.laid and (resolved_path.links or os.geteuid() != 0):
            self._walk.require_reached(path, follow, action)
        return resolved_path

    def _read(self, path: str, follow: bool) -> ResolvedPath:
        """Do the same for a file that we read."""
        resolved_path = self._walked(path, follow, "read")
        self._require_own_name(path, resolved_path)
        return resolved_path

    def _file(self, path: str, follow: bool) -> ResolvedPath:
        """Do the same, and record the uncertainty of its content."""
        resolved_path = self._read(path, follow)
        self._unknown_regions.record_read("content", resolved_path.path, True, resolved_path.since)
        return resolved_path

    def _require_own_name(self, path: str, resolved: ResolvedPath) -> None:
        """Raise ``ResourceError`` for a file that will have several names in a place where others
        can write.
        """
        count = self._count_names(path, resolved)
        if count is None:
            return
        by_then = self._in_shared_directory(resolved)
        today = self._host.in_shared_directory(resolved.path)
        names = count() if by_then or today else 1
        if names > 1 and by_then:
            if resolved.node is None and not os.access(resolved.path, os.R_OK, effective_ids=True):
                raise refusal("read", path, errno.EACCES)
            if resolved.node is not None:
                self._require_readable(path, resolved.node)
            raise many_names("read", resolved.path, names)
        if today:
            raise Unknowable("ccm does not read %s while it has several hard links" % path)

    def _in_shared_directory(self, resolved: ResolvedPath) -> bool:
        """See the base class, but for the predicted state."""
        if not resolved.laid:
            return self._host.in_shared_directory(resolved.path)
        try:
            return self._walk.directory_of(resolved.path).is_shared(sticky=False)
        except (OSError, ResourceError):
            return False

    def _count_names(self, path: str, resolved: ResolvedPath) -> Optional[Callable[[], int]]:
        """Return a function that counts the names of a host's file if it has several today; None
        otherwise."""
        if not self._layer.nodes or (resolved.node is not None and resolved.node.inode is None):
            return None
        inode = shared(resolved.path)
        if inode is None:
            return None
        known = inode
        return lambda: self._names(path, resolved.path, known)

    def _planned_names(self, path: str, resolved: ResolvedPath) -> Optional[int]:
        count = self._count_names(path, resolved)
        return None if count is None else count()

    def _intended(self, resolved: ResolvedPath) -> "Optional[PlannedEntry]":
        """Return the file or directory that is planned there."""
        from remote_runtime.system.preconditions import PlannedEntry

        node = resolved.node
        if node is None or node.kind not in ("file", "directory"):
            return None
        rights = 7 if os.geteuid() == 0 else ours(node)
        return PlannedEntry(node.kind, node.uid, node.gid, rights)

    def _names(self, path: str, real: str, inode: Tuple[int, int]) -> int:
        """Return the number of names that a file of the host will have."""
        names = os.lstat(real).st_nlink
        for at, node in self._layer.nodes.items():
            if node.opaque and os.path.isdir(at) and not os.path.islink(at):
                raise Unknowable("the number of hard links of %s is not known" % path)
            names -= int(node.inode != inode and shared(at) == inode)
        return names

    @staticmethod
    def _unreported(path: str, node: Node) -> Unknowable:
        return Unknowable("the result of %s at %s is not known" % (node.by, path))

    @staticmethod
    def _is_there(resolved: ResolvedPath) -> bool:
        if resolved.node is not None:
            return resolved.node.kind != "absent"
        return resolved.there and os.path.lexists(resolved.path)

    def status(self, path: str, follow: bool = False) -> Optional[Status]:
        """See the base class. A planned change takes precedence over the host, whose attributes may
        be uncertain.
        """
        resolved_path = self._walked(path, follow)
        if not self._host.is_own(path):
            self._unknown_regions.record_read(
                "attributes", resolved_path.path, True, resolved_path.since
            )
        if resolved_path.node is not None:
            return self._status(resolved_path.path, resolved_path.node)
        if resolved_path.below_file:
            raise refusal("inspect", path, errno.ENOTDIR)
        if not resolved_path.there:
            self._require_nameable(path, resolved_path)
            return None
        return self._host.status(resolved_path.path if resolved_path.laid else path, follow)

    def _require_nameable(self, path: str, resolved: ResolvedPath) -> None:
        """Raise ``ResourceError`` for a name that the predicted directory cannot contain, or a path
        that is too long.
        """
        directory, name = os.path.split(resolved.path)
        if is_too_long(path) or (has_long_name(name) and self.is_directory(directory)):
            raise refusal("inspect", path, errno.ENAMETOOLONG)

    def _status(self, path: str, node: Node) -> Optional[Status]:
        if node.kind == "absent":
            return None
        if node.kind == "something":
            raise self._unreported(path, node)
        if node.guessed:
            reason = "the owner and mode of %s are not known until %s has run" % (path, node.by)
            self._unknown_regions.suppose(Uncertainty(UNKNOWN, reason))
        size = node.content.size if node.content is not None else 0
        identity = (node.device, -node.since, size, 0, 0)
        attributes = node.mode, node.uid, node.gid
        return Status(node.kind, *attributes, size, 0, identity, target=node.target)

    def real(self, path: str) -> str:
        """See the base class. The host is queried unless a planned symlink or directory is on the
        way.
        """
        resolved_path = self._find(path, True)
        if not resolved_path.laid:
            return self._host.real(path)
        if resolved_path.links or os.geteuid() != 0:
            self._walk.require_end(path)
        return resolved_path.path

    def is_directory(self, path: str) -> bool:
        """See the base class. ``Unknowable`` if a command makes the path something of an unknown
        kind.
        """
        resolved_path = self._find(path, follow=True)
        if resolved_path.node is not None and resolved_path.node.kind == "something":
            raise self._unreported(path, resolved_path.node)
        if resolved_path.node is not None:
            return resolved_path.node.kind == "directory"
        return resolved_path.there and os.path.isdir(resolved_path.path)

    def exists(self, path: str) -> bool:
        """See the base class. A planned symlink that remains after the lookup is dangling."""
        resolved_path = self._find(path, follow=True)
        if resolved_path.node is not None:
            return resolved_path.node.kind not in ("absent", "symlink")
        return resolved_path.there and os.path.exists(resolved_path.path)

    def is_created(self, path: str) -> bool:
        """See the base class. A missing path is uncertain if an earlier change may create it."""
        there = self.exists(path)
        if not there:
            self._unknown_regions.record_read("creates", path, False)
        return there

    def is_there(self, path: str) -> bool:
        return self._is_there(self._find(path, follow=False))

    def link(self, path: str) -> str:
        """Return the planned target, or the host's if nothing is planned; "" if it is not a
        symlink.
        """
        resolved_path = self._find(path, follow=False)
        if resolved_path.node is not None:
            return resolved_path.node.target
        return (
            self._host.link(resolved_path.path if resolved_path.laid else path)
            if resolved_path.there
            else ""
        )

    def followed(self, path: str) -> str:
        return self._layer.find(path, True).path

    def links(self, path: str) -> List[str]:
        return [link for link, _ in self._layer.find(path, True).links]

    def mount_points(self) -> AbstractSet[str]:
        return self._host.mount_points() | set(self._layer.mount_points("/"))

    def require_known(self, directory: str) -> None:
        """See the base class. It looks up a name that nothing has: only an unknown change can
        create it.
        """
        try:
            self.status(os.path.join(directory, _PROBE))
        except Unknowable as error:
            raise Unknowable(error.message.replace("/" + _PROBE, "")) from error
        except ResourceError:
            pass  # such as a link that is not followed; the read of the directory reports it

    def is_program(self, path: str) -> bool:
        """Return whether a path is an executable file, planned or on the host."""
        resolved_path = self._find(path, follow=True)
        if resolved_path.node is not None:
            if resolved_path.node.kind not in ("file", "something"):
                return False
            if resolved_path.node.kind == "file" and not resolved_path.node.mode & 0o111:
                return False
            limits = list(self._layer.limits(resolved_path))
            if any(mount.no_execution for mount in limits):
                return False
            gains = any("exec" in mount.gains for mount in limits)
            if gains or self._layer.mounted(resolved_path.path) is not None:
                return True
            from remote_runtime.system.preconditions import keeps_from_executing

            return not keeps_from_executing(resolved_path.path)
        limits = list(self._layer.limits(resolved_path))
        if any(mount.no_execution for mount in limits) or not resolved_path.there:
            return False
        if not os.path.isfile(resolved_path.path):
            return False
        if any("exec" in mount.gains for mount in limits):  # by root
            return bool(os.stat(resolved_path.path).st_mode & 0o111)
        return os.access(resolved_path.path, os.X_OK)

    def sha256(self, path: str, known: Optional[Status] = None, follow: bool = False) -> str:
        """Return the hash of the planned bytes, or of the host's file, which is uncertain after
        earlier changes."""
        resolved_path = self._file(path, follow)
        if resolved_path.node is not None:
            return self._content(path, resolved_path.node).sha256
        return self._host.sha256(resolved_path.path if resolved_path.laid else path, known, follow)

    def _content(self, path: str, node: Node) -> Content:
        if node.kind not in ("file", "something"):
            raise ResourceError("could not read %s: it is not a regular file" % path)
        if node.content is None:
            raise Unknowable("the content of %s is not known until %s has run" % (path, node.by))
        self._require_readable(path, node)
        return node.content

    def reader(self, path: str, follow: bool = False) -> Reader:
        """See the base class. Planned bytes come from the plan, all others from the host's file."""
        resolved_path = self._file(path, follow)
        if resolved_path.node is not None:
            return self._content(path, resolved_path.node).chunks
        return self._host.reader(resolved_path.path if resolved_path.laid else path, follow)

    def planned_content(self, path: str) -> Optional[Content]:
        """Return the content that an earlier resource plans for the file at the path; None if there
        is none.
        """
        resolved_path = self._read(path, False)
        return resolved_path.node.content if resolved_path.node is not None else None

    def read(
        self, path: str, limit: int, follow: bool = False, known: Optional[Status] = None
    ) -> bytes:
        """See the base class; the found file may be planned."""
        resolved_path = self._file(path, follow)
        if resolved_path.node is not None:
            content = self._content(path, resolved_path.node)
            try:
                return joined(content.chunks(), path, limit)
            except Unknowable:
                content.fetch()
                return joined(content.chunks(), path, limit)
        return self._host.read(
            resolved_path.path if resolved_path.laid else path, limit, follow, known
        )

    def blocks(self, path: str, follow: bool = False) -> Generator[bytes, None, None]:
        return self.reader(path, follow)()

    def entries(self, path: str) -> List[str]:
        """Return the names of the host without planned removals, plus planned additions."""
        resolved_path = self._find(path, follow=True)
        if resolved_path.node is not None and resolved_path.node.kind == "directory":
            self._require_readable(path, resolved_path.node, "list")
        names = set()
        if resolved_path.there or (
            resolved_path.node is not None and not resolved_path.node.opaque
        ):
            self._require_listed(resolved_path)
            names.update(self._host.entries(resolved_path.path if resolved_path.laid else path))
        for name in self._layer.below(resolved_path.path):
            node = self._layer.nodes[os.path.join(resolved_path.path, name)]
            (names.discard if node.kind == "absent" else names.add)(name)
        return sorted(names)

    def listing(self, path: str) -> List[Tuple[str, Status]]:
        """See the base class. The host is queried once if no earlier change is unknown or concerns
        the directory.
        """
        resolved_path = self._find(path, follow=True)
        if not (
            self._unknown_regions
            or resolved_path.laid
            or self._layer.is_touched(resolved_path.path)
        ):
            return self._host.listing(path)
        each = [(name, self.status(os.path.join(path, name))) for name in self.entries(path)]
        return [(name, status) for name, status in each if status is not None]

    def obstacles(self, path: str, follow: bool = False) -> "Preconditions":
        """Return the host's preconditions, adapted to planned modes, owners, names and mounts on
        the way."""
        from remote_runtime.system import preconditions

        resolved_path = self._resolve(path, follow)
        node = resolved_path.node  # a directory that stays, or another name of a changed file
        kept = node is not None and (not node.opaque or node.inode is not None)
        counts = resolved_path.there or kept
        within = self._directory_above(resolved_path.path)
        above = self._planned_directory(within)
        gid = above and (above.gid if above.mode & stat.S_ISGID else -1)
        limits = list(self._layer.limits(resolved_path))
        opens = any("rw" in mount.gains for mount in limits)
        on_host = preconditions.at(
            path,
            resolved_path.path,
            counts=counts,
            planned=self._layer.planned(resolved_path.path),
            shared=lambda: self._in_shared_directory(resolved_path),
            writable=self._may_write(within),
            within=within,
            gid=gid,
            intended=self._intended(resolved_path),
            names=lambda: self._planned_names(path, resolved_path),
            points=self._layer.mount_points(path),
            is_point=self._layer.is_mount_point,
            leaves=self._leaves,
            opens=opens,
            full=lambda: self._record_full(resolved_path.path),
            emptied=lambda there: self._require_emptied(resolved_path.path, there, opens),
        )
        closing = next((mount for mount in limits if mount.read_only), None)
        mount = closing or self._layer.mounted(resolved_path.path)
        if mount is None:
            return on_host
        from remote_runtime.overlay.mount_checks import MountPreconditions

        return MountPreconditions(on_host.spot, mount)

    def _leaves(self, point: str) -> bool:
        """Return whether a mount point is planned to be none; what is below it is not known."""
        if point not in self._layer.unmounted:
            return False
        self._unknown_regions.record_read("path", point, True)
        return True

    def _record_full(self, path: str) -> None:
        """Record that earlier unknown changes may free space on the file system of a path."""
        points = self._host.mount_points()
        while path.strip("/") and path not in (*points, *self._layer.mount_points(path)):
            path = os.path.dirname(path)
        self._unknown_regions.record_read("space", path, True)

    def _directory_above(self, path: str) -> str:
        """Return the nearest directory above a path without links that will exist."""
        above = os.path.dirname(path)
        while above.strip("/"):
            there = self._layer.at(above)
            if there.node is None and there.there and os.path.isdir(above):
                break
            if there.node is not None and there.node.kind == "directory":
                break
            above = os.path.dirname(above)
        return above

    # -- rights, which root needs none of ---------------------------------------------------------

    def _planned_directory(self, path: str) -> Optional[Node]:
        """Return the directory that is planned there, if its attributes determine
        the permissions.
        """
        node = self._layer.nodes.get(path)
        return node if node is not None and node.kind == "directory" else None

    def _may_write(self, directory: str) -> Optional[bool]:
        """Return whether names may be created in a directory by its planned attributes; None if it
        has none.
        """
        rights = self._rights(directory)
        return None if rights is None else rights & 3 == 3

    def _rights(self, directory: str) -> Optional[int]:
        """Return our rights in a directory by its planned attributes; None if it has none."""
        node = self._planned_directory(directory) if os.geteuid() != 0 else None
        return None if node is None or _is_by_acl(directory, node) else ours(node)

    def _require_emptied(self, path: str, there: str, opens: bool) -> None:
        """Raise ``ResourceError`` as for a tree of the host, but including its planned content;
        root needs no rights there. ``Unknowable`` if it is read-only until it is remounted.
        """
        if opens:
            raise Unknowable("%s is read-only until it is remounted" % path)
        if os.geteuid() == 0 or not self._layer.is_touched(path):
            from remote_runtime.system.preconditions import require_emptied

            require_emptied(there)
        else:
            from remote_runtime.overlay.removal_checks import require_removable

            require_removable(self, path, self._rights)

    def _require_seen(self, resolved: ResolvedPath) -> None:
        """Raise ``Unknowable`` below a directory that we cannot access until it is changed."""
        path = resolved.path
        while path.strip("/") and resolved.there and resolved.node is None:
            path = os.path.dirname(path)
            node = self._planned_directory(path)
            if node is not None and os.path.isdir(path) and not _enterable(path):
                raise closed(path, node)

    def _require_listed(self, resolved: ResolvedPath) -> None:
        """Raise ``Unknowable`` if the directory must be opened, but we may not read its names."""
        shut = os.path.isdir(resolved.path) and not os.access(
            resolved.path, os.R_OK, effective_ids=True
        )
        if resolved.node is not None and shut:
            raise closed(resolved.path, resolved.node)

    def _require_readable(self, path: str, node: Node, action: str = "read") -> None:
        if os.geteuid() != 0 and not ours(node) & 4 and not _is_by_acl(path, node):
            raise refusal(action, path, errno.EACCES)

    # -- our own work ------------------------------------------------------------------------------

    @property
    def unfinished(self) -> "TempJournal":
        return self._host.unfinished


def _is_by_acl(path: str, node: Node) -> bool:
    """Return whether an access list determines our rights there; for the owner, the mode does."""
    return node.uid != os.geteuid() and has_acl(path)


def _enterable(directory: str) -> bool:
    return os.access(directory, os.X_OK, effective_ids=True)
