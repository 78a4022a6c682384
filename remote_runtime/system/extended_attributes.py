"""Extended attributes of files: ACLs, SELinux labels and the user's own (target)."""

import errno
import os
from typing import TYPE_CHECKING, Dict, List, Optional

from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from remote_runtime.system.process.commands import Commands

_LABEL = "security.selinux"
_SELINUX = "/sys/fs/selinux/enforce"
# They vouch for the old content; on new content they would be wrong or a gift.
_OF_THE_CONTENT = ("security.capability", "security.ima", "security.evm")
_ACL = "system.posix_acl_access"
_ACL_OF_NEW = "system.posix_acl_default"
_OWNER, _GROUP, _MASK, _OTHER = 0x01, 0x04, 0x10, 0x20  # tags of entries, as the kernel has them
_NONE_HERE = (errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENODATA, errno.ENOENT, errno.ENOSYS)


def labels_files() -> bool:
    """Return whether the policy of this system has a label for each file."""
    return os.path.exists(_SELINUX)


class Attributes(object):
    """Copies extended attributes from a replaced file to its replacement.

    ``labels``: the result of ``labels_files``, if known. ``carried``: whether any are copied, which
    is false if nothing is replaced.
    """

    def __init__(
        self,
        commands: Optional["Commands"] = None,
        labels: Optional[bool] = None,
        carried: bool = True,
    ) -> None:
        self._commands = commands
        self.carried = carried
        self._labels = labels_files() if labels is None else labels

    def copy(self, old: Optional[int], path: str, descriptor: int, mode: int) -> None:
        """Copy them from the open file ``old`` to the open file ``descriptor``, which has the name
        ``path``.

        If there is no old file or it has no label, SELinux's policy determines the label for the
        path. An access ACL is limited by ``mode``, so that it never allows reads that the mode
        prevents; an ACL inherited from the directory is removed if the old file has none.
        """
        if not hasattr(os, "listxattr"):
            return  # macOS: the standard library has no access to them
        names: List[str] = []
        if old is not None:
            # A descriptor that only names a file cannot be asked itself.
            source = "/proc/self/fd/%d" % old
            names = [name for name in _names(source) if name not in _OF_THE_CONTENT]
            for name in names:
                if name != _ACL:
                    _carry(name, source, descriptor, path)
            acl = _value(_ACL, source, path) if _ACL in names else None
            if acl is not None:
                _put(_ACL, with_mode(acl, mode), descriptor, path)
            else:
                _remove(_ACL, descriptor, path)
        if self._labels and _LABEL not in names:
            self._label_by_policy(path, descriptor)

    def _label_by_policy(self, path: str, descriptor: int) -> None:
        if self._commands is None or not self._commands.find("matchpathcon"):
            return
        result = self._commands.run(["matchpathcon", "-n", path], timeout=10)
        label = result.stdout.strip()
        if result.code == 0 and label and label != "<<none>>":
            try:
                os.setxattr(descriptor, _LABEL, label.encode() + b"\0")
            except OSError as error:
                raise _failure(_LABEL, path, error) from error


def with_mode(acl: bytes, mode: int) -> bytes:
    """An access ACL as ``chmod`` would leave it: the group's bits apply to the mask, if there is
    one.
    """
    import struct

    entries = [list(entry) for entry in struct.iter_unpack("<HHI", acl[4:])]
    masked = any(tag == _MASK for tag, _, _ in entries)
    bits = {_OWNER: mode >> 6 & 7, _MASK if masked else _GROUP: mode >> 3 & 7, _OTHER: mode & 7}
    return acl[:4] + b"".join(
        struct.pack("<HHI", tag, bits.get(tag, allowed), who) for tag, allowed, who in entries
    )


def default_list_mode(directory: str) -> int:
    """The permissions that a directory's default ACL leaves to new entries; all if it has no such
    ACL.

    A directory that does not exist yet will have the ACL of its parent.
    """
    import struct

    while not os.path.lexists(directory) and directory != os.path.dirname(directory):
        directory = os.path.dirname(directory)
    try:
        acl = os.getxattr(directory, _ACL_OF_NEW)
    except (AttributeError, OSError):
        return 0o7777
    allowed: Dict[int, int] = {tag: bits for tag, bits, _ in struct.iter_unpack("<HHI", acl[4:])}
    group: int = allowed.get(_MASK, allowed.get(_GROUP, 7))
    return 0o7000 | allowed.get(_OWNER, 7) << 6 | group << 3 | allowed.get(_OTHER, 7)


def _names(source: str) -> List[str]:
    try:
        return os.listxattr(source)
    except OSError as error:
        if error.errno in _NONE_HERE:
            return []
        raise


def _carry(name: str, source: str, descriptor: int, path: str) -> None:
    value = _value(name, source, path)
    if value is not None:
        _put(name, value, descriptor, path)


def _value(name: str, source: str, path: str) -> Optional[bytes]:
    try:
        return os.getxattr(source, name)
    except OSError as error:
        if error.errno in _NONE_HERE:
            return None
        raise _failure(name, path, error) from error


def _put(name: str, value: bytes, descriptor: int, path: str) -> None:
    try:
        os.setxattr(descriptor, name, value)
    except OSError as error:
        # Not root: what only root may set (trusted.*, security.*) cannot be carried over. When the
        # new file has the same value already, nothing is lost.
        if _same(name, value, descriptor):
            return
        raise _failure(name, path, error) from error


def _remove(name: str, descriptor: int, path: str) -> None:
    try:
        os.removexattr(descriptor, name)
    except OSError as error:
        if error.errno not in _NONE_HERE:
            raise _failure(name, path, error) from error


def _same(name: str, value: bytes, descriptor: int) -> bool:
    try:
        return os.getxattr(descriptor, name) == value
    except OSError:
        return False


def _failure(name: str, path: str, error: OSError) -> ResourceError:
    return ResourceError(
        "could not copy the extended attribute %s of %s: %s" % (name, path, error.strerror),
        kind="resource.file.attributes",
        hint="run with become",
    )
