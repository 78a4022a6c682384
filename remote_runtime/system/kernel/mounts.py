"""The mounts, and the processes that use them (target)."""

import os
from typing import (
    TYPE_CHECKING,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from remote_runtime.system.mount_escapes import unescape
from remote_runtime.system.paths import content_of, is_within

if TYPE_CHECKING:
    from remote_runtime.system.files import Files
    from remote_runtime.system.kernel.fstab import Entry

PROC = "/proc"
ETC = "/etc"
DISKS = "/dev/disk"
BLOCKS = "/sys/block"
LOADED = "/run/systemd/systemd-units-load"
FILESYSTEMS = "/proc/filesystems"
HELPERS = ("/sbin/mount.", "/usr/sbin/mount.")
_BY = ("uuid", "label", "partuuid", "partlabel", "id")
_UNNAMED = ("none", "auto", "")
_OF_PARTS = ("btrfs", "bcachefs", "nfs", "cifs", "fuse")  # whose root may be a part
_LARGEST = 1 << 20  # bytes of fstab
_LIMIT = 5  # users of a mount that are named


class MountEntry(NamedTuple):
    """A line of mountinfo: the directory ``root`` of the file system on ``device`` is visible at
    ``point``.
    """

    device: str
    root: str
    point: str
    options: Tuple[str, ...]
    type: str
    source: str
    on_system: Tuple[str, ...] = ()


class MountTable(object):
    """The mounts on the machine, read again only after changes."""

    def __init__(self, files: "Files", acted: Callable[[], int]) -> None:
        self._files, self._acted = files, acted
        self._table: Optional[str] = None
        self._without_device: Optional[Set[str]] = None
        self._read_at = -1
        self._all: List[MountEntry] = []
        self._points: Dict[str, List[MountEntry]] = {}
        self._devices: Dict[str, MountEntry] = {}  # the first mount of each
        self._swaps: List[str] = []

    def _read(self) -> None:
        if self._acted() == self._read_at:
            return
        self._all, self._swaps, self._read_at = list(_mounted()), list(_swaps()), self._acted()
        self._table = None
        self._points, self._devices = {}, {}
        for one in self._all:
            self._points.setdefault(one.point, []).append(one)
            self._devices.setdefault(one.device, one)

    def forget(self) -> None:
        """Discard the cached table."""
        self._read_at = -1

    def all(self) -> Sequence[MountEntry]:
        """The mounts in the order in which they were mounted."""
        self._read()
        return self._all

    def table(self) -> str:
        """The text of fstab, "" if there is none."""
        self._read()
        if self._table is None:
            self._table = self.read_table()
        return self._table

    def read_table(self) -> str:
        """The same, read again from disk."""
        path = os.path.join(ETC, "fstab")
        if self._files.status(path, follow=True) is None:
            return ""
        return self._files.read(path, _LARGEST, follow=True).decode("utf-8", "surrogateescape")

    def stack(self, point: str) -> List[MountEntry]:
        """Return the mounts at exactly this path, with the topmost last."""
        self._read()
        return list(self._points.get(point, ()))

    def at(self, point: str) -> Optional[MountEntry]:
        """Return the topmost mount at the path, None if there is none."""
        entries = self.stack(point)
        return entries[-1] if entries else None

    def is_swap(self, device: str) -> bool:
        """Return whether the host swaps to a device or file."""
        self._read()
        return resolved(device) in self._swaps

    def around(self, path: str) -> Optional[MountEntry]:
        """The mount that contains a path without links."""
        self._read()
        for above in (path, *_above(path)):
            if above in self._points:
                return self._points[above][-1]
        return None

    def is_stale(self) -> bool:
        """Return whether the table of file systems has changed since systemd read it."""
        try:
            loaded = os.stat(LOADED).st_mtime_ns
            return os.stat(os.path.join(ETC, "fstab")).st_mtime_ns > loaded
        except OSError:
            return False  # another init, or no table

    def is_source(self, mounted: MountEntry, wanted: "Entry") -> bool:
        """Return whether the mount corresponds to an entry."""
        from remote_runtime.system.kernel import fstab

        device = wanted.device
        if fstab.is_binding(wanted.options):
            return self._is_seen(mounted, os.path.realpath(device))
        if wanted.type not in _UNNAMED and not _same_type(mounted.type, wanted.type):
            return False
        if not self._is_whole(mounted):
            return False
        if mounted.source == device or self._has_no_device(mounted.type):
            return True
        if mounted.source.startswith("/dev/loop") and os.path.isfile(device):
            return _backing(mounted.source) == os.path.realpath(device)
        if device.startswith("/") or "=" in device:
            return os.path.realpath(mounted.source) == resolved(device)
        return mounted.source.rstrip("/") == device.rstrip("/")

    def _is_whole(self, mounted: MountEntry) -> bool:
        """Return whether it is a separate file system: neither part of another one, nor an
        in-memory one that is also mounted elsewhere. A remount would change those, too.
        """
        if mounted.type.startswith(_OF_PARTS):
            return True
        self._read()
        first = self._devices.get(mounted.device, mounted)
        shared = mounted.type in ("tmpfs", "ramfs") and first != mounted
        return mounted.root == "/" and not shared

    def _has_no_device(self, kind: str) -> bool:
        """Return whether file systems of a type have no device or server."""
        if self._without_device is None:
            self._without_device = set(_without_device())
        return kind in self._without_device

    def _is_seen(self, mounted: MountEntry, path: str) -> bool:
        around = self.around(path)
        if around is None:
            return False
        rest = path[len(around.point.rstrip("/")) :]
        root = (around.root.rstrip("/") + rest) or "/"
        if is_within(path, mounted.point) and around == mounted:
            return mounted.root == root
        return (mounted.device, mounted.root) == (around.device, root)


def resolved(device: str) -> str:
    """The path of a device, given its path, UUID or label; "" if it does not exist."""
    key, equals, value = device.partition("=")
    if equals and key.lower() in _BY and not device.startswith("/"):
        name = value.strip('"').replace("/", "\\x2f").replace(" ", "\\x20")
        path = os.path.join(DISKS, "by-" + key.lower(), name)
        return os.path.realpath(path) if os.path.lexists(path) else ""
    return os.path.realpath(device)


def users(point: str) -> Iterator[int]:
    """Yield the processes that use the file system mounted at a path, as far as visible. This
    process, which releases it, is not included.
    """
    for name in sorted(filter(str.isdigit, os.listdir(PROC)), key=int):
        directory = os.path.join(PROC, name)
        if int(name) == os.getpid():
            continue
        if _same_mounts(directory) and any(is_within(one, point) for one in _paths(directory)):
            yield int(name)


def described(pids: Iterable[int]) -> List[str]:
    """The first of these processes, each as its program with its number."""
    result = []
    for pid in pids:
        result.append("%s (%d)" % (_program(os.path.join(PROC, str(pid))), pid))
        if len(result) == _LIMIT:
            break
    return result


def is_known_type(kind: str) -> Optional[bool]:
    """Return whether the host has a type of file system, or a program for it; None if a module may
    provide it.
    """
    if kind in _UNNAMED or any(os.path.exists(directory + kind) for directory in HELPERS):
        return True
    return True if kind in os.fsdecode(content_of(FILESYSTEMS)).split() else None


def _without_device() -> Iterator[str]:
    """Yield the types of file systems without a device or server, regardless of their names."""
    of_some = ("nfs", "nfs4", "cifs", "9p", "ceph", "overlay", "fuse", "virtiofs", "btrfs")
    text = os.fsdecode(content_of(FILESYSTEMS)) or "nodev tmpfs"
    for one in [line.split() for line in text.splitlines()]:
        if one[:1] == ["nodev"] and one[1] not in of_some:
            yield one[1]


def _same_type(now: str, wanted: str) -> bool:
    return now == wanted or (now, wanted) in (("nfs4", "nfs"), ("fuseblk", "ntfs"))


def _backing(device: str) -> str:
    path = os.path.join(BLOCKS, os.path.basename(device), "loop/backing_file")
    return os.fsdecode(content_of(path)).strip()


def _mounted() -> Iterator[MountEntry]:
    """Yield the reachable mounts, each after the mount that contains it."""
    children: Dict[str, List[Tuple[str, MountEntry]]] = {}
    numbers: Dict[str, None] = {}
    for line in _lines("self/mountinfo"):
        fields = line.split(" ")
        if "-" not in fields[6:]:
            continue
        end = fields.index("-", 6)
        words = [unescape(field) for field in (*fields[2:6], *fields[end + 1 : end + 4])]
        device, root, point, options, kind, source, on_system = words
        mounted = MountEntry(
            device=device,
            root=root,
            point=point,
            options=tuple(options.split(",")),
            type=kind,
            source=source,
            on_system=tuple(on_system.split(",")),
        )
        numbers[fields[0]] = None
        children.setdefault(fields[1], []).append((fields[0], mounted))
    waiting = [one for parent, each in children.items() if parent not in numbers for one in each]
    reached: Dict[str, MountEntry] = {}
    while waiting:
        number, mounted = waiting.pop()
        reached[number] = mounted
        below = [one for one in children.get(number, ()) if one[0] != number]
        points = {one.point for _, one in below}
        waiting += [one for one in below if points.isdisjoint(_above(one[1].point))]
    for number in numbers:  # in the order in which they were mounted
        if number in reached:
            yield reached[number]


def _above(path: str) -> Iterator[str]:
    """The directories above a path, nearest first."""
    while path.strip("/"):
        path = os.path.dirname(path) or "/"
        yield path


def _swaps() -> Iterator[str]:
    for line in _lines("swaps")[1:]:
        yield os.path.realpath(unescape(line.split()[0]))


def _lines(name: str) -> List[str]:
    """The lines of a file of the kernel, none if it does not have it."""
    return os.fsdecode(content_of(os.path.join(PROC, name))).split("\n")[:-1]


def _paths(directory: str) -> Iterator[str]:
    links = ["cwd", "root", "exe"]
    try:
        links += ["fd/" + name for name in os.listdir(os.path.join(directory, "fd"))]
    except OSError:
        pass  # it has ended, or is another user's
    for link in links:
        try:
            yield os.readlink(os.path.join(directory, link))
        except OSError:
            continue


def _same_mounts(directory: str) -> bool:
    try:
        own = os.stat(os.path.join(PROC, "self/ns/mnt"))
        return os.path.samestat(os.stat(os.path.join(directory, "ns/mnt")), own)
    except OSError:
        return False


def _program(directory: str) -> str:
    return os.fsdecode(content_of(os.path.join(directory, "comm"))).strip() or "?"
