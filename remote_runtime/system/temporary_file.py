"""Temporary files that are renamed into place (target); imported only when one is written."""

import errno
import os
import stat
from typing import Callable, Optional, Set, Tuple

from remote_runtime.system import inode_flags
from remote_runtime.system.errno_messages import failure, refusal
from remote_runtime.system.extended_attributes import Attributes
from remote_runtime.system.paths import stamp, write_all
from remote_runtime.system.pending_fsyncs import begin_sync, sync_now
from remote_runtime.system.walk import Place

_NAME_ROOM = 200  # of the 255 bytes of a name, so that the temporary one fits as well
_FOUND = (getattr(os, "O_PATH", 0) or os.O_RDONLY | os.O_NONBLOCK) | os.O_NOFOLLOW


class Temporary(object):
    """A temporary file for ``target``; ``discard`` it unless ``commit`` succeeded.

    Every step raises ``ResourceError`` and leaves the target unchanged. ``sync`` receives the open
    directory of the rename. ``beside`` is one that was started immediately before, so attributes of
    its directory need not be read again.
    """

    def __init__(
        self,
        target: str,
        place: Place,
        *,
        registered: Set["Temporary"],
        unique: str,
        sync: Optional[Callable[[int], None]] = None,
        beside: Optional["Temporary"] = None,
    ) -> None:
        self._target = target
        self._registered = registered
        self._place = place
        short = os.fsdecode(os.fsencode(place.name)[:_NAME_ROOM])
        self._name = ".%s.%s" % (short, unique)
        self.path = os.path.join(os.path.dirname(target), self._name)
        self._descriptor = -1
        self._size = 0
        self._synced: Optional[Tuple[int, ...]] = None
        self._sync = sync or sync_now
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        known = beside is not None and beside._place.directory is place.directory
        if not known and inode_flags.read(".", place.directory.descriptor) & inode_flags.APPEND:
            # It could neither be renamed nor removed.
            raise refusal("write", target, errno.EPERM)
        registered.add(self)
        try:
            self._descriptor = os.open(self._name, flags, 0o600, dir_fd=place.directory.descriptor)
        except OSError as error:
            registered.discard(self)
            raise failure("write", target, error) from error

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._size += len(data)
        try:
            write_all(self._descriptor, data)
        except OSError as error:
            raise failure("write", self._target, error) from error

    def reopened(self) -> int:
        """A descriptor for reading the file from its beginning, which the caller closes."""
        descriptor = os.dup(self._descriptor)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    def finish(self, uid: int, gid: int, mode: int, attributes: Attributes) -> None:
        """Call ``dress`` and ``sync``."""
        self.dress(uid, gid, mode, attributes)
        self.sync()

    def dress(self, uid: int, gid: int, mode: int, attributes: Attributes) -> None:
        """Set owner, group, mode and the extended attributes of the replaced file.

        The mode is set last; until then, only the owner can read it.
        """
        old = self._replaced() if attributes.carried else None
        try:
            self._dress(uid, gid, mode=mode, attributes=attributes, old=old)
        finally:
            if old is not None:
                os.close(old)

    def dress_as(self, old: int, attributes: Attributes) -> None:
        """Set owner, group, mode, extended attributes and times to those of the open file ``old``.
        Rights that this would give others as its owner or group are omitted.
        """
        status = os.fstat(old)
        mode = stat.S_IMODE(status.st_mode) & ~(stat.S_ISUID | stat.S_ISGID)
        self._dress(status.st_uid, status.st_gid, mode=mode, attributes=attributes, old=old)
        try:
            os.utime(self._descriptor, ns=(status.st_atime_ns, status.st_mtime_ns))
        except OSError as error:
            raise failure("write", self._target, error) from error

    def _dress(
        self, uid: int, gid: int, *, mode: int, attributes: Attributes, old: Optional[int]
    ) -> None:
        try:
            own = os.fstat(self._descriptor)
            if (own.st_uid, own.st_gid) != (uid, gid):
                os.fchown(self._descriptor, uid, gid)
            attributes.copy(old, self._target, self._descriptor, mode)
            os.fchmod(self._descriptor, mode)
        except OSError as error:
            raise failure("write", self._target, error) from error

    def begin_sync(self) -> None:
        """Make the system start writing it to disk, so that several files share their ``sync``."""
        begin_sync(self._descriptor, self._size)

    def sync(self) -> None:
        """Return once it is on disk; it is then finished."""
        try:
            os.fsync(self._descriptor)
            self._synced = stamp(os.fstat(self._descriptor))
        except OSError as error:
            raise failure("write", self._target, error) from error
        finally:
            self._close()

    def is_whole(self, place: Place) -> bool:
        """Return whether it is still next to its destination, unchanged since it was synced."""
        at = self._place.directory
        if at.identity != place.directory.identity:
            return False
        try:
            status = os.stat(self._name, dir_fd=at.descriptor, follow_symlinks=False)
        except OSError:
            return False
        return stamp(status) == self._synced

    def _replaced(self) -> Optional[int]:
        """The regular file that it replaces, opened only to query its attributes."""
        try:
            old = os.open(self._place.name, _FOUND, dir_fd=self._place.directory.descriptor)
        except OSError:
            return None
        if stat.S_ISREG(os.fstat(old).st_mode):
            return old
        os.close(old)
        return None

    def commit(self) -> None:
        """Put it in place in one step, and make that durable."""
        at = self._place.directory.descriptor
        try:
            os.rename(self._name, self._place.name, src_dir_fd=at, dst_dir_fd=at)
            self._registered.discard(self)
            self._sync(at)
        except OSError as error:
            raise failure("replace", self._target, error) from error

    def discard(self) -> None:
        """Remove it, unless it is already in place."""
        self._close()
        if self in self._registered:
            self.unlink()
            self._registered.discard(self)

    def unlink(self) -> None:
        """Remove its name; may be called from any thread."""
        try:
            os.unlink(self._name, dir_fd=self._place.directory.descriptor)
        except FileNotFoundError:
            pass

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
