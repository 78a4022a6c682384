"""What becomes of mounts, the same on the machine and on the overlay (target).

``Mounts`` looks whether something can be done and names the program; the machine runs it, and the
overlay records the outcome.
"""

import os
import stat
from typing import List, Optional, Sequence

from remote_runtime.errors import ResourceError
from remote_runtime.host import mount_ports
from remote_runtime.host.file_ports import FileReader
from remote_runtime.system.kernel import fstab, mounts
from remote_runtime.system.kernel.fstab import Entry
from remote_runtime.system.kernel.mounts import MountEntry

_KIND = "resource.mount"


class Mounts(mount_ports.Mounts):
    """The rules; an implementation reads, and performs what they come to."""

    files: FileReader

    # -- what an implementation has ---------------------------------------------------------------

    def _perform(self, argv: Sequence[str]) -> None:
        """Run a program of the host."""
        raise NotImplementedError

    def _beneath(self, point: str) -> Optional[MountEntry]:
        """What lies below what has just been mounted at a path."""
        raise NotImplementedError

    def _mounts(self, entry: Entry) -> None:
        """What ``mount`` leaves, on the overlay."""

    def _remounts(self, now: MountEntry, entry: Entry) -> None:
        """The same with other options."""

    def _unmounts(self, now: MountEntry) -> None:
        """What ``umount`` leaves, on the overlay."""

    def _swaps(self, device: str, on: bool) -> None:
        """What ``swapon`` and ``swapoff`` leave, on the overlay."""

    def _inside(self, point: str) -> List[str]:
        """What is mounted below a mount point."""
        raise NotImplementedError

    def _users(self, point: str) -> List[str]:
        """The processes that keep a mount from being taken away."""
        raise NotImplementedError

    # -- what types call --------------------------------------------------------------------------

    def require_mountable(self, entry: Entry) -> None:
        """See the base class."""
        _require_root()
        self._require_source(entry)
        if self.files.stat(entry.point) is not None:
            self._require_point(entry)

    def mount(self, entry: Entry) -> None:
        """See the base class."""
        _require_root()
        self._require_source(entry)
        self._require_point(entry)
        options = ",".join(fstab.for_kernel(entry.options))
        kind = entry.type if entry.type not in ("", "none") else ""
        words = ["mount", *(["-t", kind] if kind else []), *(["-o", options] if options else [])]
        before = self.at(entry.point)
        self._perform([*words, entry.device, entry.point])
        if self._beneath(entry.point) != before:
            self._perform(["umount", entry.point])
            raise changed("what is mounted at %s" % entry.point)
        self._mounts(entry)

    def remount(self, now: MountEntry, entry: Entry) -> None:
        """See the base class."""
        _require_root()
        wanted = fstab.for_kernel(entry.options)
        binds = fstab.is_binding(entry.options)
        left = ("mode", "uid", "gid", "bind", "rbind")
        words = [word for word in wanted if word.partition("=")[0] not in left]
        changed = fstab.differing(entry.options, now.options, now.on_system)
        words += [word for word in changed if word not in words]
        if binds:
            known = {*fstab.NEGATED, *fstab.NEGATED.values()}
            words = ["bind", *(word for word in words if word in known or word.endswith("atime"))]
        # With both names, mount reads no options from the table, which may be old.
        names = [entry.point] if binds else [now.source, entry.point]
        self._perform(["mount", "-o", ",".join(["remount", *words]), *names])
        self._remounts(now, entry)

    def unmount(self, now: MountEntry) -> None:
        """See the base class."""
        _require_root()
        inside = self._inside(now.point)
        if inside:
            raise ResourceError(
                "%s cannot be unmounted: %s is mounted below it" % (now.point, inside[0]),
                kind=_KIND + ".busy",
                hint="unmount that first, in an earlier resource",
            )
        users = self._users(now.point)
        if users:
            raise busy_error(now.point, users)
        self._perform(["umount", now.point])
        self._unmounts(now)

    def swap_on(self, device: str, options: str) -> None:
        """See the base class."""
        _require_root()
        self._require_device(device)
        words = [w for w in fstab.for_kernel(options) if w not in ("sw", "rw", "ro")]
        extra = ["-o", ",".join(words)] if words else []
        self._perform(["swapon", *extra, device])
        self._swaps(device, True)

    def swap_off(self, device: str) -> None:
        """See the base class."""
        _require_root()
        self._perform(["swapoff", device])
        self._swaps(device, False)

    # -- rules ------------------------------------------------------------------------------------

    def _require_source(self, entry: Entry) -> None:
        if fstab.is_binding(entry.options):
            node = self.files.stat(entry.device)
            if node is None:
                raise _missing("the directory", entry.device)
        elif entry.type not in ("overlay", "fuse", "9p", "cifs"):
            self._require_device(entry.device)

    def _require_device(self, device: str) -> None:
        key = device.partition("=")[0].upper()
        missing = key in ("UUID", "LABEL", "PARTUUID", "PARTLABEL", "ID") and (
            not mounts.resolved(device)
        )
        if device.startswith("/") and not device.startswith("//"):
            missing = self.files.stat(device) is None
        if missing:
            raise _missing("the device", device)

    def _require_point(self, entry: Entry) -> None:
        point = self.files.stat(entry.point)
        binds = fstab.is_binding(entry.options)
        source = self.files.stat(entry.device) if binds else None
        wanted = "directory" if source is None else source.kind
        if point is None:
            raise _missing("the mount point", entry.point)
        if (point.kind == "directory") != (wanted == "directory"):
            raise ResourceError(
                "the mount point %s is a %s, and has to be a %s"
                % (entry.point, point.kind, wanted if wanted != "other" else "file"),
                kind=_KIND + ".point",
                hint="use another mount point",
            )


def mode_of(options: Sequence[str], key: str, usual: int, base: int = 10) -> Optional[int]:
    """A number among the options of a file system in memory; None for what is none."""
    for word in options:
        name, _, value = word.partition("=")
        if name == key:
            try:
                return stat.S_IMODE(int(value, base)) if key == "mode" else int(value, base)
            except ValueError:
                return None
    return usual


def _require_root() -> None:
    if os.geteuid() != 0:
        raise ResourceError(
            "only root may mount and unmount file systems",
            kind=_KIND,
            hint="use become for the host, or connect as root",
        )


def changed(what: str) -> ResourceError:
    """The error for a mount or table that another process changed during the run."""
    return ResourceError(
        "%s was changed by another process at the same time" % what,
        kind=_KIND + ".changed",
        hint="find out who manages it, too, and push again",
    )


def busy_error(point: str, users: Sequence[str]) -> ResourceError:
    """The error for a mount point that these users keep busy."""
    return ResourceError(
        "%s is busy: it is used by %s" % (point, ", ".join(users)),
        kind=_KIND + ".busy",
        hint="end what uses it in an earlier resource",
    )


def _missing(what: str, path: str) -> ResourceError:
    return ResourceError(
        "%s %s does not exist" % (what, path),
        kind="resource.missing",
        hint="make it in an earlier resource",
    )
