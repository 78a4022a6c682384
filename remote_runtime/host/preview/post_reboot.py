"""Unknown regions after a planned reboot of the host (target; in a preview only)."""

import os
from typing import List, Optional

from remote_runtime.system.mount_escapes import unescape
from remote_runtime.system.paths import content_of, is_within

_MOUNTS, _FSTAB = "/proc/self/mounts", "/etc/fstab"
_VOLATILE = ("/run", "/var/run", "/tmp", "/dev", "/proc", "/sys")  # where it starts


class RebootCoverage(object):
    """The ``covers`` function of an unknown effect: units, paths on file systems that a boot
    recreates or does not mount, and commands that may read anything.
    """

    def __init__(self, mounts: str = _MOUNTS, fstab: str = _FSTAB) -> None:
        self._files = mounts, fstab
        self._points: Optional[List[str]] = None

    def __call__(self, kind: str, value: str, present: bool) -> bool:
        if kind in ("unit", "host"):
            return True
        return kind == "path" and any(is_within(value, point) for point in self._gone())

    def _gone(self) -> List[str]:
        """The mount points of file systems that are in memory or missing from ``/etc/fstab``."""
        if self._points is None:
            kept = [fields[1] for fields in _fields(self._files[1]) if fields[2] != "tmpfs"]
            mounted = [fields[1] for fields in _fields(self._files[0])]
            gone = [point for point in mounted if point != "/" and point not in kept]
            self._points = list(_VOLATILE) + gone
        return self._points


def _fields(path: str) -> List[List[str]]:
    """The lines of a table of mounts, as far as they can be read: what, where, kind and so on."""
    lines = [line.split() for line in content_of(path).split(b"\n")]
    fields = [line for line in lines if len(line) > 2 and not line[0].startswith(b"#")]
    return [[unescape(os.fsdecode(field)) for field in line] for line in fields]
