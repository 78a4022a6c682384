"""Checks whether an action on a path would fail, without trying it (target).

A preview calls these checks; they raise the errors of the attempt.
"""

import errno
import os
import stat
from typing import Callable, FrozenSet, Hashable, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.errors import ResourceError, UnsettledError
from remote_runtime.system import inode_flags
from remote_runtime.system.errno_messages import failure, many_names, refusal
from remote_runtime.system.mount_escapes import unescape
from remote_runtime.system.paths import content_of, has_long_name, is_too_long, is_within, walk

PAGE = 4096  # minimum bytes of a file in memory
LOOKED_AT = 50000  # names in a tree
_READ_ONLY, _NO_EXECUTION = 1, 8  # ST_RDONLY, ST_NOEXEC
MAKING = "create the directory"


class PlannedEntry(NamedTuple):
    """A planned file or directory; ``ours`` is the access of this user, as in ``os.access``."""

    kind: str
    uid: int
    gid: int
    ours: int


def _unshared() -> bool:
    return False


def _current_number() -> Optional[int]:
    return None


def _stays(point: str) -> bool:
    return False


def _fails() -> None:
    pass


def _is_point(path: str) -> bool:
    return path in mount_points()


class PathState(NamedTuple):
    """A path, and the state of the host that affects it; ``real`` is the path without links.

    ``directory`` is the nearest existing directory of the host; ``direct``: the first new name is
    created in it, because no planned directory is below it. ``missing`` is the number of
    directories that are created before the path. ``there`` is where the host has the current
    content of the path, "" if it has none that is relevant. ``planned`` has the bytes and files
    that will be written before. ``shared`` returns whether another user can write to the directory.
    ``writable``: whether this user may create and remove names in it at that time; None if the host
    decides. ``gid`` is the group of new files in a directory with setgid, -1 for this user's.
    ``intended`` is the planned file at the path, None without one. ``names`` returns the number of
    hard links of the file at that time, None for the current number. ``points`` are planned mount
    points at or below the path. ``leaves`` returns whether a mount point of the host will be none.
    ``opens``: root will have remounted the file system with the right to write.
    ``full`` is called before a failure for lack of space.
    """

    path: str
    directory: str
    direct: bool
    there: str
    planned: Tuple[int, int] = (0, 0)
    shared: Callable[[], bool] = _unshared
    writable: Optional[bool] = None
    missing: int = 0
    gid: int = -1
    intended: Optional[PlannedEntry] = None
    names: Callable[[], Optional[int]] = _current_number
    real: str = ""
    points: Sequence[str] = ()
    leaves: Callable[[str], bool] = _stays
    opens: bool = False
    full: Callable[[], None] = _fails
    is_point: Callable[[str], bool] = _is_point


class FreeSpace(NamedTuple):
    """The free space on a file system: bytes and files, None for no limit."""

    system: Hashable
    size: Optional[int]
    files: Optional[int]

    def holds(self, size: int, files: int) -> bool:
        """Return whether this much more fits."""
        small = self.size is None or size <= self.size
        return small and (self.files is None or files <= self.files)


class UncheckedError(ResourceError):
    """A check could not be made, in most cases because another process changed the path."""


class CheckErrors(object):
    """Converts an ``OSError`` of the checks in its block into an ``UncheckedError``."""

    def __init__(self, action: str, path: str) -> None:
        self._doing, self._path = action, path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, OSError):
            failed = failure(self._doing, self._path, error)
            raise UncheckedError(failed.message, failed.kind, failed.hint) from error


class Preconditions(object):
    """Each method raises the ``ResourceError`` of the attempt, or returns."""

    def __init__(self, spot: PathState, emptied: Optional[Callable[[str], None]] = None) -> None:
        """``emptied`` checks the contents that are removed with a directory; see
        ``require_emptied``.
        """
        self.spot = spot
        self._emptied = emptied or require_emptied

    def writing(self, size: int, uid: int = -1, gid: int = -1, mode: int = 0) -> None:
        """Check writing a file of this size; -1 is the user or group of a new file."""
        with CheckErrors("write", self.spot.path):
            self._enter("write", size)
            self._owned("write", (uid, gid, mode), None)
            if self.spot.there:
                self._replaced("replace")

    def making(self, uid: int = -1, gid: int = -1, mode: int = 0o755) -> None:
        """Check creating a directory; missing parents get the permissions of ``mode``."""
        with CheckErrors(MAKING, self.spot.path):
            self._enter(MAKING, 0)
            if self.spot.missing and os.geteuid() != 0 and mode & 0o300 != 0o300:
                raise self._failure(MAKING, errno.EACCES)  # nothing is created in the first of them
            self._owned(MAKING, (uid, gid, mode), None)

    def changing(self, uid: int, gid: int, mode: int = 0) -> None:
        """Check setting owner, group and mode of the path."""
        doing = "set the attributes of"
        with CheckErrors(doing, self.spot.path):
            there, now = self.spot.there, self.spot.intended
            if now is None and there:
                now = _intended(there)
            owner = now is not None and os.geteuid() in (0, now.uid)
            if now is not None and not now.ours & os.R_OK:
                if not owner:
                    raise self._failure(doing, errno.EACCES)
                self._require_changeable(doing)  # it is made readable first
            if now is not None and now.kind == "file" and self.spot.shared():
                names = self.spot.names()
                if names is None:
                    names = os.lstat(there).st_nlink if there else 1
                if names > 1:
                    raise many_names(doing, self.spot.real, names)
            self._require_changeable(doing)
            if now is not None:
                if not owner:
                    raise self._failure(doing, errno.EPERM)
                self._owned(doing, (uid, gid, mode), (now.uid, now.gid))

    def changing_link(self, uid: int, gid: int) -> None:
        """Check setting owner and group of a symlink itself."""
        doing = "set the owner of"
        with CheckErrors(doing, self.spot.path):
            self._writable(doing, self.spot.directory)
            if self.spot.there and os.geteuid() != 0:
                status = os.lstat(self.spot.there)
                if status.st_uid != os.geteuid():
                    raise self._failure(doing, errno.EPERM)
                self._owned(doing, (uid, gid, 0), (status.st_uid, status.st_gid))

    def _require_changeable(self, action: str) -> None:
        there = self.spot.there
        self._writable(action, there or self.spot.directory)
        if there and flags(there):
            raise self._failure(action, errno.EPERM)

    def removing(self, tree: bool = False) -> None:
        """Check removing the path; ``tree``: with everything in it."""
        self._require_unmounted()
        with CheckErrors("remove", self.spot.path):
            there = self.spot.there
            if there:
                self._writable("remove", self.spot.directory)
                self._permitted("remove")
                if tree:
                    mounted_in(there, self.spot.leaves)
                self._replaced("remove")
            elif self.spot.writable is False:
                raise self._failure("remove", errno.EACCES)
            if tree:
                self._emptied(there)

    def _require_unmounted(self) -> None:
        for point in self.spot.points:
            raise refusal("remove", point, errno.EBUSY)

    def owner(self) -> Tuple[int, int]:
        """Return the owner and group of a path that is created."""
        return os.geteuid(), os.getegid() if self.spot.gid == -1 else self.spot.gid

    def spare(self) -> FreeSpace:
        """The space that is left after all planned writes."""
        with CheckErrors("inspect", self.spot.path):
            return self._spare(os.statvfs(self.spot.directory))

    def _spare(self, system: os.statvfs_result) -> FreeSpace:
        free = system.f_bfree if os.geteuid() == 0 else system.f_bavail
        inodes = system.f_ffree if os.geteuid() == 0 else system.f_favail
        size, files = self.spot.planned
        return FreeSpace(
            os.stat(self.spot.directory).st_dev,
            free * (system.f_frsize or PAGE) - size if system.f_blocks else None,
            inodes - files if system.f_files else None,
        )

    def _enter(self, action: str, size: int) -> None:
        """Check for write permission and space for a new name in the directory."""
        if is_too_long(self.spot.path) or has_long_name(self.spot.path):
            raise self._failure(action, errno.ENAMETOOLONG)
        system = os.statvfs(self.spot.directory)
        if system.f_flag & _READ_ONLY and not self.spot.opens:
            raise self._failure(action, errno.EROFS)
        if self.spot.direct:
            self._permitted(action, self.spot.missing > 0)
            number = _of_kernel(self.spot.directory)
            if number:
                raise self._failure(action, number)
        elif self.spot.writable is False:
            raise self._failure(action, errno.EACCES)
        block = system.f_frsize or PAGE
        if not self._spare(system).holds(-(-size // block) * block, 1 + self.spot.missing):
            self.spot.full()
            raise self._failure(action, errno.ENOSPC)

    def _writable(self, action: str, path: str) -> None:
        if os.statvfs(path).f_flag & _READ_ONLY and not self.spot.opens:
            raise self._failure(action, errno.EROFS)

    def _permitted(self, action: str, directories: bool = False) -> None:
        """Check that names may be created and removed in the directory; ``directories``: only
        created."""
        directory = self.spot.directory
        renamed = not directories and action not in (MAKING, "remove")
        held = flags(directory)
        # The run itself checks whether what it renames there could be moved.
        if held & (inode_flags.IMMUTABLE | (inode_flags.APPEND if renamed else 0)):
            raise self._failure(action, errno.EPERM)
        writable = self.spot.writable
        if writable is None:
            writable = self.spot.opens or os.access(
                directory, os.W_OK | os.X_OK, effective_ids=True
            )
        if not writable:
            raise self._failure(action, errno.EACCES)
        if action == "remove" and held:
            raise self._failure(action, errno.EPERM)

    def _replaced(self, action: str) -> None:
        """Check that the path can be removed from its directory."""
        there, directory = self.spot.there, os.stat(self.spot.directory)
        found, us = os.lstat(there), os.geteuid()
        if self.spot.is_point(there):
            raise self._failure(action, errno.EBUSY)
        sticky = directory.st_mode & stat.S_ISVTX and us not in (0, found.st_uid, directory.st_uid)
        if sticky or flags(there):
            raise self._failure(action, errno.EPERM)

    def _owned(
        self, action: str, wanted: Tuple[int, int, int], now: Optional[Tuple[int, int]]
    ) -> None:
        """Only root can change the owner of a file; other users can set only groups that they
        belong to, and Linux drops setgid for other groups without an error."""
        if os.geteuid() == 0:
            return
        owner, group = now or (os.geteuid(), self.spot.gid)
        ours = {os.getegid(), *os.getgroups()}
        group = os.getegid() if group == -1 else group
        uid, gid, mode = wanted
        gid = group if gid == -1 else gid
        if uid not in (-1, owner) or gid not in {group, *ours}:
            raise self._failure(action, errno.EPERM)
        if mode & stat.S_ISGID and gid not in ours:
            raise UnsettledError("mode is '%04o', not '%04o'" % (mode & ~stat.S_ISGID, mode))

    def _failure(self, action: str, number: int) -> Exception:
        return refusal(action, self.spot.path, number)


def at(
    path: str,
    real: str,
    *,
    counts: bool = True,
    planned: Tuple[int, int] = (0, 0),
    shared: Callable[[], bool] = _unshared,
    writable: Optional[bool] = None,
    within: str = "",
    gid: Optional[int] = None,
    intended: Optional[PlannedEntry] = None,
    names: Callable[[], Optional[int]] = _current_number,
    points: Sequence[str] = (),
    leaves: Callable[[str], bool] = _stays,
    opens: bool = False,
    full: Callable[[], None] = _fails,
    is_point: Callable[[str], bool] = _is_point,
    emptied: Optional[Callable[[str], None]] = None,
) -> Preconditions:
    """The preconditions of a path that resolves to ``real``.

    ``counts``: the state of the host is also the future state. ``within`` is the nearest directory
    above that will exist by then, "" for that of the host. ``gid``: None if the host's directory
    decides. See ``PathState`` for the rest, and ``Preconditions`` for ``emptied``.
    """
    directory = within or _nearest_directory(os.path.dirname(real))[0]
    on_host, status = _nearest_directory(directory)
    if gid is None:
        gid = status.st_gid if status.st_mode & stat.S_ISGID else -1
    spot = PathState(
        path,
        on_host,
        direct=on_host == directory,
        there=real if counts and os.path.lexists(real) else "",
        planned=planned,
        shared=shared,
        writable=writable,
        missing=os.path.dirname(real)[len(directory.rstrip("/")) :].count("/"),
        gid=gid,
        intended=intended,
        names=names,
        real=real,
        points=points,
        leaves=leaves,
        opens=opens,
        full=full,
        is_point=is_point,
    )
    return Preconditions(spot, emptied)


def _intended(there: str) -> PlannedEntry:
    """The current node on the host."""
    status = os.lstat(there)
    kind = {stat.S_IFREG: "file", stat.S_IFDIR: "directory"}.get(
        stat.S_IFMT(status.st_mode), "other"
    )
    readable = os.access(there, os.R_OK, effective_ids=True)
    return PlannedEntry(kind, status.st_uid, status.st_gid, os.R_OK if readable else 0)


def _nearest_directory(path: str) -> Tuple[str, os.stat_result]:
    """The nearest directory of the host at or above a path, and its status."""
    while True:
        try:
            status = os.stat(path)
            if stat.S_ISDIR(status.st_mode):
                return path, status
        except OSError:
            pass  # nothing is there, or not anymore
        path = os.path.dirname(path)


def keeps_from_executing(path: str) -> bool:
    """Return whether the file system of a path, or of its parent, does not allow
    executing files.
    """
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return bool(os.statvfs(path).f_flag & _NO_EXECUTION)


def _of_kernel(directory: str) -> int:
    """The kernel's error for creating names in its virtual file systems, 0 for other
    file systems.
    """
    for root, number in (("/proc", errno.ENOENT), ("/sys", errno.EACCES)):
        if is_within(directory, root):
            same = os.path.ismount(root) and os.stat(directory).st_dev == os.stat(root).st_dev
            return number if same else 0
    return 0


def require_emptied(top: str) -> None:
    """``ResourceError`` if something in a directory of the host, at any depth, cannot be removed;
    of very many names, the first are checked.

    "" means that the host has no such directory. Files that disappear in the meantime are ignored.
    """
    if not os.path.isdir(top) or os.path.islink(top):
        return
    us, seen = os.geteuid(), 0
    for directory, directories, files in walk(top, _unlisted):
        names, held = directories + files, _found(directory)
        open_to_us = os.access(directory, (os.W_OK if names else 0) | os.X_OK, effective_ids=True)
        if held is None or not (open_to_us or os.path.lexists(directory)):
            continue
        if not open_to_us:
            raise refusal("remove", directory, errno.EACCES)
        seen += len(names)
        if seen > LOOKED_AT:
            return
        holds, ours = flags(directory), us in (0, held.st_uid) or not held.st_mode & stat.S_ISVTX
        for path in [os.path.join(directory, name) for name in names]:
            found = None if ours else _found(path)
            if holds or flags(path) or (found is not None and found.st_uid != us):
                raise refusal("remove", directory, errno.EPERM)


def _found(path: str) -> Optional[os.stat_result]:
    """The current node, None if it no longer exists. ``OSError``"""
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


def _unlisted(error: OSError) -> None:
    if error.errno != errno.ENOENT:
        raise failure("remove", str(error.filename), error)


def mounted_in(directory: str, leaves: Callable[[str], bool] = _stays) -> None:
    """``ResourceError`` if there is a mount at a directory without links, or below it, that does
    not leave before.
    """
    for point in sorted(mount_points()):
        if is_within(point, directory) and not leaves(point):
            raise refusal("remove", point, errno.EBUSY)


def mount_points() -> FrozenSet[str]:
    """Every mount point; none if the kernel does not list them."""
    lines = content_of("/proc/self/mountinfo").split(b"\n")[:-1]
    fields = [line.split(b" ")[4] for line in lines]
    return frozenset(unescape(os.fsdecode(field)) for field in fields)


def flags(path: str) -> int:
    """The immutable and append-only flags of a file or directory; 0 if it is missing."""
    try:
        kind = stat.S_IFMT(os.lstat(path).st_mode)
    except OSError:
        return 0  # the owner of its directory may have removed it
    if kind not in (stat.S_IFREG, stat.S_IFDIR):
        return 0  # opening a device can have side effects
    return inode_flags.read(path)
