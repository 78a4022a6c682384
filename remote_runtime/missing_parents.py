"""The missing parent directories of a path (target)."""

import errno
import os
import stat
from typing import TYPE_CHECKING, List

from remote_runtime.effects import PathEffect
from remote_runtime.system.errno_messages import refusal

if TYPE_CHECKING:
    from remote_runtime.system.files import Files


def parents(files: "Files", path: str, mode: int) -> List[PathEffect]:
    """Return the missing parents of a path, outermost first.

    ``ResourceError`` if one of them is a dangling symlink.
    """
    missing: List[str] = []
    above = os.path.dirname(path)
    while above != "/" and not files.exists(above):
        if files.is_there(above):
            raise refusal("create the directory", os.path.normpath(path), errno.ENOENT)
        missing.insert(0, above)
        above = os.path.dirname(above)
    if missing:
        from remote_runtime.system.extended_attributes import default_list_mode

        found = files.status(above, follow=True)
        mode &= default_list_mode(above)
        mode |= found.mode & stat.S_ISGID if found is not None else 0  # which they inherit
    return [PathEffect(each, "directory", mode, firm=False) for each in missing]
