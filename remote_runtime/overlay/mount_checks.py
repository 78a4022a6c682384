"""What keeps something from being done where something is planned to be mounted (target)."""

import errno
from typing import Optional, Sequence, Tuple

from remote_runtime.effects import MountEffect
from remote_runtime.system.errno_messages import refusal
from remote_runtime.system.preconditions import PAGE, FreeSpace, Preconditions


class MountPreconditions(Preconditions):
    """The obstacles at a path with planned mount ``points`` at or below it, or on a planned
    ``mount`` of which ``taken`` says the bytes and files that are to be there; ``host`` has those
    of the host.
    """

    def __init__(
        self,
        path: str,
        host: Preconditions,
        *,
        mount: Optional[MountEffect],
        taken: Tuple[int, int],
        points: Sequence[str],
    ) -> None:
        self._path = path
        self._host = host
        self._mount = mount
        self._taken = taken
        self._points = points

    def writing(self, size: int, uid: int = -1, gid: int = -1, mode: int = 0) -> None:
        """See the base class."""
        if self._mount is None:
            self._host.writing(size, uid, gid, mode)
        else:
            self._enter_mount("write", size, self._mount)

    def making(self, uid: int = -1, gid: int = -1, mode: int = 0o755) -> None:
        """See the base class."""
        if self._mount is None:
            self._host.making(uid, gid, mode)
        else:
            self._enter_mount("create the directory", 0, self._mount)

    def changing(self, uid: int, gid: int, mode: int = 0) -> None:
        """See the base class."""
        if self._mount is None:
            self._host.changing(uid, gid, mode)
        elif self._mount.read_only:
            raise self._refused("set the attributes of", errno.EROFS)

    def changing_link(self, uid: int, gid: int) -> None:
        """See the base class."""
        if self._mount is None:
            self._host.changing_link(uid, gid)
        elif self._mount.read_only:
            raise self._refused("set the owner of", errno.EROFS)

    def removing(self, tree: bool = False) -> None:
        """See the base class."""
        for point in self._points:
            raise refusal("remove", point, errno.EBUSY)
        if self._mount is None:
            self._host.removing(tree)
        elif self._mount.read_only:
            raise self._refused("remove", errno.EROFS)

    def spare(self) -> FreeSpace:
        """See the base class."""
        if self._mount is None:
            return self._host.spare()
        used, files = self._taken
        mount = self._mount
        return FreeSpace(
            mount.path,
            mount.size - used if mount.size else None,
            mount.inodes - files if mount.inodes else None,
        )

    def _enter_mount(self, doing: str, size: int, mount: MountEffect) -> None:
        """A new file there needs space: it exists next to the old one until it replaces it."""
        if mount.read_only:
            raise self._refused(doing, errno.EROFS)
        if not self.spare().holds(-(-size // PAGE) * PAGE, 1 + self._host.missing):
            raise self._refused(doing, errno.ENOSPC)

    def _refused(self, doing: str, number: int) -> Exception:
        return refusal(doing, self._path, number)
