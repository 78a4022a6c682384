"""Preconditions of changes below planned mounts (target)."""

import errno

from remote_runtime.effects import MountEffect
from remote_runtime.system.preconditions import MAKING, PAGE, FreeSpace, PathState, Preconditions


class MountPreconditions(Preconditions):
    """The preconditions of a path on a planned ``mount``, which the host does not have yet."""

    def __init__(self, spot: PathState, mount: MountEffect) -> None:
        super().__init__(spot)
        self._mount = mount

    def writing(self, size: int, uid: int = -1, gid: int = -1, mode: int = 0) -> None:
        self._enter("write", size)

    def making(self, uid: int = -1, gid: int = -1, mode: int = 0o755) -> None:
        self._enter(MAKING, 0)

    def changing(self, uid: int, gid: int, mode: int = 0) -> None:
        self._writable("set the attributes of", self.spot.path)

    def changing_link(self, uid: int, gid: int) -> None:
        self._writable("set the owner of", self.spot.path)

    def removing(self, tree: bool = False) -> None:
        self._require_unmounted()
        self._writable("remove", self.spot.path)

    def spare(self) -> FreeSpace:
        """Return the free space of the planned file system, if it has a size: that size minus the
        planned content.
        """
        used, files = self.spot.planned
        mount = self._mount
        return FreeSpace(
            mount.path,
            mount.size - used if mount.size else None,
            mount.inodes - files if mount.inodes else None,
        )

    def _enter(self, action: str, size: int) -> None:
        """Check the space for a new file: it exists next to the old one until it replaces it."""
        self._writable(action, self.spot.path)
        if not self.spare().holds(-(-size // PAGE) * PAGE, 1 + self.spot.missing):
            self.spot.full()
            raise self._failure(action, errno.ENOSPC)

    def _writable(self, action: str, path: str) -> None:
        if self._mount.read_only:
            raise self._failure(action, errno.EROFS)
