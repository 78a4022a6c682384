"""The ports through which a state type reads and changes paths (target). See ``ports``."""

import errno
import os
from typing import (
    TYPE_CHECKING,
    AbstractSet,
    Callable,
    List,
    NamedTuple,
    NoReturn,
    Optional,
    Sequence,
    Tuple,
)

from remote_runtime.changes import Missing
from remote_runtime.content import Bytes
from remote_runtime.errors import ResourceError
from remote_runtime.system.errno_messages import refusal
from remote_runtime.system.paths import Status

if TYPE_CHECKING:
    from remote_runtime.content import Content
    from remote_runtime.system.files import Files as Adapter

LARGEST = 1 << 20  # bytes of a file that is read completely
OURS = -1  # the user or group that the kernel gives to new files of the run
Node = Status  # the status of a path


class NewFile(NamedTuple):
    """A regular file to put at a path. ``replaces`` is the node that the type found there, None if
    there was none.
    """

    path: str
    content: "Content"
    mode: int
    uid: int
    gid: int
    replaces: Optional[Node] = None


class NewAttributes(NamedTuple):
    """The desired mode, owner and group of a path of this ``kind``. A symlink has no mode."""

    path: str
    kind: str
    mode: int
    uid: int
    gid: int


class FileReader(object):
    """Reads paths, on the machine or on an overlay. Symlinks of other users are refused, as
    everywhere in ccm."""

    def __init__(self, adapter: "Adapter") -> None:
        self._default_adapter = adapter

    @property
    def _adapter(self) -> "Adapter":
        return self._default_adapter

    def lstat(self, path: str) -> Optional[Node]:
        """Return the node at the path itself, None if there is none."""
        node = self._adapter.look(path)
        if node is None or node.kind != "symlink" or node.target:
            return node
        return node._replace(target=self._adapter.link(path))

    def stat(self, path: str) -> Optional[Node]:
        """Return the node at the target of the path, following symlinks; None if there is none."""
        return self._adapter.look(path, follow=True)

    def real(self, path: str) -> str:
        """The path with all symlinks resolved, in its directories and at its end."""
        return self._adapter.real(path)

    def exists(self, path: str) -> bool:
        """Return whether the path exists, resolved as in a shell."""
        return self._adapter.exists(path)

    def is_directory(self, path: str) -> bool:
        """Return whether it is a directory, resolved as in a shell."""
        return self._adapter.is_directory(path)

    def listing(self, path: str) -> List[Tuple[str, Node]]:
        """The names in a directory, sorted, with their nodes; symlinks without their text."""
        return self._adapter.listing(path)

    def require_known(self, path: str) -> None:
        """``Unknowable`` if earlier resources of a preview may add unknown files to a directory,
        which may not exist yet."""
        self._adapter.require_known(path)

    def mount_points(self) -> AbstractSet[str]:
        """All mount points."""
        return self._adapter.mount_points()

    def followed(self, path: str) -> str:
        """The path as a shell resolves its symlinks, regardless of their owner."""
        return self._adapter.followed(path)

    def links(self, path: str) -> List[str]:
        """The directories of the symlinks through which a path leads."""
        return self._adapter.links(path)

    def is_created(self, path: str) -> bool:
        """Like ``exists``, for a path whose existence makes a resource unnecessary."""
        return self._adapter.is_created(path)

    def is_removable(self, path: str) -> bool:
        """Return whether nothing visible prevents the removal of the path itself."""
        from remote_runtime.system.preconditions import UncheckedError

        try:
            self._adapter.obstacles(path).removing()
        except UncheckedError:
            return True  # the removal reports what is wrong, if anything still is
        except ResourceError:
            return False
        return True

    def require_movable(self, old: str, new: str) -> None:
        """``ResourceError`` for a directory that cannot be moved to an unused path."""
        self._adapter.obstacles(old).removing(tree=True)
        self._adapter.obstacles(new).making()

    def read(self, path: str, limit: int = LARGEST) -> bytes:
        """The content of a regular file of at most ``limit`` bytes."""
        node = self.stat(path)
        if node is None or node.kind != "file":
            reason = "it is not a regular file" if node is not None else "it does not exist"
            raise ResourceError("could not read %s: %s" % (path, reason), kind="resource.file.kind")
        return self._adapter.read(path, limit, follow=True, known=node)

    def digest(self, path: str, algorithm: str = "sha256", known: Optional[Node] = None) -> str:
        """The hash of the regular file at the path itself, sha256 or sha512, in hexadecimal.
        ``known`` is the result of ``lstat``."""
        if algorithm == "sha256":
            return self._adapter.sha256(path, known)
        import hashlib

        hasher = hashlib.new(algorithm)
        for block in self._adapter.blocks(path):
            hasher.update(block)
        return hasher.hexdigest()

    def entries(self, path: str) -> List[str]:
        """The names in a directory, sorted."""
        node = self.lstat(path)
        if node is None or node.kind != "directory":
            raise refusal("list", path, errno.ENOENT if node is None else errno.ENOTDIR)
        return self._adapter.entries(path)

    def remaining(self, path: str) -> List[str]:
        """Return the names in a directory that is to be empty.

        ``Unknowable`` if unknown changes of earlier resources may add or remove some.
        """
        names = self.entries(path)
        for name in names:
            self.lstat(os.path.join(path, name))
        self.require_known(path)
        return names

    def require_parent(self, path: str) -> None:
        """``Missing`` if the parent directory of a path does not exist."""
        directory = os.path.dirname(path)
        if not self.is_directory(directory):
            what = "is not a directory" if self.exists(directory) else "does not exist"
            raise Missing(
                "the parent directory %s %s" % (directory, what),
                hint="manage it in an earlier file resource with ensure: directory",
            )


class Files(FileReader):
    """Reads and changes paths. A failed change leaves the path unchanged.

    The parent directory of a new path must exist. A symlink at the end of a path is replaced, never
    written through.
    """

    def write(
        self,
        path: str,
        data: bytes,
        *,
        mode: int,
        uid: int = OURS,
        gid: int = OURS,
        validate: str = "",
        firm: bool = False,
        part: bool = False,
    ) -> None:
        """Write a regular file with these bytes, in one rename. Refused if the path is a directory.

        Extended attributes and ACL of a replaced file are kept. ``validate`` is a command with
        ``{}`` for the finished file: if it fails, nothing is replaced; a preview runs it, too.
        Another resource may set the attributes, unless they are ``firm``. ``part``: the resource
        manages only a part of the content.
        """
        self.require_file_place(path)
        file = NewFile(path, Bytes(data), mode=mode, uid=uid, gid=gid)
        self._write(file, validate, firm=firm, part=part)

    def rewrite(self, path: str, data: bytes, *, validate: str = "") -> None:
        """Replace the content of a regular file, in one rename; it keeps owner, mode, extended
        attributes and ACL.

        For types that change a part of a file: symlinks at the path are followed and therefore
        kept, and other hard links keep the old content. ``validate`` as in ``write``.
        """
        there = self.stat(path) is not None
        real = (
            self.real(path) if there else path
        )  # others may redirect the links: only this path counts
        node = self.lstat(real) if there else None
        if node is None:
            raise ResourceError("%s does not exist" % path, kind="resource.file.enoent")
        if node.kind != "file":
            refuse(path, node, "use the path of a regular file")
        new = NewFile(real, Bytes(data), mode=node.mode, uid=node.uid, gid=node.gid)
        self._write(new, validate, firm=False, part=True)

    def mkdir(self, path: str, mode: int, uid: int = OURS, gid: int = OURS) -> None:
        """Create a directory. Refused if the path exists."""
        self.require_parent(path)
        self.require_free(path)
        self._mkdir(path, mode, uid, gid)

    def symlink(self, target: str, path: str, replace: bool = False) -> None:
        """Create a symlink with this target, in one rename.

        It replaces another symlink; with ``replace``, also an empty directory. Anything else at the
        path is refused.
        """
        self.require_parent(path)
        node = self.lstat(path)
        empty = node is not None and node.kind == "directory" and replace
        if node is not None and node.kind != "symlink" and not empty:
            refuse(path, node, "use another path, or move it away first")
        if empty:
            self._require_empty(path)
        self._symlink(target, path, in_directory=empty)

    def copy_tree(self, source: str, path: str, *, mode: int, uid: int, gid: int) -> None:
        """Create a directory with a copy of everything in another one, in one rename.

        The directory gets this mode; its contents keep theirs. Everything gets this owner and
        group. Devices, sockets and pipes are omitted. Refused if the path exists.
        """
        self.require_parent(path)
        self.require_free(path)
        self._copy_tree(source, path, mode=mode, uid=uid, gid=gid)

    def set_attributes(self, path: str, mode: int, uid: int, gid: int) -> None:
        """Set mode, owner and group of the file or directory at the path itself."""
        self.require_kind(path, "file", "directory")
        self._set_attributes(path, mode, uid=uid, gid=gid, follow=False)

    def set_directory_attributes(self, path: str, mode: int, uid: int, gid: int) -> None:
        """Set mode, owner and group of the directory at the target of a path,
        following symlinks.
        """
        self._set_attributes(path, mode, uid=uid, gid=gid, follow=True)

    def set_all_attributes(self, wanted: Sequence[NewAttributes]) -> None:
        """Set the attributes of several paths, one after the other. Paths that no longer exist are
        skipped.
        """
        raise NotImplementedError

    def put(
        self,
        path: str,
        content: "Optional[Content]",
        *,
        mode: int,
        uid: int,
        gid: int,
        validate: str = "",
        before: Optional[Callable[[], None]] = None,
        firm: bool = False,
        part: bool = False,
    ) -> None:
        """Like ``write``, with content of any size; None for content that a preview does not know.

        ``before`` is called right before the file is put in place. Another resource may set its
        attributes, unless they are ``firm``.
        """
        raise NotImplementedError

    def make_directory(
        self, path: str, mode: int, *, uid: int = OURS, gid: int = OURS, firm: bool = False
    ) -> None:
        """Create a directory with its missing parents, which get the same permissions. Another
        resource may set its attributes, unless they are ``firm``."""
        raise NotImplementedError

    def back_up(self, path: str, copy: str) -> None:
        """Copy a regular file to another name in its directory. The copy has the attributes and
        times of the file, without setuid and setgid."""
        raise NotImplementedError

    def set_mode(self, path: str, mode: int) -> None:
        """Set the permissions of the file at the path itself. Another resource may set them,
        too."""
        raise NotImplementedError

    def unlink(self, path: str, kind: str = "") -> None:
        """Remove a path that is not a directory; ``kind`` is its expected kind."""
        node = self.lstat(path)
        if node is None:
            return
        if node.kind == "directory" or (kind and node.kind != kind):
            refuse(path, node)
        self._unlink(path)

    def rmdir(self, path: str) -> None:
        """Remove an empty directory."""
        node = self.lstat(path)
        if node is None:
            return
        if node.kind != "directory":
            refuse(path, node)
        self._require_empty(path)
        self._unlink(path)

    def remove_tree(self, path: str) -> None:
        """Remove a directory with everything in it; symlinks in it are removed, not followed."""
        if path.strip("/") == "":
            raise ResourceError("the root directory cannot be removed")
        node = self.lstat(path)
        if node is None:
            return
        if node.kind != "directory":
            refuse(path, node)
        self._remove_tree(path)

    def require_free(self, path: str) -> None:
        """``ResourceError`` if the path exists."""
        node = self.lstat(path)
        if node is not None:
            refuse(path, node, "use another path")

    def require_kind(self, path: str, *kinds: str) -> None:
        """``ResourceError`` if the path has another kind, or does not exist."""
        node = self.lstat(path)
        if node is None:
            raise ResourceError("%s does not exist" % path, kind="resource.file.enoent")
        if node.kind not in kinds:
            refuse(path, node, "use the path that it points to")

    def require_file_place(self, path: str) -> None:
        """``ResourceError`` if a file cannot be put there: at a directory, or without a parent
        directory.
        """
        self.require_parent(path)
        node = self.lstat(path)
        if node is not None and node.kind not in ("file", "symlink"):
            refuse(path, node, "use another path")

    # -- what an implementation does, after the checks above --------------------------------------

    def _write(self, file: NewFile, validate: str, *, firm: bool, part: bool) -> None:
        """Put a file in place; see ``write``."""
        raise NotImplementedError

    def _mkdir(self, path: str, mode: int, uid: int, gid: int) -> None:
        """Create a directory."""
        raise NotImplementedError

    def _copy_tree(self, source: str, path: str, *, mode: int, uid: int, gid: int) -> None:
        """Copy a directory with all of its contents."""
        raise NotImplementedError

    def _symlink(self, target: str, path: str, in_directory: bool) -> None:
        """Create a symlink; ``in_directory``: an empty directory is at the path."""
        raise NotImplementedError

    def _set_attributes(self, path: str, mode: int, *, uid: int, gid: int, follow: bool) -> None:
        """Set the mode, the owner and the group."""
        raise NotImplementedError

    def _unlink(self, path: str) -> None:
        """Remove a path, which may also be an empty directory."""
        raise NotImplementedError

    def _remove_tree(self, path: str) -> None:
        """Remove a directory with all of its contents."""
        raise NotImplementedError

    def _require_empty(self, path: str) -> None:
        remaining_names = self.remaining(path)
        if remaining_names:
            name_list = ", ".join(remaining_names[:3]) + (
                " and %d more" % (len(remaining_names) - 3) if remaining_names[3:] else ""
            )
            raise ResourceError(
                "the directory %s is not empty: it contains %s" % (path, name_list),
                kind="resource.file.enotempty",
                hint="check the path; it was not changed",
            )


def refuse(path: str, node: Node, hint: str = "check the path; it was not changed") -> NoReturn:
    """Raise the error for a path of the wrong kind."""
    what = "device, socket or pipe" if node.kind == "other" else node.kind
    raise ResourceError("%s is a %s" % (path, what), kind="resource.file.kind", hint=hint)
