"""Obstacles to the removal of a planned tree by a user other than root (target)."""

import errno
import os
import stat
from typing import TYPE_CHECKING, Callable, List, Optional

from remote_runtime.errors import ResourceError
from remote_runtime.system.errno_messages import NO_ACCESS, refusal
from remote_runtime.system.preconditions import LOOKED_AT, flags

if TYPE_CHECKING:
    from remote_runtime.system.files import Files
    from remote_runtime.system.paths import Status


def require_removable(files: "Files", top: str, rights: Callable[[str], Optional[int]]) -> None:
    """Raise ``ResourceError`` if something in a directory, at any depth, cannot be removed,
    ``Unknowable`` if that is unknown; if there are too many names, only the first are checked.

    ``rights`` returns our planned rights in a directory, as in ``ours``; None if the host decides.
    """
    remaining, seen = [top], 0
    while remaining and seen <= LOOKED_AT:
        directory = remaining.pop()
        held = files.status(directory)
        if held is None:
            continue  # another process has removed it in the meantime
        names = _names(files, directory)
        if not _is_open(directory, rights(directory), bool(names)):
            raise refusal("remove", directory, errno.EACCES)
        seen += len(names)
        children = [
            (path, files.status(path)) for path in (os.path.join(directory, n) for n in names)
        ]
        holds = flags(directory)
        for path, status in children:
            if holds or flags(path) or not (_is_ours(held) or _goes(held, status)):
                raise refusal("remove", directory, errno.EPERM)
        remaining += [
            path for path, status in reversed(children) if status and status.kind == "directory"
        ]


def _names(files: "Files", directory: str) -> List[str]:
    try:
        return files.entries(directory)
    except ResourceError as error:
        if error.kind == NO_ACCESS:
            raise refusal("remove", directory, errno.EACCES) from error
        raise


def _is_open(directory: str, planned: Optional[int], filled: bool) -> bool:
    """Return whether the content of a directory can be removed; even an empty directory must be
    entered."""
    needed = (os.W_OK if filled else 0) | os.X_OK
    if planned is not None:
        return planned & needed == needed
    return os.access(directory, needed, effective_ids=True)


def _is_ours(status: "Optional[Status]") -> bool:
    return status is None or status.uid == os.geteuid()


def _goes(directory: "Status", status: "Optional[Status]") -> bool:
    """Return whether a name can be removed from a directory of another user."""
    return not directory.mode & stat.S_ISVTX or _is_ours(status)
