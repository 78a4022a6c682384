"""What a user may reach and execute, by owner, group and mode (target; in previews only)."""

import os
from typing import TYPE_CHECKING, Optional, Sequence, Union

from remote_runtime.system.walk import gets_acl, has_acl

if TYPE_CHECKING:
    from remote_runtime.system.accounts import Identity
    from remote_runtime.system.files import Files, Status
    from remote_runtime.world.nodes import Node

ELF = b"\x7fELF"
_ORDER, _MACHINE = slice(5, 6), slice(18, 20)  # of the bytes, and for which it is
_TOGETHER = ({b"\x3e\0", b"\x03\0"}, {b"\xb7\0", b"\x28\0"})  # x86 and Arm, 64 and 32 bits
_OTHER_FORMATS = "/proc/sys/fs/binfmt_misc"


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
        if identity.uid != status.uid and (has_acl(path) or gets_acl(path)):
            return bool(status.mode & 0o011)  # of a list the mode has the mask, and the others
        return bool(_granted(status, identity.uid, (identity.gid, *identity.groups)) & 1)


def ours(there: "Union[Status, Node]") -> int:
    """What we may do by the attributes of a file or folder: 4 read, 2 write, 1 execute."""
    return _granted(there, os.geteuid(), (os.getegid(), *os.getgroups()))


def _granted(there: "Union[Status, Node]", uid: int, groups: Sequence[int]) -> int:
    if uid == there.uid:
        return there.mode >> 6 & 7
    return there.mode >> 3 & 7 if there.gid in groups else there.mode & 7


def interpreter_of(head: bytes) -> bytes:
    """The interpreter of a script that begins so, as the kernel reads it; b"" for none."""
    line = head[2:].split(b"\n")[0].replace(b"\t", b" ")
    return line.strip(b" ").split(b" ")[0]


def is_foreign(head: bytes) -> bool:
    """Whether a program that begins so is one of another kind of machine, which cannot run here."""
    if not head.startswith(ELF) or other_formats():
        return False
    try:
        with open("/proc/self/exe", "rb") as file:
            own = file.read(_MACHINE.stop)
    except OSError:
        return False
    machines = {own[_MACHINE], head[_MACHINE]}
    alike = len(machines) == 1 or any(machines <= family for family in _TOGETHER)
    return own[_ORDER] != head[_ORDER] or not alike


def other_formats() -> bool:
    """Whether this host may start what is neither a script nor an ELF program of its own kind."""
    try:
        return bool(set(os.listdir(_OTHER_FORMATS)) - {"register", "status"})
    except OSError:
        return False
