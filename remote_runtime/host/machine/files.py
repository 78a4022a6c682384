"""Paths of the machine (target)."""

import errno
import os
import stat
from typing import TYPE_CHECKING, Callable, ContextManager, List, Optional, Sequence, Set

from remote_runtime.errors import ResourceError
from remote_runtime.host import file_ports
from remote_runtime.host.file_ports import Node
from remote_runtime.system import inode_flags
from remote_runtime.system.directory_syncs import sync_now
from remote_runtime.system.errno_messages import NOT_A_DIRECTORY, failure, refusal
from remote_runtime.system.files import Files as Door

if TYPE_CHECKING:
    from remote_runtime.content import Content
    from remote_runtime.system.account_files import User
    from remote_runtime.system.process.commands import Commands


class FileReader(file_ports.FileReader):
    """Reads through the door to the file system: the machine's own, or that of an overlay."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def lstat(self, path: str) -> Optional[Node]:
        """See the base class."""
        node = self._status(path, False)
        if node is None or node.kind != "symlink":
            return node
        return node._replace(target=self._door.link(path))

    def stat(self, path: str) -> Optional[Node]:
        """See the base class."""
        return self._status(path, True)

    def _status(self, path: str, follow: bool) -> Optional[Node]:
        try:
            return self._door.status(path, follow)
        except ResourceError as error:
            if error.kind == NOT_A_DIRECTORY:
                return None  # nothing is below a file
            raise

    def real(self, path: str) -> str:
        """See the base class."""
        return self._door.real(path)

    def exists(self, path: str) -> bool:
        """See the base class."""
        return self._door.exists(path)

    def is_created(self, path: str) -> bool:
        """See the base class."""
        return self._door.is_created(path)

    def is_removable(self, path: str) -> bool:
        """See the base class."""
        try:
            self._door.obstacles(path).removing()
        except ResourceError:
            return False
        except OSError:  # whose directory it is has taken it away meanwhile: the removal will see
            return True
        return True

    def require_movable(self, old: str, new: str) -> None:
        """``ResourceError`` for a directory that cannot be moved to where nothing is."""
        self._door.obstacles(old).removing(tree=True)
        self._door.obstacles(new).making()

    def read(self, path: str, limit: int = file_ports.LARGEST) -> bytes:
        """See the base class."""
        node = self.stat(path)
        if node is None or node.kind != "file":
            why = "it is not a regular file" if node is not None else "it does not exist"
            raise ResourceError("could not read %s: %s" % (path, why), kind="resource.file.kind")
        return self._door.read(path, limit, follow=True)

    def digest(self, path: str, algorithm: str = "sha256") -> str:
        """See the base class."""
        if algorithm == "sha256":
            return self._door.sha256(path)
        import hashlib

        found = hashlib.new(algorithm)
        for block in self._door.blocks(path):
            found.update(block)
        return found.hexdigest()

    def entries(self, path: str) -> List[str]:
        """See the base class."""
        node = self.lstat(path)
        if node is None or node.kind != "directory":
            raise refusal("list", path, errno.ENOENT if node is None else errno.ENOTDIR)
        return self._door.entries(path)


class Files(FileReader, file_ports.Files):
    """Changes paths; ``changed`` gets each that was."""

    def __init__(self, door: Door, commands: "Commands", changed: Set[str]) -> None:
        super().__init__(door)
        self._commands, self._changed = commands, changed

    def _write(
        self,
        path: str,
        data: bytes,
        *,
        mode: int,
        uid: int,
        gid: int,
        validate: str,
        part: bool,
    ) -> None:
        from remote_runtime.system.attributes import Attributes

        if _may_be_dropped(mode):
            self._door.obstacles(path).writing(len(data), uid, gid, mode)
        temporary = self._door.temporary(path)
        try:
            temporary.write(data)
            temporary.finish(uid, gid, mode, Attributes(self._commands))
            if validate:
                from remote_runtime.host.validation import run

                run(self._commands, validate, finished=temporary.path, path=path)
            temporary.commit()
        finally:
            temporary.discard()
        self._changed.add(path)

    def put(self, path: str, content: "Content", *, mode: int, uid: int, gid: int) -> None:
        """See the base class."""
        from remote_runtime.system.attributes import Attributes

        self.require_file_place(path)
        temporary = self._door.temporary(path)
        try:
            for chunk in content.chunks():
                temporary.write(chunk)
            temporary.finish(uid, gid, mode, Attributes(self._commands))
            temporary.commit()
        finally:
            temporary.discard()
        self._changed.add(path)

    def make_directory(self, path: str, mode: int) -> None:
        """See the base class."""
        self.require_free(path)
        self._door.create_directory(path, mode)
        self._changed.add(path)

    def set_mode(self, path: str, mode: int) -> None:
        """See the base class."""
        self.require_kind(path, "file")
        self._door.set_attributes(path, file_ports.OURS, file_ports.OURS, mode)
        self._changed.add(path)

    def _mkdir(self, path: str, mode: int, uid: int, gid: int) -> None:
        if _may_be_dropped(mode):
            self._door.obstacles(path).making(uid, gid, mode)
        self._door.create_directory(path, mode, uid, gid)
        self._changed.add(path)
        self.relabel(path)

    def _copy_tree(self, source: str, path: str, *, mode: int, uid: int, gid: int) -> None:
        from remote_runtime.system.copy_tree import copy

        if _may_be_dropped(mode):
            self._door.obstacles(path).making(uid, gid, mode)
        copy(self._door, source, path=path, mode=mode, uid=uid, gid=gid)
        self._changed.add(path)
        self.relabel(path)

    def build_tree(
        self, path: str, fill: Callable[[str], None], *, mode: int, uid: int, gid: int
    ) -> None:
        """Make a directory where nothing or an empty one is, in one rename: ``fill`` gets the path
        of the new one, which has its owner by then."""
        from remote_runtime.system.copy_tree import build

        self.require_parent(path)

        def owned(directory: int, staged: str) -> None:
            os.fchown(directory, uid, gid)
            fill(staged)

        if self.lstat(path) is None:
            self._door.obstacles(path).making(uid, gid, mode)
        else:
            self._door.obstacles(path).removing()
        build(self._door, owned, path=path, mode=mode)
        self._door.walker.forget()  # what was found before was found without this directory
        self._changed.add(path)
        self.relabel(path)

    def relabel(self, path: str) -> None:
        """Give a tree the labels of SELinux for where it is, on a host that uses them."""
        from remote_runtime.system.attributes import labels_files

        if labels_files() and self._commands.find("restorecon"):
            result = self._commands.run(["restorecon", "-R", path])
            if result.code != 0:
                raise ResourceError(
                    "restorecon -R %s: %s" % (path, result.ending(None)),
                    kind="resource.command",
                    hint="run it by hand; the files are there without their labels",
                    output=result.tail(),
                )

    def _symlink(self, target: str, path: str, in_directory: bool) -> None:
        place = self._door.place(path, "write")
        at = place.directory.descriptor
        if inode_flags.read(".", at) & inode_flags.APPEND:
            raise refusal("write", path, errno.EPERM)  # it could neither be renamed nor removed
        name = self._door.stage(place.directory.path)
        try:
            try:
                os.symlink(target, name, dir_fd=at)
            except OSError as error:
                raise failure("write", path, error) from error
            try:
                if in_directory:
                    os.rmdir(place.name, dir_fd=at)
                os.rename(name, place.name, src_dir_fd=at, dst_dir_fd=at)
            except OSError as error:
                os.unlink(name, dir_fd=at)
                raise failure("replace", path, error) from error
            try:
                (self._door.sync_directory or sync_now)(at)
            except OSError as error:
                raise failure("write", path, error) from error
        finally:
            self._door.staged(name)
            self._door.walker.forget()  # what was found before was found without this link
        self._changed.add(path)

    def _set_attributes(self, path: str, mode: int, uid: int, gid: int) -> None:
        if _may_be_dropped(mode):
            self._door.obstacles(path).changing(uid, gid, mode)
        self._door.set_attributes(path, uid, gid, mode)
        self._changed.add(path)

    def _unlink(self, path: str) -> None:
        self._door.remove(path)
        self._changed.add(path)

    def _remove_tree(self, path: str) -> None:
        # What would stay keeps the rest: what fails leaves all as it was.
        self._door.obstacles(path).removing(tree=True)
        self._door.remove_tree(path, at_once=True)
        self._changed.add(path)

    def removed_with(self, user: "User", paths: Sequence[str]) -> ContextManager[None]:
        """See ``account_removal.removed_with``."""
        from remote_runtime.host.machine import account_removal

        self._changed.update(paths)
        return account_removal.removed_with(self._door, user, paths)


def _may_be_dropped(mode: int) -> bool:
    """Whether Linux may drop setgid without a word, which has to be known before: what the path had
    could not be restored."""
    return bool(mode & stat.S_ISGID) and os.geteuid() != 0
