"""The only door to the file system (target).

A file is written as a temporary one in the same folder, finished there and renamed, so that it is
whole at every instant; temporary files still there when the run is given up are removed.
"""

import errno
import os
import stat
from typing import TYPE_CHECKING, Callable, Dict, Generator, List, NamedTuple, Optional, Set, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.lean.digest import sha256
from remote_runtime.system.attributes import Attributes

if TYPE_CHECKING:
    from remote_runtime.system.unfinished import Unfinished

BLOCK = 256 << 10
_NAME_ROOM = 200  # of the 255 bytes of a name, so that the temporary one fits as well

_WORDS = {
    errno.ENOSPC: ("the disk is full", "free space or inodes on this file system"),
    errno.EDQUOT: ("the disk quota is used up", "raise the quota or free space"),
    errno.EROFS: ("the file system is read-only", "remount it writable"),
    errno.EACCES: ("permission denied", "run with become"),
    errno.EPERM: ("operation not permitted", "run with become, or look for an immutable attribute"),
    errno.EBUSY: (
        "it is a mount point",
        "a bind-mounted file cannot be replaced; manage its source",
    ),
    errno.ELOOP: ("too many symlinks", "follow the links on the host"),
    errno.ENAMETOOLONG: ("the name is too long", "a name holds at most 255 bytes"),
    errno.ENOTDIR: ("a part of the path is not a directory", "check the path"),
    errno.ENOTEMPTY: ("the directory is not empty", "it is left alone; check the path"),
}


def failure(doing: str, path: str, error: OSError) -> ResourceError:
    """The error for people: what was being done to which path, why it failed, what to do."""
    number = error.errno or 0
    words, hint = _WORDS.get(number, (error.strerror or str(error), ""))
    if number == errno.ENOENT and doing == "write" and os.path.isdir(os.path.dirname(path)):
        words = "no file can be made in %s" % os.path.dirname(path)
        hint = "what the kernel shows as files is set by its own tools: use an exec"
    kind = "resource.file." + errno.errorcode.get(number, "other").lower()
    return ResourceError("could not %s %s: %s" % (doing, path, words), kind=kind, hint=hint)


class Status(NamedTuple):
    """What ``lstat`` says about a path; ``mode`` holds the special bits too."""

    kind: str  # file, directory, symlink or other
    mode: int
    uid: int
    gid: int
    size: int
    mtime: int  # seconds since the epoch
    identity: Tuple[int, ...]  # changes whenever the content does


class Files(object):
    """Files and directories; symlinks at the end of a path are never followed."""

    def __init__(self) -> None:
        self._hashes: Dict[str, Tuple[Tuple[int, ...], str]] = {}
        self._temporary: Set[str] = set()
        self._private: Set[str] = set()
        self._staged: Set[str] = set()
        self._unfinished: Optional["Unfinished"] = None
        self._state = ""
        self._warn: Callable[[str], None] = lambda text: None

    def note_in(self, state: str, warn: Callable[[str], None]) -> None:
        """Note in this folder where something is made, which the next run removes if this one is
        killed; ``warn`` is told where that cannot be done.
        """
        self._state, self._warn = state, warn

    @property
    def unfinished(self) -> "Unfinished":
        """The journal of this run."""
        if self._unfinished is None:
            from remote_runtime.system.unfinished import Unfinished

            self._unfinished = Unfinished(self._state, self._warn)
        return self._unfinished

    def status(self, path: str) -> Optional[Status]:
        """What is there; None when nothing is. ``ResourceError`` where that cannot be told."""
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise failure("look at", path, error) from error
        return _status(found)

    def is_directory(self, path: str) -> bool:
        """Whether the path is a directory, symlinks followed."""
        return os.path.isdir(path)

    def exists(self, path: str) -> bool:
        """Whether something is there, symlinks followed."""
        return os.path.exists(path)

    def sha256(self, path: str, known: Optional[Status] = None) -> str:
        """The hash of a file's content; not computed again while its status stays the same."""
        known = known or self.status(path)
        held = self._hashes.get(path)
        if held is not None and known is not None and held[0] == known.identity:
            return held[1]
        digest = sha256(size=known.size if known is not None else 0)
        for block in self.blocks(path):
            digest.update(block)
        if known is not None:
            self._hashes[path] = (known.identity, digest.hexdigest())
        return str(digest.hexdigest())

    def blocks(self, path: str) -> Generator[bytes, None, None]:
        """Yield the content of a regular file; the last part of the path may not be a symlink."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError as error:
            raise failure("read", path, error) from error
        try:
            while True:
                block = os.read(descriptor, BLOCK)
                if not block:
                    return
                yield block
        except OSError as error:
            raise failure("read", path, error) from error
        finally:
            os.close(descriptor)

    def read(self, path: str, limit: int) -> bytes:
        """The content of a file; ``ResourceError`` for one of more than ``limit`` bytes."""
        data = b""
        for block in self.blocks(path):
            data += block
            if len(data) > limit:
                raise ResourceError(
                    "%s holds more than %d bytes" % (path, limit), kind="resource.file.size"
                )
        return data

    def entries(self, path: str) -> List[str]:
        """The names in a directory, sorted."""
        try:
            return sorted(os.listdir(path))
        except OSError as error:
            raise failure("list", path, error) from error

    def temporary(self, path: str) -> "Temporary":
        """Begin a file that is to replace ``path``: empty, beside it, ours alone to read."""
        name = self.unfinished.name(os.path.dirname(path))
        return Temporary(path, self._temporary, name)

    def stage(self, parent: str) -> str:
        """The name for a folder in this one, made and removed by the caller; then ``staged``."""
        name = "." + self.unfinished.name(parent)
        self._staged.add(name)
        return name

    def staged(self, name: str) -> None:
        """That folder is gone."""
        self._staged.discard(name)

    def discard_temporary(self) -> None:
        """Remove every temporary file and folder still there; from any thread, as a last act."""
        for path in list(self._temporary):
            try:
                os.unlink(path)
            except OSError:
                continue
            self._temporary.discard(path)
        for path in list(self._private):
            self.remove_private_folder(path)
        if self._unfinished is not None and not (self._temporary or self._staged):
            self._unfinished.close()

    def private_folder(self) -> str:
        """A new folder for work that is not the target's state; nobody else may enter it."""
        import tempfile

        parent = os.path.realpath(tempfile.gettempdir())
        path = os.path.join(parent, self.unfinished.name(parent))
        try:
            os.mkdir(path, 0o700)
            self._private.add(path)
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError as error:
            raise failure("create a folder in", parent, error) from error
        try:
            self.unfinished.made(descriptor)
        finally:
            os.close(descriptor)
        return path

    def remove_private_folder(self, path: str) -> None:
        """Remove such a folder with everything in it; what does not go is left."""
        import shutil

        shutil.rmtree(path, ignore_errors=True)
        self._private.discard(path)

    def create_directory(self, path: str, mode: int) -> None:
        """Create a directory and its missing parents, which get ``mode`` as the umask leaves it."""
        missing = []
        parent = os.path.dirname(path)
        while not os.path.lexists(parent):
            missing.append(parent)
            parent = os.path.dirname(parent)
        try:
            # os.makedirs gives the parents another mode since Python 3.7.
            for parent in reversed(missing):
                os.mkdir(parent, mode)
            os.mkdir(path, 0o700)
        except OSError as error:
            raise failure("create the directory", path, error) from error

    def set_attributes(self, path: str, uid: int, gid: int, mode: int) -> None:
        """Set owner, group and mode of what is there itself, never of what a symlink names."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
        try:
            self._make_readable(path)
            descriptor = os.open(path, flags)
            try:
                before = os.fstat(descriptor)
                if (before.st_uid, before.st_gid) != (uid, gid):
                    os.fchown(descriptor, uid, gid)
                os.fchmod(descriptor, mode)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise failure("set the attributes of", path, error) from error

    def _make_readable(self, path: str) -> None:
        """Its owner may have taken away the right to open it, which only root does not need."""
        found = os.lstat(path)
        ours = os.geteuid() != 0 and found.st_uid == os.geteuid()
        if ours and not found.st_mode & 0o400 and not stat.S_ISLNK(found.st_mode):
            os.chmod(path, stat.S_IMODE(found.st_mode) | 0o400)

    def remove(self, path: str) -> None:
        """Remove a file, a symlink or an empty directory."""
        try:
            if stat.S_ISDIR(os.lstat(path).st_mode):
                os.rmdir(path)
            else:
                os.unlink(path)
        except OSError as error:
            raise failure("remove", path, error) from error

    def remove_tree(self, path: str) -> None:
        """Remove a directory with everything in it; symlinks in it are removed, not followed."""
        import shutil

        try:
            shutil.rmtree(path)
        except OSError as error:
            raise failure("remove", error.filename or path, error) from error


def _status(found: os.stat_result) -> Status:
    if stat.S_ISREG(found.st_mode):
        kind = "file"
    elif stat.S_ISDIR(found.st_mode):
        kind = "directory"
    else:
        kind = "symlink" if stat.S_ISLNK(found.st_mode) else "other"
    identity = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    mode = stat.S_IMODE(found.st_mode)
    mtime = int(found.st_mtime)
    return Status(kind, mode, found.st_uid, found.st_gid, found.st_size, mtime, identity)


class Temporary(object):
    """A file on its way to ``target``; ``discard`` it unless ``commit`` was reached.

    Every step raises ``ResourceError`` and leaves the target as it was.
    """

    def __init__(self, target: str, registered: Set[str], unique: str) -> None:
        self._target = target
        self._registered = registered
        folder, name = os.path.split(target)
        short = os.fsdecode(os.fsencode(name)[:_NAME_ROOM])
        self.path = os.path.join(folder, ".%s.%s" % (short, unique))
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        registered.add(self.path)
        try:
            self._descriptor = os.open(self.path, flags, 0o600)
        except OSError as error:
            registered.discard(self.path)
            raise failure("write", target, error) from error

    def write(self, data: bytes) -> None:
        """Append bytes."""
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            raise failure("write", self._target, error) from error

    def finish(self, uid: int, gid: int, mode: int, attributes: Attributes) -> None:
        """Give it owner, group, mode and the extended attributes of what it replaces; sync it."""
        try:
            own = os.fstat(self._descriptor)
            if (own.st_uid, own.st_gid) != (uid, gid):
                os.fchown(self._descriptor, uid, gid)
            os.fchmod(self._descriptor, mode)
            attributes.copy(self._target, self.path, self._descriptor)
            # An access ACL that was carried over holds the old mode; the mode that is wanted wins.
            os.fchmod(self._descriptor, mode)
            os.fsync(self._descriptor)
        except OSError as error:
            raise failure("write", self._target, error) from error
        finally:
            self._close()

    def commit(self) -> None:
        """Put it at its place in one step, and make that last."""
        try:
            os.rename(self.path, self._target)
            self._registered.discard(self.path)
            folder = os.open(os.path.dirname(self._target), os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise failure("replace", self._target, error) from error

    def discard(self) -> None:
        """Remove it, unless it is at its place already."""
        self._close()
        if self.path in self._registered:
            try:
                os.unlink(self.path)
            except FileNotFoundError:
                pass
            self._registered.discard(self.path)

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
