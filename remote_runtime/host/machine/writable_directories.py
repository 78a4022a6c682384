"""Directories in which root must not run programs, because other users can replace files there
(target).
"""

import os
from typing import TYPE_CHECKING

from remote_runtime.errors import ResourceError
from remote_runtime.system.walk import is_shared

if TYPE_CHECKING:
    from remote_runtime.host.file_ports import FileReader


def require_own_way(files: "FileReader", path: str, kind: str) -> None:
    """``ResourceError`` of a given kind if other users can replace the path through a directory
    above it.
    """
    above = os.path.dirname(files.real(path))
    while True:
        node = files.stat(above)
        if node is not None and is_shared(
            node.uid, node.gid, mode=node.mode, path=above, sticky=True
        ):
            raise ResourceError(
                "users other than root can change %s and replace %s while git runs as root"
                % (above, path),
                kind=kind,
                hint=(
                    "make a regular user the owner of the checkout, or move it to a "
                    "directory that only root can write to"
                ),
            )
        if above == "/":
            return
        above = os.path.dirname(above)
