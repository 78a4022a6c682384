"""Paths that are the same because a directory is mounted in two places (target; in
previews only).
"""

import os
from typing import Dict, List, NamedTuple, Optional

from remote_runtime.system.mount_escapes import unescape
from remote_runtime.system.paths import content_of, is_within

_TABLE = "/proc/self/mountinfo"


class _Mount(NamedTuple):
    """A mount: ``root`` of the file system ``device`` is visible at ``point``."""

    device: str
    root: str
    point: str


class Mounts(object):
    """The host's mounts, read on first use."""

    def __init__(self, table: str = _TABLE) -> None:
        self._table = table
        self._shared: Optional[Dict[str, List[_Mount]]] = None
        self._at: Dict[str, _Mount] = {}  # by the mount point; of several, the last

    def is_point(self, path: str) -> bool:
        """Return whether something is mounted at a path without links."""
        self._require_read()
        return path in self._at

    def others(self, path: str) -> List[str]:
        """Return the other paths, without links, for the same file or directory."""
        shared = self._require_read()
        if not shared:
            return []
        here = self._of(path)
        if here is None or here.device not in shared:
            return []
        inside = _joined(here.root, _rest(path, here.point))
        result = []
        for mount in shared[here.device]:
            if mount != here and is_within(inside, mount.root):
                other = _joined(mount.point, _rest(inside, mount.root))
                if self._of(other) == mount:
                    result.append(other)
        return result

    def _require_read(self) -> Dict[str, List[_Mount]]:
        if self._shared is None:
            self._shared = self._read()
        return self._shared

    def _of(self, path: str) -> Optional[_Mount]:
        """Return the innermost mount that contains a path."""
        while path not in self._at and path.strip("/"):
            path = path.rpartition("/")[0]
        return self._at.get(path or "/")

    def _read(self) -> Dict[str, List[_Mount]]:
        result: Dict[str, List[_Mount]] = {}
        for fields in [line.split(b" ") for line in content_of(self._table).split(b"\n")[:-1]]:
            device, root, point = (unescape(os.fsdecode(field)) for field in fields[2:5])
            self._at[point] = mount = _Mount(device, root, point)
            result.setdefault(device, []).append(mount)
        return {device: mounts for device, mounts in result.items() if len(mounts) > 1}


def _rest(path: str, directory: str) -> str:
    return path[len(directory.rstrip("/")) :].lstrip("/")


def _joined(directory: str, rest: str) -> str:
    return os.path.join(directory, rest) if rest else directory
