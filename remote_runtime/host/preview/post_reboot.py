"""Unknown regions after a planned reboot of the host (target; in a preview only)."""

import os
from typing import List, Optional

from remote_runtime.system.mount_escapes import unescape
from remote_runtime.system.paths import content_of, is_within

_MOUNTS = "/proc/self/mounts"
_VOLATILE = ("/run", "/var/run", "/tmp", "/dev", "/proc", "/sys")  # where it starts


class RebootCoverage(object):
    """The ``covers`` function of an unknown effect: units, paths on file systems that a boot
    recreates, mounts or does not mount, and commands that may read anything.

    ``table`` is the text of fstab at the reboot, None if it is unknown.
    """

    def __init__(self, table: Optional[str], mounts: str = _MOUNTS) -> None:
        self._table, self._mounts = table, mounts
        self._points: Optional[List[str]] = None

    def __call__(self, kind: str, value: str, present: bool) -> bool:
        if kind in ("unit", "host") or (kind == "path" and self._table is None):
            return True
        return kind == "path" and any(is_within(value, point) for point in self._changed())

    def _changed(self) -> List[str]:
        """The mount points of file systems that are in memory, not mounted by a boot or not mounted
        yet, and the swap space in fstab.
        """
        if self._points is None:
            table = [fields for fields in _fields(self._table or "") if _is_automatic(fields)]
            kept = [fields[1] for fields in table if fields[2] != "tmpfs"]
            mounted = [fields[1] for fields in _fields(os.fsdecode(content_of(self._mounts)))]
            gone = [point for point in mounted if point != "/" and point not in kept]
            come = [fields[1] for fields in table if fields[1] not in mounted]
            swaps = [fields[0] for fields in table if fields[2] == "swap"]
            self._points = [*_VOLATILE, *gone, *come, *swaps]
        return self._points


def _is_automatic(fields: List[str]) -> bool:
    """Return whether a boot mounts what a line of fstab names, or mounts it when it is used."""
    options = "".join(fields[3:4]).split(",")
    return "noauto" not in options or "x-systemd.automount" in options


def _fields(text: str) -> List[List[str]]:
    """The lines of a table of mounts, as far as they can be read: what, where, kind and so on."""
    lines = [line.split() for line in text.split("\n")]
    fields = [line for line in lines if len(line) > 2 and not line[0].startswith("#")]
    return [[unescape(field) for field in line] for line in fields]
