"""The ports through which a type reads and changes what is mounted (target).

See ``ports`` for what all of them have in common.
"""

from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from remote_runtime.system.kernel.fstab import Entry
    from remote_runtime.system.kernel.mounts import MountEntry


class MountReader(object):
    """Reads what is mounted, and the table of file systems."""

    def table(self) -> str:
        """The text of fstab, "" where there is none."""
        raise NotImplementedError

    def at(self, point: str) -> "Optional[MountEntry]":
        """What is mounted on top at a path, None for nothing."""
        raise NotImplementedError

    def is_source(self, mounted: "MountEntry", wanted: "Entry") -> bool:
        """Whether what is mounted is what an entry has, whatever their options."""
        raise NotImplementedError

    def is_swap(self, device: str) -> bool:
        """Whether the host swaps to a device or file."""
        raise NotImplementedError

    def is_stale(self) -> bool:
        """Whether systemd has read the table of file systems before it was changed."""
        raise NotImplementedError


class Mounts(MountReader):
    """Mounts and unmounts file systems. Only root may; the table is not changed."""

    def refresh(self) -> None:
        """Read what is mounted, and the table, again: others change them, too."""
        raise NotImplementedError

    def require_mountable(self, entry: "Entry") -> None:
        """``ResourceError`` for what keeps an entry from being mounted, as far as that can be seen
        before its mount point is made."""
        raise NotImplementedError

    def mount(self, entry: "Entry") -> None:
        """Mount what an entry has, on its mount point, which must exist. Undone if somebody else
        mounts something there at the same time."""
        raise NotImplementedError

    def remount(self, now: "MountEntry", entry: "Entry") -> None:
        """Give what is mounted the options of an entry."""
        raise NotImplementedError

    def unmount(self, now: "MountEntry") -> None:
        """Unmount it. Refused while something uses it, or is mounted below it."""
        raise NotImplementedError

    def swap_on(self, device: str, options: str) -> None:
        """Use a device or file, which is made for it, as swap space."""
        raise NotImplementedError

    def swap_off(self, device: str) -> None:
        """Use it as swap space no longer."""
        raise NotImplementedError

    def reload(self) -> None:
        """Have systemd read the table of file systems again."""
        raise NotImplementedError
