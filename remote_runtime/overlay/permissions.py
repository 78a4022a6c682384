"""A user's rights to reach and execute files, by owner, group and mode (target; in previews
only)."""

import os
import struct
from typing import TYPE_CHECKING, Optional, Sequence, Union

from remote_runtime.errors import ResourceError
from remote_runtime.system.walk import LINK, access_list

if TYPE_CHECKING:
    from remote_runtime.overlay.planned_nodes import Node
    from remote_runtime.system.accounts import Identity
    from remote_runtime.system.files import Files
    from remote_runtime.system.paths import Status

ELF = b"\x7fELF"
_ORDER, _MACHINE = slice(5, 6), slice(18, 20)  # of the bytes, and for which it is
_TOGETHER = ({b"\x3e\0", b"\x03\0"}, {b"\xb7\0", b"\x28\0"})  # x86 and Arm, 64 and 32 bits
_VERSION, _USER, _OWN_GROUP, _GROUP, _MASK = 4, 0x02, 0x04, 0x08, 0x10  # of access lists
_READERS = ("sh", "bash", "dash", "ksh", "zsh", "python", "perl", "ruby")
_OTHER_FORMATS = "/proc/sys/fs/binfmt_misc"


class Permissions(object):
    """The rights of one identity, None for root, over current or planned files."""

    def __init__(self, files: "Files", identity: "Optional[Identity]") -> None:
        self._files, self._identity = files, identity

    def reach(self, path: str) -> bool:
        """Return whether every directory above a path may be entered; with a trailing slash, the
        path itself is included.
        """
        parts = path.split("/")
        for directory in ("/".join(parts[:length]) or "/" for length in range(1, len(parts))):
            status = self._status(directory)
            if status is not None and not self._may(directory, status, root=True):
                return False
        return True

    def _status(self, path: str) -> "Optional[Status]":
        """Return the status of the path; the kernel follows the links that we do not follow
        ourselves."""
        try:
            return self._files.status(path, follow=True)
        except ResourceError as error:
            if error.kind != LINK:
                raise
            return self._files.status(os.path.realpath(path))

    def execute(self, path: str) -> bool:
        """Return whether a file may be reached and executed."""
        if not self.reach(path):
            return False
        status = self._status(path)
        return status is None or self._may(path, status, root=bool(status.mode & 0o111))

    def read(self, path: str) -> bool:
        """Return whether a file may be read once it is reached."""
        status = self._status(path)
        return status is None or self._may(path, status, root=True, right=4)

    def write(self, directory: str) -> bool:
        """Return whether something can be created in a directory; True if the directory does not
        exist."""
        if not self.reach(directory + "/"):
            return False
        status = self._status(directory)
        return status is None or self._may(directory, status, root=True, right=2)

    def _may(self, path: str, status: "Status", root: bool, right: int = 1) -> bool:
        """Return whether the right exists, as in ``ours``; ``root``: whether root would have it."""
        identity = self._identity
        if identity is None or identity.uid == 0:
            return root
        groups = (identity.gid, *identity.groups)
        listed = access_list(path) if identity.uid != status.uid else b""
        if listed:
            return bool(_by_list(listed, status, identity.uid, groups) & right)
        return bool(_granted(status, identity.uid, groups) & right)


def ours(there: "Union[Status, Node]") -> int:
    """Return our rights by the attributes of a file or directory: 4 read, 2 write, 1 execute."""
    return _granted(there, os.geteuid(), (os.getegid(), *os.getgroups()))


def _granted(there: "Union[Status, Node]", uid: int, groups: Sequence[int]) -> int:
    if uid == there.uid:
        return there.mode >> 6 & 7
    return there.mode >> 3 & 7 if there.gid in groups else there.mode & 7


def _by_list(listed: bytes, there: "Status", uid: int, groups: Sequence[int]) -> int:
    """Return the same rights by an access list; the mode then contains its mask and the rights of
    all others.
    """
    entries = list(struct.iter_unpack("<HHI", listed[_VERSION:]))
    if _MASK not in [tag for tag, _, _ in entries]:
        return _granted(there, uid, groups)
    mask = there.mode >> 3 & 7
    for tag, rights, number in entries:
        if tag == _USER and number == uid:
            return int(rights & mask)
    of_groups = [
        rights
        for tag, rights, number in entries
        if (tag == _OWN_GROUP and there.gid in groups) or (tag == _GROUP and number in groups)
    ]
    if not of_groups:
        return there.mode & 7
    found = 0
    for rights in of_groups:
        found |= rights & mask
    return found


def needs_reading(interpreter: bytes) -> bool:
    """Return whether an interpreter reads the script that names it."""
    name = os.path.basename(interpreter).decode("utf-8", "replace")
    return name.rstrip("0123456789.") in _READERS


def interpreter_of(head: bytes) -> bytes:
    """Return the interpreter of a script with this beginning, as the kernel reads it; b""
    for none.
    """
    line = head[2:].split(b"\n")[0].replace(b"\t", b" ")
    return line.strip(b" ").split(b" ")[0]


def is_foreign(head: bytes) -> bool:
    """Return whether a program with this head is for another kind of machine and cannot run
    here."""
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
    """Return whether this host may start files that are neither scripts nor its own kind of ELF
    program."""
    try:
        return bool(set(os.listdir(_OTHER_FORMATS)) - {"register", "status"})
    except OSError:
        return False
