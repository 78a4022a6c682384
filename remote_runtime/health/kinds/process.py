"""``process``: whether a program is running (target)."""

import os

from remote_runtime.health.kind import BOOLEAN, Kind, ObservedValues, Probe, Rule
from remote_runtime.system.paths import content_of

_KERNEL_KEEPS = 15  # bytes of a name


class _Process(Kind):
    identity = "comm"
    attributes = {"running": BOOLEAN}

    def observe(self, subject: str, rule: Rule, probe: Probe) -> ObservedValues:
        wanted = os.fsencode(subject)[:_KERNEL_KEEPS]
        return {"running": any(_is(pid, wanted) for pid in os.listdir("/proc") if pid.isdigit())}


def _is(pid: str, wanted: bytes) -> bool:
    """Return whether that process runs this program and is not a zombie."""
    head, _, rest = content_of("/proc/%s/stat" % pid).rpartition(b")")
    return bool(rest) and head.partition(b"(")[2] == wanted and rest.split()[0] != b"Z"


KIND = _Process()
