"""What a user may reach and execute, by owner, group and mode (target; in previews only)."""

import os
import stat
from typing import TYPE_CHECKING, Optional

from remote_runtime.system.walk import has_acl

if TYPE_CHECKING:
    from remote_runtime.system.accounts import Identity
    from remote_runtime.system.files import Files, Status


class Rights(object):
    """Those of one identity, None for root, over the files as they are or are planned."""

    def __init__(self, files: "Files", identity: "Optional[Identity]") -> None:
        self._files, self._identity = files, identity

    def reach(self, path: str) -> bool:
        """Whether every folder above a path may be entered; a slash at its end counts it too."""
        parts = path.split("/")
        for folder in ("/".join(parts[:length]) or "/" for length in range(1, len(parts))):
            status = self._files.status(folder, follow=True)
            if status is not None and not self._may(folder, status, root=True):
                return False
        return True

    def execute(self, path: str) -> bool:
        """Whether a file may be reached and executed."""
        if not self.reach(path):
            return False
        status = self._files.status(path, follow=True)
        return status is None or self._may(path, status, root=bool(status.mode & 0o111))

    def _may(self, path: str, status: "Status", root: bool) -> bool:
        """Whether there is the right to execute; ``root`` whether root would have it."""
        identity = self._identity
        if identity is None or identity.uid == 0:
            return root
        if has_acl(path):  # which may give the right to anybody
            return True
        if identity.uid == status.uid:
            return bool(status.mode & stat.S_IXUSR)
        if status.gid == identity.gid or status.gid in identity.groups:
            return bool(status.mode & stat.S_IXGRP)
        return bool(status.mode & stat.S_IXOTH)


def ours(mode: int, uid: int, gid: int) -> int:
    """What the user who runs this may do by these attributes: 4 read, 2 write, 1 execute."""
    if uid == os.geteuid():
        return mode >> 6 & 7
    return mode >> 3 & 7 if gid in (os.getegid(), *os.getgroups()) else mode & 7


def interpreter_of(head: bytes) -> bytes:
    """The interpreter of a script that begins so, as the kernel reads it; b"" for none."""
    line = head[2:].split(b"\n")[0].replace(b"\t", b" ")
    return line.strip(b" ").split(b" ")[0]
