"""Paths on the machine (target)."""

import errno
import os
import stat
from typing import (
    TYPE_CHECKING,
    Callable,
    ContextManager,
    Iterable,
    Optional,
    Sequence,
)

from remote_runtime.content import Content
from remote_runtime.effects import ACCOUNT_FILES
from remote_runtime.errors import ResourceError
from remote_runtime.host import file_ports
from remote_runtime.host.file_ports import NewAttributes, NewFile
from remote_runtime.system import inode_flags
from remote_runtime.system.errno_messages import failure, refusal
from remote_runtime.system.files import BLOCK
from remote_runtime.system.pending_fsyncs import sync_now

_DATABASES = frozenset(ACCOUNT_FILES)
_SYNCED = 64  # paths that are synced one by one

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.host.machine.write_ahead import FileWriter, Upcoming
    from remote_runtime.system.account_files import User
    from remote_runtime.system.temporary_file import Temporary


class Files(file_ports.Files):
    """Changes paths in a run; ``upcoming`` has the later resources, if known."""

    def __init__(
        self, context: "Context", upcoming: "Callable[[], Iterable[Upcoming]]" = tuple
    ) -> None:
        super().__init__(context.files)
        self._context, self._upcoming = context, upcoming
        self._commands = context.commands

    def _note(self, *paths: str) -> None:
        """Record changed paths; cached accounts may be outdated."""
        self._context.changed_paths.update(paths)
        if not _DATABASES.isdisjoint(paths):
            self._context.accounts.forget()

    def _write(self, file: NewFile, validate: str, *, firm: bool, part: bool) -> None:
        if _may_be_dropped(file.mode):
            size = file.content.size
            self._adapter.obstacles(file.path).writing(size, file.uid, file.gid, file.mode)
        self._put(file, self._writer.take(file), validate)

    def put(
        self,
        path: str,
        content: Optional[Content],
        *,
        mode: int,
        uid: int,
        gid: int,
        validate: str = "",
        before: Optional[Callable[[], None]] = None,
        firm: bool = False,
        part: bool = False,
    ) -> None:
        """See the base class. Writes next to the path, validates there, and renames."""
        if content is None:
            raise ResourceError("the content of %s is not known yet" % path)
        file = NewFile(path, content, mode=mode, uid=uid, gid=gid)
        ready = self._writer.take(file)
        if ready is None:  # otherwise, the path has not changed since it was checked
            self.require_file_place(path)
        self._put(file, ready, validate, before)

    @property
    def _writer(self) -> "FileWriter":
        from remote_runtime.host.machine.write_ahead import FileWriter

        writer: FileWriter = self._context.one(FileWriter)
        return writer

    def _put(
        self,
        file: NewFile,
        ready: "Optional[Temporary]",
        validate: str,
        before: Optional[Callable[[], None]] = None,
    ) -> None:
        self._writer.put(file, self._upcoming(), ready=ready, validate=validate, before=before)
        self._note(file.path)

    def back_up(self, path: str, copy: str) -> None:
        """See the base class. Opens the file once, so that content and attributes come from the
        same file.
        """
        from remote_runtime.system.extended_attributes import Attributes

        old = self._adapter.opened(path, "read")
        try:
            status = os.fstat(old)
            self._adapter.obstacles(copy).writing(status.st_size, status.st_uid, status.st_gid)
            temporary = self._adapter.temporary(copy)
            try:
                remaining_size = status.st_size  # its owner may have it grow
                while remaining_size:
                    self._context.check_cancelled()
                    block = os.read(old, min(remaining_size, BLOCK))
                    if not block:
                        break
                    temporary.write(block)
                    remaining_size -= len(block)
                temporary.dress_as(old, Attributes(self._commands))
                temporary.sync()
                temporary.commit()
            finally:
                temporary.discard()
        finally:
            os.close(old)
        self._note(copy)

    def make_directory(
        self,
        path: str,
        mode: int,
        *,
        uid: int = file_ports.OURS,
        gid: int = file_ports.OURS,
        firm: bool = False,
    ) -> None:
        """See the base class. Creates the directory immediately; ``firm`` matters only in a
        preview.
        """
        self.require_free(path)
        self._adapter.create_directory(path, mode, uid, gid)
        self._note(path)

    def set_mode(self, path: str, mode: int) -> None:
        self.require_kind(path, "file")
        self._adapter.set_attributes(path, file_ports.OURS, file_ports.OURS, mode)
        self._note(path)

    def _mkdir(self, path: str, mode: int, uid: int, gid: int) -> None:
        if _may_be_dropped(mode):
            self._adapter.obstacles(path).making(uid, gid, mode)
        self._adapter.create_directory(path, mode, uid, gid)
        self._note(path)
        self.relabel(path)

    def _copy_tree(self, source: str, path: str, *, mode: int, uid: int, gid: int) -> None:
        from remote_runtime.system.copy_tree import copy

        if _may_be_dropped(mode):
            self._adapter.obstacles(path).making(uid, gid, mode)
        copy(self._adapter, source, path=path, mode=mode, uid=uid, gid=gid)
        self._note(path)
        self.relabel(path)

    def build_tree(
        self, path: str, fill: Callable[[str], None], *, mode: int, uid: int, gid: int
    ) -> None:
        """Create a directory in one rename, at a free path or in place of an empty directory.
        ``fill`` receives the path of the new directory, which already has its owner.
        """
        from remote_runtime.system.copy_tree import build

        self.require_parent(path)

        def owned(directory: int, staged: str) -> None:
            os.fchown(directory, uid, gid)
            fill(staged)

        if self.lstat(path) is None:
            self._adapter.obstacles(path).making(uid, gid, mode)
        else:
            self._adapter.obstacles(path).removing()
        build(self._adapter, owned, path=path, mode=mode)
        self._adapter.walker.forget()  # earlier results do not include this directory
        self._note(path)
        self.relabel(path)

    def relabel(self, path: str) -> None:
        """Give a tree the SELinux labels for its location, on a host that uses them."""
        from remote_runtime.system.extended_attributes import labels_files

        if labels_files() and self._commands.find("restorecon"):
            result = self._commands.run(["restorecon", "-R", path])
            if result.code != 0:
                raise ResourceError(
                    "restorecon -R %s: %s" % (path, result.ending(None)),
                    kind="resource.command",
                    hint="run it manually; the files exist without their SELinux labels",
                    output=result.tail(),
                )

    def _symlink(self, target: str, path: str, in_directory: bool) -> None:
        place = self._adapter.place(path, "write")
        at = place.directory.descriptor
        if inode_flags.read(".", at) & inode_flags.APPEND:
            raise refusal("write", path, errno.EPERM)  # it could neither be renamed nor removed
        name = self._adapter.stage(place.directory.path)
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
                (self._adapter.sync_directory or sync_now)(at)
            except OSError as error:
                raise failure("write", path, error) from error
        finally:
            self._adapter.staged(name)
            self._adapter.walker.forget()  # earlier results do not include this link
        self._note(path)

    def _set_attributes(self, path: str, mode: int, *, uid: int, gid: int, follow: bool) -> None:
        if _may_be_dropped(mode):
            self._adapter.obstacles(path, follow).changing(uid, gid, mode)
        if follow:
            self._adapter.set_directory_attributes(path, uid, gid, mode)
        else:
            self._adapter.set_attributes(path, uid, gid, mode)
        self._note(path)

    def set_all_attributes(self, wanted: Sequence[NewAttributes]) -> None:
        """See the base class. Syncs once at the end if there are many."""
        many = len(wanted) > _SYNCED
        for one in wanted:
            self._context.check_cancelled()
            try:
                self._set_one(one, many)
            except ResourceError:
                if self._adapter.status(one.path) is not None:
                    raise  # else another process has removed it in the meantime
        if many:
            self._adapter.sync_all()

    def _set_one(self, one: NewAttributes, many: bool) -> None:
        if one.kind == "symlink":
            self._adapter.set_link_owner(one.path, one.uid, one.gid)
        elif many:
            self._adapter.set_one_of_many(one.path, (one.uid, one.gid, one.mode))
        else:
            self._adapter.set_attributes(one.path, one.uid, one.gid, one.mode)

    def _unlink(self, path: str) -> None:
        self._adapter.remove(path)
        self._note(path)

    def _remove_tree(self, path: str) -> None:
        # A file that would remain keeps its directories: a removal that would fail changes nothing.
        self._adapter.obstacles(path).removing(tree=True)
        self._adapter.remove_tree(path, at_once=True)
        self._note(path)

    def removed_with(self, user: "User", paths: Sequence[str]) -> ContextManager[None]:
        """See ``account_removal.removed_with``."""
        from remote_runtime.host.machine import account_removal

        self._note(*paths)
        return account_removal.removed_with(self._adapter, user, paths)


def _may_be_dropped(mode: int) -> bool:
    """Return whether Linux may silently drop setgid. This must be known in advance, because the
    earlier mode could not be restored.
    """
    return bool(mode & stat.S_ISGID) and os.geteuid() != 0
