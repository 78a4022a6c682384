"""Walks paths one component at a time, by descriptors (target).

The owner of a directory can put a link into it at any time. Therefore, no complete path is passed
to the kernel: each component is opened relative to the previous one, never through a link, and each
link is checked for its owner and for who can write to its directory.
"""

import errno
import os
import stat
import time
from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.system.paths import MAX_LINKS, is_too_long, stamp

LINK = "resource.file.link"  # the kind of the error over one that is not to be trusted
_PATH = getattr(os, "O_PATH", 0)  # needs no right to read; only Linux has it
# Of procfs and tracefs: reading takes what others wait for, or never ends.
_LIKE_DEVICES = ("kmsg", "kcore", "pagemap", "trace_pipe", "trace_pipe_raw", "vmcore")
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_STEP = (_PATH or os.O_RDONLY) | os.O_NOFOLLOW
_HELD = 32  # open directories, limited by the descriptors of a process
_COARSE = 5  # Linux's clock that files are stamped by
_WRITABLE_BY_GROUP, _WRITABLE_BY_ALL = 0o020, 0o002
_ACL = "system.posix_acl_access"
_ACL_OF_NEW = "system.posix_acl_default"


class Link(NamedTuple):
    """A link of another user that was followed; its target must also belong to that user."""

    path: str
    owner: int


class _Descriptor(object):
    """An open directory or link, which is closed when it is no longer used."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._close = os.close  # the module may be gone when the interpreter ends

    def __del__(self) -> None:
        self._close(self.number)


class Directory(object):
    """An open directory: ``descriptor`` is for the ``dir_fd`` of calls, as long as the directory is
    referenced.

    ``path`` is its location without links; ``by`` is the link of another user that led here.
    """

    def __init__(
        self, descriptor: _Descriptor, path: str, status: os.stat_result, by: Optional[Link] = None
    ) -> None:
        self._held = descriptor
        self.descriptor = descriptor.number
        self.path = path
        self.found = status
        self.by = by

    @property
    def identity(self) -> Tuple[int, int]:
        """Device and inode."""
        return (self.found.st_dev, self.found.st_ino)

    def reached(self, by: Optional[Link]) -> "Directory":
        """The same directory, reached through this link."""
        return self if by == self.by else Directory(self._held, self.path, self.found, by)

    def shared(self, sticky: bool = False) -> bool:
        """Return whether a user other than root and this one can change what its names refer to.

        ``sticky``: for names that belong to root or this user, which others cannot remove from a
        sticky directory.
        """
        found = self.found
        return is_shared(
            found.st_uid,
            found.st_gid,
            mode=found.st_mode,
            path="/proc/self/fd/%d" % self.descriptor,
            sticky=sticky,
        )


def is_shared(uid: int, gid: int, *, mode: int, path: str, sticky: bool) -> bool:
    """See ``Directory.shared``; the same for a directory at a path with this owner, group
    and mode.
    """
    if uid not in (0, os.geteuid()):
        return True
    if not mode & (_WRITABLE_BY_GROUP | _WRITABLE_BY_ALL) or (sticky and mode & stat.S_ISVTX):
        return False
    return bool(mode & _WRITABLE_BY_ALL) or not _has_private_group(uid, gid, path)


def _has_private_group(uid: int, gid: int, path: str) -> bool:
    """Return whether the group of a directory is root's, or has only its owner as a member."""
    if has_acl(path):
        return False  # the bits of the group stand for others then
    if gid == 0:
        return True
    import grp
    import pwd

    try:
        owner = pwd.getpwuid(uid)
        group = grp.getgrgid(gid)
    except KeyError:
        return False
    alone = not set(group.gr_mem) - {owner.pw_name}
    return alone and (owner.pw_gid, owner.pw_name) == (group.gr_gid, group.gr_name)


class Place(NamedTuple):
    """A name in an open directory; ``by`` is the link of another user that led there, if any."""

    directory: Directory
    name: str
    by: Optional[Link] = None

    @property
    def path(self) -> str:
        """Its location, without links on the way."""
        return os.path.join(self.directory.path, self.name)

    def admit(self, status: os.stat_result) -> None:
        """``ResourceError`` if a link of another user leads to something that does not belong to
        that user.
        """
        if self.by is not None:
            _admit(self.by, self.path, status)

    def require_openable(self, action: str) -> None:
        """``ResourceError`` for a device, FIFO or socket that would be read, or a file of the
        kernel that is like one. Opening one may already change the machine, such as /dev/watchdog.
        /dev/null is empty: links to it replace many files of settings. ``OSError``
        """
        if self.path == os.devnull:
            return
        at = self.directory.descriptor
        kind = stat.S_IFMT(os.stat(self.name, dir_fd=at, follow_symlinks=False).st_mode)
        is_device = kind not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
        if self.name in _LIKE_DEVICES and os.statvfs(at).f_blocks == 0:  # the kernel's own files
            is_device = True
        if action == "read" and is_device:
            raise ResourceError(
                "could not read %s: it is not a regular file" % self.path,
                kind="resource.file.kind",
                hint="check the path; ccm reads no devices, FIFOs or sockets",
            )


class Walker(object):
    """Opens the directories on paths.

    ``OSError`` from the system, ``ResourceError`` for a link that is not followed. Open directories
    are cached for later paths; one is reused as long as its path leads to it. A missing one is
    looked up only by its path until it exists.
    """

    def __init__(self) -> None:
        self._known: Dict[str, Directory] = {}
        self._missing: Set[str] = set()
        self._latest: Optional[Tuple[str, Place]] = None
        self._links = 0
        self._made: List[Place] = []

    def place(self, path: str, follow: bool = False) -> Place:
        """The location of a path; with ``follow``, after following links at its end."""
        _require_nameable(path)
        above, _, name = path.rpartition("/")
        # Like ``os.path.split``, except for a rare case: a name after a row of slashes.
        if not above or above[-1] == "/":
            above, name = os.path.split(path)
        place = Place(self.directory(above), name or ".")
        self._latest = (path, place)
        if follow:
            self._links = 0
            while True:
                link = _link(place.name, place.directory)
                if link is None:
                    break
                place = self._behind(place, *link)
        return place

    def place_made(self, path: str, mode: int) -> Place:
        """The location of a path; missing directories on the way are created with ``mode``."""
        _require_nameable(path)
        above, name = os.path.split(path)
        return Place(self.directory(above, mode), name)

    def read_latest(self, path: str, size: int, identity: Tuple[int, ...]) -> Optional[bytes]:
        """The content of the regular file whose place was requested last, if it is still that file.

        Its ``stamp`` shows that it is the same file, so its place need not be looked up again. None
        if that is uncertain: it is another path, or others may rename the file.
        """
        if self._latest is None or self._latest[0] != path:
            return None
        place = self._latest[1]
        if place.directory.by is not None or place.directory.shared():
            return None
        try:
            descriptor = os.open(place.name, READ, dir_fd=place.directory.descriptor)
            try:
                if stamp(os.fstat(descriptor)) != identity:
                    return None
                data = os.read(descriptor, size + 1)
            finally:
                os.close(descriptor)
        except OSError:
            return None
        return data if len(data) == size else None

    def directory(self, path: str, mode: int = -1) -> Directory:
        """The directory to which a path leads.

        With a ``mode``, missing directories on the way are created, limited by the umask.
        """
        self._made = []
        known = self._known.get(path)
        if known is not None and _leads_to(path, known):
            return known
        if mode < 0 and path in self._missing and not os.path.exists(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        self._links = 0
        try:
            directory = self._walk(self._root(), path, mode)
        except FileNotFoundError:
            self._missing.add(path)
            raise
        except OSError as error:
            if error.errno != errno.EMFILE or not self._known:
                raise
            self.forget()
            directory = self._walk(self._root(), path, mode)
        if len(self._known) >= _HELD:
            self._known.clear()
        self._known[path] = directory
        return directory

    def forget(self) -> None:
        """Close the cached directories, and look again for missing ones."""
        self._known.clear()
        self._missing.clear()
        self._latest = None

    def unmake(self) -> None:
        """Remove the last results of ``place_made`` if they are empty."""
        for place in reversed(self._made):
            try:
                os.rmdir(place.name, dir_fd=place.directory.descriptor)
            except OSError:
                break
        self._made = []

    def _root(self) -> Directory:
        return _open("/", "/")

    def _walk(self, directory: Directory, path: str, mode: int = -1) -> Directory:
        for name in path.split("/"):
            if name not in ("", "."):
                directory = self._step(directory, name, mode)
        return directory

    def _step(self, directory: Directory, name: str, mode: int) -> Directory:
        """The directory to which a name in a directory refers."""
        try:
            return _opened(name, directory)
        except FileNotFoundError:
            if mode < 0:
                raise
            os.mkdir(name, mode, dir_fd=directory.descriptor)
            self._made.append(Place(directory, name))
            if directory.by is not None:  # or it could not be entered again
                at = directory.descriptor
                os.chown(name, directory.by.owner, -1, dir_fd=at, follow_symlinks=False)
            return _opened(name, directory)
        except OSError as error:
            link = _link(name, directory) if error.errno in (errno.ENOTDIR, errno.ELOOP) else None
            if link is None:
                raise
        behind = self._behind(Place(directory, name), *link)
        found = self._walk(behind.directory.reached(None), behind.name)
        _admit(behind.by, found.path, found.found)
        return found.reached(behind.by)

    def _behind(self, place: Place, owner: int, target: str) -> Place:
        """The target of a link. ``ResourceError`` for a link that is not trusted."""
        self._links += 1
        if self._links > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        directory = place.directory
        by = Link(place.path, owner) if owner not in (0, os.geteuid()) else None
        if by is None and directory.shared(sticky=True):
            raise untrusted_link_error(
                Link(place.path, owner), target, directory.path, directory.found.st_uid
            )
        before = place.by or directory.by
        if before is not None and before.owner != owner:
            raise foreign_link_error(before, place.path, owner)
        above, name = os.path.split(target.rstrip("/") or "/")
        base = self._root() if target.startswith("/") else directory.reached(None)
        return Place(self._walk(base, above), name or ".", by)


def _require_nameable(path: str) -> None:
    if is_too_long(path):
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))


def clock() -> int:
    """The time in nanoseconds of the clock that stamps files; 0 if there is no such clock."""
    try:
        return int(time.clock_gettime(_COARSE) * 1e9) - 1000  # it is a float
    except (AttributeError, OSError):
        return 0


def user(number: int) -> str:
    """The name of a user for people."""
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return "user %d" % number


def _opened(name: str, within: Directory) -> Directory:
    path = os.path.dirname(within.path) if name == ".." else os.path.join(within.path, name)
    directory = _open(name, path, within.descriptor).reached(within.by)
    _admit(within.by, path, directory.found)
    return directory


def _open(name: str, path: str, within: Optional[int] = None) -> Directory:
    descriptor = _Descriptor(os.open(name, _STEP | os.O_DIRECTORY, dir_fd=within))
    return Directory(descriptor, path, os.fstat(descriptor.number))


def _admit(by: Optional[Link], path: str, status: os.stat_result) -> None:
    if by is not None and status.st_uid != by.owner:
        raise foreign_link_error(by, path, status.st_uid)


def _leads_to(path: str, directory: Directory) -> bool:
    """Return whether the path still leads to this directory, with the same owner and mode. Changes
    affect the directory, regardless of later renames.
    """
    try:
        status = os.stat(path)
    except OSError:
        return False
    held = directory.found
    same = status.st_ino == held.st_ino and status.st_dev == held.st_dev
    return same and (status.st_uid, status.st_gid, status.st_mode) == (
        held.st_uid,
        held.st_gid,
        held.st_mode,
    )


def _link(name: str, directory: Directory) -> Optional[Tuple[int, str]]:
    """The owner and target of the link at a name, or None."""
    at = directory.descriptor
    try:
        status = os.stat(name, dir_fd=at, follow_symlinks=False)
        if not stat.S_ISLNK(status.st_mode):
            return None
        if not _PATH:
            return status.st_uid, os.readlink(name, dir_fd=at)
        descriptor = _Descriptor(
            os.open(name, _STEP, dir_fd=at)
        )  # owner and target of the same link
        status = os.fstat(descriptor.number)
        if not stat.S_ISLNK(status.st_mode):
            return None
        return status.st_uid, os.readlink("", dir_fd=descriptor.number)
    except FileNotFoundError:
        return None


def has_acl(path: str) -> bool:
    """Return whether an access list, in addition to owner, group and mode, determines the rights to
    a file or directory.
    """
    try:
        return _ACL in os.listxattr(path)
    except (AttributeError, OSError):
        return False


def access_list(path: str) -> bytes:
    """The ACL of a path in the kernel's format; for a missing path, the ACL that it would inherit.
    b"" if there is none.
    """
    name = _ACL
    while not os.path.lexists(path):
        name, path = _ACL_OF_NEW, os.path.dirname(path)
    try:
        return os.getxattr(path, name)
    except (AttributeError, OSError):
        return b""


def untrusted_link_error(link: Link, target: str, directory: str, owner: int) -> ResourceError:
    """The error for a link with this owner in a directory where others can create links."""
    return ResourceError(
        (
            "refusing to follow symlink %s: owned by %s, points to %s, in a directory of %s "
            "that others can write"
        )
        % (link.path, user(link.owner), target, user(owner)),
        kind=LINK,
        hint="use the target path instead, or make %s writable only by root" % directory,
    )


def dangling_link_error(link: Link, target: str) -> ResourceError:
    """The error for a link of another user that leads to nothing: a file created there would not
    belong to that user.
    """
    whose = user(link.owner)
    return ResourceError(
        "refusing to follow symlink %s: owned by %s, points to %s, which does not exist"
        % (link.path, whose, target),
        kind=LINK,
        hint="find out why %s created it; if it is correct, use the target path instead" % whose,
    )


def foreign_link_error(link: Link, target: str, owner: int) -> ResourceError:
    """The error for a link of another user that leads to something that does not belong to that
    user.
    """
    whose = user(link.owner)
    return ResourceError(
        "refusing to follow symlink %s: owned by %s, points to %s, which is owned by %s"
        % (link.path, whose, target, user(owner)),
        kind=LINK,
        hint="find out why %s created it; if it is correct, use the target path instead" % whose,
    )
