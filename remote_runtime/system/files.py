"""The only interface to the file system (target).

Every path is walked with descriptors (see ``walk``), so that no link of another user can redirect
it. A file is written as a temporary file in the same directory, completed there and renamed, so it
is replaced atomically; remaining temporary files are removed when the run is cancelled.
"""

import errno
import os
import stat
import time
from typing import (
    TYPE_CHECKING,
    AbstractSet,
    Callable,
    Dict,
    Generator,
    List,
    Optional,
    Set,
    Tuple,
)

from remote_runtime.errors import ResourceError
from remote_runtime.stdlib_light.sha256_digest import sha256
from remote_runtime.system.errno_messages import NOT_A_DIRECTORY, failure, many_names
from remote_runtime.system.paths import Status, joined, links, stamp, status_of
from remote_runtime.system.walk import (
    READ,
    Directory,
    Place,
    Walker,
    clock,
    dangling_link_error,
)

if TYPE_CHECKING:
    from remote_runtime.system.preconditions import Preconditions
    from remote_runtime.system.temp_journal import TempJournal
    from remote_runtime.system.temporary_file import Temporary

BLOCK = 256 << 10
_LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_LINK = getattr(os, "O_PATH", 0)  # for a descriptor without access; only Linux has it
Reader = Callable[[], Generator[bytes, None, None]]
_TICK = 0.02  # seconds that pass at most before that clock continues


class Files(object):
    """Files and directories. Symlinks at the end of a path are not followed, unless a method
    documents it. Links of other users are refused: see ``walk``."""

    def __init__(self) -> None:
        self._hashes: Dict[str, Tuple[Tuple[int, ...], str]] = {}
        self._temporary: Set["Temporary"] = set()
        self.own_directories: Set[str] = set()  # for work that is not the target's state
        self._staged: Set[str] = set()
        self._unfinished: Optional["TempJournal"] = None
        self._state = ""
        self.sync_directory: Optional[Callable[[int], None]] = None  # None: at once
        self._warn: Callable[[str], None] = lambda text: None
        self.walker = Walker()

    def note_in(self, state: str, warn: Callable[[str], None]) -> None:
        """Record new files in this directory, so that the next run removes them if this run is
        killed. ``warn`` reports a failure to do this."""
        self._state, self._warn = state, warn

    @property
    def unfinished(self) -> "TempJournal":
        """The journal of this run."""
        if self._unfinished is None:
            from remote_runtime.system.temp_journal import TempJournal

            self._unfinished = TempJournal(self._state, self._warn)
        return self._unfinished

    def status(self, path: str, follow: bool = False) -> Optional[Status]:
        """The node at a path or, with ``follow``, at the end of links; None if it is missing.

        ``ResourceError`` if that is unknown.
        """
        try:
            return self.status_at(self.walker.place(path, follow))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise failure("inspect", path, error) from error

    def look(self, path: str, follow: bool = False) -> Optional[Status]:
        """The same; None if the path leads through a file."""
        try:
            return self.status(path, follow)
        except ResourceError as error:
            if error.kind == NOT_A_DIRECTORY:
                return None
            raise

    def status_at(self, place: Place) -> Optional[Status]:
        """Return the status of a place that was just looked up. ``OSError``; ``ResourceError`` for
        a path through another user's link."""
        try:
            at = place.directory.descriptor
            status = os.stat(place.name, dir_fd=at, follow_symlinks=False)
        except FileNotFoundError:
            return None
        place.admit(status)
        return status_of(status)

    def real(self, path: str) -> str:
        """The path with links resolved, including links at its end, which need not exist.

        ``ResourceError`` if a link of another user leads to something that does not belong to that
        user, or to nothing.
        """
        try:
            place = self.walker.place(path, follow=True)
            place.admit(_found(place))
            if place.by is not None and self.status_at(place) is None:
                raise dangling_link_error(place.by, place.path)
            return place.path
        except OSError as error:
            raise failure("inspect", path, error) from error

    def directory(self, path: str) -> Directory:
        """The existing directory, links followed; keep it while its descriptor is used."""
        try:
            return self.walker.directory(path)
        except OSError as error:
            raise failure("open", path, error) from error

    def is_directory(self, path: str) -> bool:
        """Return whether the path is a directory, resolved as in a shell."""
        return os.path.isdir(path)

    def exists(self, path: str) -> bool:
        """Return whether the path exists, resolved as in a shell."""
        return os.path.exists(path)

    def is_created(self, path: str) -> bool:
        """The same for ``creates``; in a preview, planned changes may also create the path."""
        return self.exists(path)

    def is_there(self, path: str) -> bool:
        """Return whether the path exists; a dangling symlink counts."""
        return os.path.lexists(path)

    def link(self, path: str) -> str:
        """Return the target of a symlink; "" if it is not one."""
        try:
            place = self.walker.place(path)
            return os.readlink(place.name, dir_fd=place.directory.descriptor)
        except OSError:
            return ""

    def followed(self, path: str) -> str:
        """The path as a shell follows its links."""
        try:
            return os.path.realpath(path)
        except OSError as error:  # a link may be removed while it is read
            raise failure("inspect", path, error) from error

    def links(self, path: str) -> List[str]:
        """Every link on the way from a path to its end, with the location of each."""
        return links(path)

    def mount_points(self) -> AbstractSet[str]:
        """All mount points."""
        from remote_runtime.system.preconditions import mount_points

        return mount_points()

    def require_known(self, directory: str) -> None:
        """In a preview: ``Unknowable`` if earlier resources may create anything in a directory,
        which need not exist yet."""

    def is_own(self, path: str) -> bool:
        """Return whether it is in a temporary directory, outside of the target's state."""
        return any(path.startswith(directory) for directory in self.own_directories)

    def sha256(self, path: str, known: Optional[Status] = None, follow: bool = False) -> str:
        """The hash of a file's content; computed again only if its status changes."""
        known = known or self.status(path, follow)
        cached = self._hashes.get(path)
        if cached is not None and known is not None and cached[0] == known.identity:
            return cached[1]
        data = None
        if known and known.kind == "file" and known.size < BLOCK and not follow:
            data = self.walker.read_latest(path, known.size, known.identity)
        digest = sha256(data or b"", known.size if known is not None else 0)
        for block in self.blocks(path, follow) if data is None else ():
            digest.update(block)
        checksum = str(digest.hexdigest())
        if known is not None:
            self._hashes[path] = (known.identity, checksum)
        return checksum

    def reader(self, path: str, follow: bool = False) -> Reader:
        """Return a reader of the current file or, in a preview, of the file that later resources
        would find."""
        return lambda: self.blocks(path, follow)

    def blocks(self, path: str, follow: bool = False) -> Generator[bytes, None, None]:
        """Yield the content of a regular file."""
        descriptor = self.opened(path, "read", follow)
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

    def opened(self, path: str, action: str, follow: bool = False) -> int:
        """A descriptor of the path, which the caller closes.

        ``ResourceError`` names the intended action. A file with other hard links in a directory to
        which another user can write is refused, because it may belong to anybody.
        """
        before: Optional[Tuple[int, ...]] = None
        try:
            while True:
                place = self.walker.place(path, follow)
                place.require_openable(action)
                shared = place.directory.shared()
                now = clock() if shared else 0
                descriptor = os.open(place.name, READ, dir_fd=place.directory.descriptor)
                try:
                    status = os.fstat(descriptor)
                    place.admit(status)
                    if not shared or stat.S_ISDIR(status.st_mode):
                        return descriptor
                    if status.st_nlink > 1:
                        raise many_names(action, place.path, status.st_nlink)
                    # Its other name may be gone by now. A file that did not change since before it
                    # was opened, or for a while, has had no other.
                    held = stamp(status)
                    if status.st_ctime_ns < now or held == before:
                        return descriptor
                    before = held
                except BaseException:
                    os.close(descriptor)
                    raise
                os.close(descriptor)
                time.sleep(_TICK)
        except OSError as error:
            raise failure(action, path, error) from error

    def read(
        self, path: str, limit: int, follow: bool = False, known: Optional[Status] = None
    ) -> bytes:
        """The content of a file; ``ResourceError`` for one of more than ``limit`` bytes. ``known``
        is its current node."""
        if known and known.kind == "file" and known.size <= min(limit, BLOCK):
            latest = self.walker.read_latest(path, known.size, known.identity)
            if latest is not None:
                return latest
        return joined(self.blocks(path, follow), path, limit)

    def entries(self, path: str) -> List[str]:
        """The names in a directory, sorted."""
        try:
            place = self.walker.place(path)
            descriptor = os.open(place.name, _LISTED, dir_fd=place.directory.descriptor)
            try:
                return sorted(os.listdir(descriptor))
            finally:
                os.close(descriptor)
        except OSError as error:
            raise failure("list", path, error) from error

    def listing(self, path: str) -> List[Tuple[str, Status]]:
        """The names in a directory, sorted, each with its status. Entries that disappear in the
        meantime are omitted."""
        try:
            place = self.walker.place(path)
            descriptor = os.open(place.name, _LISTED, dir_fd=place.directory.descriptor)
            try:
                result = []
                for name in sorted(os.listdir(descriptor)):
                    try:
                        at = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    place.admit(at)
                    result.append((name, status_of(at)))
                return result
            finally:
                os.close(descriptor)
        except OSError as error:
            raise failure("list", path, error) from error

    def obstacles(self, path: str, follow: bool = False) -> "Preconditions":
        """Return the preconditions for a change at the path, or at the target of a link there."""
        from remote_runtime.system import preconditions

        with preconditions.CheckErrors("inspect", path):  # a link may be removed while it is read
            above, name = os.path.split(os.path.realpath(path) if follow else path)
            real = os.path.join(os.path.realpath(above), name)
        return preconditions.at(path, real, shared=lambda: self.in_shared_directory(real))

    def in_shared_directory(self, path: str) -> bool:
        """Return whether a user other than root and this one can change what a path refers to."""
        try:
            return self.walker.place(path).directory.shared()
        except (OSError, ResourceError):
            return False

    def temporary(self, path: str, beside: Optional["Temporary"] = None) -> "Temporary":
        """Start a file that will replace ``path``: empty, next to it, readable only by its owner.

        ``beside`` is one that was started immediately before.
        """
        from remote_runtime.system.temporary_file import Temporary

        place = self.place(path, "write")
        name = self.unfinished.name(place.directory.path)
        own, sync = self._temporary, self.sync_directory
        return Temporary(path, place, registered=own, unique=name, sync=sync, beside=beside)

    def stage(self, parent: str) -> str:
        """The name for a directory in this directory; the caller creates and removes it, and then
        calls ``staged``."""
        name = "." + self.unfinished.name(parent)
        self._staged.add(name)
        return name

    def staged(self, name: str) -> None:
        """Record that the staged directory is gone."""
        self._staged.discard(name)

    def place(self, path: str, action: str) -> Place:
        """Return the place of a path. ``ResourceError`` names the intended action."""
        try:
            return self.walker.place(path)
        except OSError as error:
            raise failure(action, path, error) from error

    def discard_temporary(self) -> None:
        """Remove all remaining temporary files and directories; may be called from any thread."""
        for temporary in list(self._temporary):
            try:
                temporary.unlink()
            except OSError:
                continue
            self._temporary.discard(temporary)
        for path in list(self.own_directories):
            self.remove_private_directory(path)
        if self._unfinished is not None and not (self._temporary or self._staged):
            self._unfinished.close()

    def private_directory(self) -> str:
        """A new private working directory, which is not part of the target's state."""
        import tempfile

        parent = os.path.realpath(tempfile.gettempdir())
        path = os.path.join(parent, self.unfinished.name(parent))
        try:
            os.mkdir(path, 0o700)
            self.own_directories.add(path)
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError as error:
            raise failure("create a directory in", parent, error) from error
        try:
            self.unfinished.made(descriptor)
        finally:
            os.close(descriptor)
        return path

    def remove_private_directory(self, path: str) -> None:
        """Remove such a directory with everything in it, as far as possible."""
        from remote_runtime.system.remove_tree import clear_private

        clear_private(self.walker, path)
        self.own_directories.discard(path)

    def create_directory(self, path: str, mode: int, uid: int = -1, gid: int = -1) -> None:
        """Create a directory with these attributes, -1 for this process's user or group; missing
        parents get the permissions of ``mode``, limited by the umask. A failure leaves no
        directories."""
        try:
            place = self.walker.place_made(path, mode & 0o777)
            # A run that is cut short here leaves others the access that is wanted, or less.
            first = 0o700 | mode & 0o055
            os.mkdir(place.name, first, dir_fd=place.directory.descriptor)
            descriptor = os.open(place.name, _LISTED, dir_fd=place.directory.descriptor)
            try:
                if os.fstat(descriptor).st_uid != os.geteuid() or os.listdir(descriptor):
                    raise _replaced(path)
                _set(descriptor, uid, gid, mode)
                self._make_last(place.directory.descriptor)
            except OSError:
                try:
                    os.rmdir(
                        place.name, dir_fd=place.directory.descriptor
                    )  # since it is not wanted
                except OSError:
                    pass  # another process has put something in; the error is the original one
                raise
            finally:
                os.close(descriptor)
        except OSError as error:
            self.walker.unmake()
            raise failure("create the directory", path, error) from error

    def set_attributes(self, path: str, uid: int, gid: int, mode: int) -> None:
        """Set owner, group and mode of the path itself, never of the target of a symlink.

        ``ResourceError`` for a file with several hard links, which another user may have created.
        """
        self._change(path, (uid, gid, mode))

    def set_one_of_many(self, path: str, attributes: Tuple[int, int, int]) -> None:
        """The same with owner, group and mode at once; call ``sync_all`` after the last path."""
        self._change(path, attributes, synced=False)

    def sync_all(self) -> None:
        """Make all changes survive a power failure; for very many paths, this is the faster way."""
        os.sync()

    def set_directory_attributes(self, path: str, uid: int, gid: int, mode: int) -> None:
        """Set the attributes of a directory, after following symlinks."""
        self._change(path, (uid, gid, mode), directory=True)

    def set_link_owner(self, path: str, uid: int, gid: int) -> None:
        """Set owner and group of a symlink itself. ``ResourceError``, also if there is none."""
        doing = "set the owner of"
        try:
            place = self.walker.place(path)
            at = place.directory.descriptor
            if not _LINK:  # it may be another one by now, but is a link's own in any case
                os.chown(place.name, uid, gid, dir_fd=at, follow_symlinks=False)
                return
            descriptor = os.open(place.name, _LINK | os.O_NOFOLLOW, dir_fd=at)
            try:
                if not stat.S_ISLNK(os.fstat(descriptor).st_mode):
                    raise _replaced(path)
                os.chown("/proc/self/fd/%d" % descriptor, uid, gid)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise failure(doing, path, error) from error

    def _change(
        self,
        path: str,
        attributes: Tuple[int, int, int],
        *,
        directory: bool = False,
        synced: bool = True,
    ) -> None:
        doing = "set the attributes of"
        try:
            place = self.walker.place(path, follow=directory)
            closed = self._make_readable(place)
            try:
                descriptor = self.opened(path, doing, follow=directory)
                try:
                    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
                        self.walker.forget()  # what was found below was found by the old ones
                    elif directory:
                        raise _replaced(path)
                    _set(descriptor, *attributes)
                    if synced:
                        self._make_last(descriptor)
                finally:
                    os.close(descriptor)
            except BaseException:
                if closed is not None:
                    os.chmod(place.name, closed, dir_fd=place.directory.descriptor)
                raise
        except OSError as error:
            raise failure(doing, path, error) from error

    def _make_readable(self, place: Place) -> Optional[int]:
        """Make a directory readable whose owner may have removed the right to open it, which only
        root does not need.

        Returns its previous mode, None if it was not changed.
        """
        if os.geteuid() == 0:
            return None
        at = place.directory.descriptor
        status = os.stat(place.name, dir_fd=at, follow_symlinks=False)
        ours = status.st_uid == os.geteuid() and not stat.S_ISLNK(status.st_mode)
        if not ours or status.st_mode & 0o400:
            return None
        mode = stat.S_IMODE(status.st_mode)
        os.chmod(place.name, mode | 0o400, dir_fd=at)
        return mode

    def remove(self, path: str) -> None:
        """Remove a file, a symlink or an empty directory."""
        place = self.place(path, "remove")
        at = place.directory.descriptor
        try:
            status = os.stat(place.name, dir_fd=at, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                os.rmdir(place.name, dir_fd=at)
            else:
                os.unlink(place.name, dir_fd=at)
            self._make_last(at)
        except OSError as error:
            raise failure("remove", path, error) from error

    def remove_tree(self, path: str, at_once: bool = False) -> None:
        """Remove a directory with everything in it; symlinks in it are removed, not followed.

        ``at_once``: its name is removed first, so an interrupted run leaves no partial directory.
        """
        from remote_runtime.system.remove_tree import clear

        place = self.place(path, "remove")
        renamed = self._renamed(place) if at_once else place
        try:
            clear(renamed)
        except ResourceError as error:
            _rename_back(renamed, place)
            message = error.message.replace(renamed.path, place.path)
            raise ResourceError(message, kind=error.kind, hint=error.hint) from error
        try:
            self._make_last(place.directory.descriptor)
        except OSError as error:
            raise failure("remove", path, error) from error

    def _renamed(self, place: Place) -> Place:
        """Rename the directory; the next run removes it if this one does not."""
        from remote_runtime.system.preconditions import mounted_in

        mounted_in(place.path)
        at = place.directory.descriptor
        name = ".%s" % self.unfinished.name(place.directory.path)
        try:
            opened = os.open(place.name, _LISTED, dir_fd=at)
            try:
                self.unfinished.made(opened)
            finally:
                os.close(opened)
            os.rename(place.name, name, src_dir_fd=at, dst_dir_fd=at)
        except FileNotFoundError:
            return place  # another process has removed it
        except OSError as error:
            if error.errno == errno.EXDEV:  # overlayfs renames no directory of a lower layer
                return place
            raise failure("remove", place.path, error) from error
        return place._replace(name=name)

    def _make_last(self, descriptor: int) -> None:
        """Make a change in an open directory, or of an open file's attributes, survive a power
        failure before it is reported. ``OSError``"""
        kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
        if kind not in (stat.S_IFDIR, stat.S_IFREG):
            return
        from remote_runtime.system.pending_fsyncs import sync_now

        (self.sync_directory or sync_now)(descriptor)


def _found(place: Place) -> os.stat_result:
    """Return the status of a place; if it does not exist, the status of its parent directory."""
    try:
        return os.stat(place.name, dir_fd=place.directory.descriptor, follow_symlinks=False)
    except FileNotFoundError:
        return place.directory.found


def _rename_back(place: Place, old: Place) -> None:
    """Rename the remaining directory back."""
    at = place.directory.descriptor
    try:
        if place.name != old.name:
            os.rename(place.name, old.name, src_dir_fd=at, dst_dir_fd=at)
    except OSError:
        pass  # the error is the original one, and the next run removes the rest


def _replaced(path: str) -> ResourceError:
    message = "%s was replaced during the run" % path
    return ResourceError(message, kind="resource.file.moved", hint="find out what changes it")


def _set(descriptor: int, uid: int, gid: int, mode: int) -> None:
    status = os.fstat(descriptor)
    if (status.st_uid, status.st_gid) != (uid, gid):
        os.fchown(descriptor, uid, gid)
    os.fchmod(descriptor, mode)
