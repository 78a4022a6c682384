"""The port for mounts, with the common parts of the machine and the overlay (target).

``Mounts`` checks whether a change is possible and selects the program; the machine runs it, and the
overlay records the result.
"""

import os
import stat
from typing import Callable, List, Optional, Sequence

from remote_runtime.errors import ResourceError
from remote_runtime.host.file_ports import FileReader
from remote_runtime.system.kernel import fstab, mounts
from remote_runtime.system.kernel.fstab import Entry
from remote_runtime.system.kernel.mounts import MountEntry, MountTable

_KIND = "resource.mount"


class MountReader(object):
    """Reads mounts, and the table of file systems, on the machine or on an overlay."""

    def __init__(self, adapter: Callable[[], MountTable]) -> None:
        self._find_adapter = adapter

    @property
    def _adapter(self) -> MountTable:
        return self._find_adapter()

    def table(self) -> str:
        """The text of fstab, "" if there is no such file."""
        return self._adapter.table()

    def at(self, point: str) -> Optional[MountEntry]:
        """The topmost mount at a path, None if there is none."""
        return self._adapter.at(point)

    def is_source(self, mounted: MountEntry, wanted: Entry) -> bool:
        """Return whether a mount matches an entry, regardless of the options."""
        return self._adapter.is_source(mounted, wanted)

    def is_swap(self, device: str) -> bool:
        """Return whether the host swaps to a device or file."""
        return self._adapter.is_swap(device)

    def is_stale(self) -> bool:
        """Return whether the table of file systems has changed since systemd read it."""
        return self._adapter.is_stale()


class Mounts(MountReader):
    """Mounts and unmounts file systems, as root only. The table is not changed.

    The methods here decide what to do, and an implementation does it.
    """

    files: FileReader

    # -- methods of an implementation -------------------------------------------------------------

    def _perform(self, argv: Sequence[str]) -> None:
        """Run a program of the host."""
        raise NotImplementedError

    def _beneath(self, point: str) -> Optional[MountEntry]:
        """The contents of a new mount at a path."""
        raise NotImplementedError

    def _mounts(self, entry: Entry) -> None:
        """Apply the effect of ``mount`` to the overlay."""

    def _remounts(self, now: MountEntry, entry: Entry) -> None:
        """Apply the effect of a remount with other options to the overlay."""

    def _unmounts(self, now: MountEntry) -> None:
        """Apply the effect of ``umount`` to the overlay."""

    def _swaps(self, device: str, on: bool) -> None:
        """Apply the effect of ``swapon`` or ``swapoff`` to the overlay."""

    def _inside(self, point: str) -> List[str]:
        """The mounts below a mount point."""
        raise NotImplementedError

    def _users(self, point: str) -> List[str]:
        """The processes that prevent an unmount."""
        raise NotImplementedError

    # -- methods for types ------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read mounts and the table again, because other programs change them, too."""
        raise NotImplementedError

    def reload(self) -> None:
        """Make systemd read the table of file systems again."""
        raise NotImplementedError

    def require_mountable(self, entry: Entry) -> None:
        """``ResourceError`` if an entry cannot be mounted, as far as this is known before its mount
        point is created.
        """
        _require_root()
        self._require_source(entry)
        if self.files.stat(entry.point) is not None:
            self._require_point(entry)

    def mount(self, entry: Entry) -> None:
        """Mount an entry on its mount point, which must exist. Undone if it fails halfway, such as
        a bind mount that does not become read-only, or if another process mounts something there
        at the same time.
        """
        _require_root()
        self._require_source(entry)
        self._require_point(entry)
        options = ",".join(fstab.for_kernel(entry.options))
        kind = entry.type if entry.type not in ("", "none") else ""
        words = ["mount", *(["-t", kind] if kind else []), *(["-o", options] if options else [])]
        before = self.at(entry.point)
        try:
            self._perform([*words, entry.device, entry.point])
        except ResourceError:
            half = self.at(entry.point)
            if half is not None and half != before and self.is_source(half, entry):
                self._perform(["umount", entry.point])
            raise
        if self._beneath(entry.point) != before:
            self._perform(["umount", entry.point])
            raise changed("the mount at %s" % entry.point)
        self._mounts(entry)

    def remount(self, now: MountEntry, entry: Entry) -> None:
        """Remount with the options of an entry."""
        _require_root()
        wanted = fstab.for_kernel(entry.options)
        binds = fstab.is_binding(entry.options)
        skipped_options = ("mode", "uid", "gid", "bind", "rbind")
        words = [word for word in wanted if word.partition("=")[0] not in skipped_options]
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
        """Unmount a path. Refused while it is in use, or while something is mounted below it."""
        _require_root()
        inside = self._inside(now.point)
        if inside:
            raise ResourceError(
                "%s cannot be unmounted: %s is mounted below it" % (now.point, inside[0]),
                kind=_KIND + ".busy",
                hint="unmount it first in an earlier resource",
            )
        users = self._users(now.point)
        if users:
            raise busy_error(now.point, users)
        self._perform(["umount", now.point])
        self._unmounts(now)

    def swap_on(self, device: str, options: str) -> None:
        """Use a device or file as swap space. It must already be formatted as swap."""
        _require_root()
        self._require_device(device)
        words = [w for w in fstab.for_kernel(options) if w not in ("sw", "rw", "ro")]
        extra = ["-o", ",".join(words)] if words else []
        self._perform(["swapon", *extra, device])
        self._swaps(device, True)

    def swap_off(self, device: str) -> None:
        """Stop using a device or file as swap space."""
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
                "the mount point %s is a %s, but must be a %s"
                % (entry.point, point.kind, wanted if wanted != "other" else "file"),
                kind=_KIND + ".point",
                hint="use another mount point",
            )


def mode_of(options: Sequence[str]) -> Optional[int]:
    """The mode in the options of an in-memory file system; None if it is not a number."""
    for word in options:
        name, _, value = word.partition("=")
        if name == "mode":
            try:
                return stat.S_IMODE(int(value, 8))
            except ValueError:
                return None
    return 0o1777


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
        hint="find out what else manages it, then push again",
    )


def busy_error(point: str, users: Sequence[str]) -> ResourceError:
    """The error for a mount point that is in use by these processes."""
    return ResourceError(
        "%s is busy: it is used by %s" % (point, ", ".join(users)),
        kind=_KIND + ".busy",
        hint="stop what uses it in an earlier resource",
    )


def _missing(what: str, path: str) -> ResourceError:
    return ResourceError(
        "%s %s does not exist" % (what, path),
        kind="resource.missing",
        hint="create it in an earlier resource",
    )
