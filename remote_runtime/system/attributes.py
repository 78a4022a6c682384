"""Extended attributes of files: ACLs, SELinux labels and the user's own (target)."""

import errno
import os
from typing import TYPE_CHECKING, List, Optional

from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from remote_runtime.system.commands import Commands

_LABEL = "security.selinux"
# They vouch for the old content; on new content they would be wrong or a gift.
_OF_THE_CONTENT = ("security.capability", "security.ima", "security.evm")
_NONE_HERE = (errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENODATA, errno.ENOENT, errno.ENOSYS)


class Attributes(object):
    """Carries extended attributes from the file that is replaced to the one that replaces it."""

    def __init__(
        self, commands: Optional["Commands"] = None, selinux: str = "/sys/fs/selinux/enforce"
    ) -> None:
        self._commands = commands
        self._selinux = selinux

    def copy(self, old: str, new: str, descriptor: int) -> None:
        """Copy them from the path ``old``, if it is a regular file, to the open file ``new``.

        Without a file to copy from, the label is the one that SELinux's policy has for the path.
        """
        if not hasattr(os, "listxattr"):
            return  # macOS: the standard library has no access to them
        label = False
        if os.path.isfile(old) and not os.path.islink(old):
            for name in _names(old):
                if name not in _OF_THE_CONTENT:
                    _carry(name, old, descriptor)
                    label = label or name == _LABEL
        if not label and os.path.exists(self._selinux):
            self._label_by_policy(old, descriptor)

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


def _names(path: str) -> List[str]:
    try:
        return os.listxattr(path, follow_symlinks=False)
    except OSError as error:
        if error.errno in _NONE_HERE:
            return []
        raise


def _carry(name: str, old: str, descriptor: int) -> None:
    try:
        value = os.getxattr(old, name, follow_symlinks=False)
    except OSError as error:
        if error.errno in _NONE_HERE:
            return
        raise _failure(name, old, error) from error
    try:
        os.setxattr(descriptor, name, value)
    except OSError as error:
        # Not root: what only root may set (trusted.*, security.*) cannot be carried over. When the
        # new file has the same value already, nothing is lost.
        if _same(name, value, descriptor):
            return
        raise _failure(name, old, error) from error


def _same(name: str, value: bytes, descriptor: int) -> bool:
    try:
        return os.getxattr(descriptor, name) == value
    except OSError:
        return False


def _failure(name: str, path: str, error: OSError) -> ResourceError:
    return ResourceError(
        "could not carry the extended attribute %s of %s over: %s" % (name, path, error.strerror),
        kind="resource.file.attributes",
        hint="run with become",
    )
