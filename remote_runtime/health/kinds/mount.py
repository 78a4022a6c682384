"""``mount``: the file system at a mount point (target)."""

import os
from typing import Any, Dict, List, Optional, Tuple

from remote_runtime.health.kind import (
    BOOLEAN,
    LIST,
    NUMBER,
    TEXT,
    Kind,
    ObservedValues,
    Probe,
    Rule,
    nothing,
)
from remote_runtime.system.mount_escapes import unescape

_TABLE = "/proc/self/mountinfo"
_DEFAULT = 1.0


class _Mount(Kind):
    identity = "mountpoint"
    attributes = {
        "exists": BOOLEAN,
        "opts": LIST,
        "vfs-opts": LIST,
        "source": TEXT,
        "filesystem": TEXT,
        "usage": NUMBER,
    }
    settings = {"timeout": NUMBER}

    def problems(self, subject: str, rule: Rule) -> List[Tuple[str, str, str]]:
        if subject.startswith("/"):
            return []
        return [("mountpoint", "a mount point must be an absolute path", "")]

    def observe(self, subject: str, rule: Rule, probe: Probe) -> ObservedValues:
        """Return the entry of the topmost mount; its usage is read only when a rule compares it."""
        with open(_TABLE, encoding="utf-8", errors="surrogateescape") as table:
            entry = find(table.read(), subject)
        if entry is None:
            return nothing("nothing is mounted at %s" % subject, self.attributes)

        # A dead network file system blocks a request for its space.
        def usage() -> int:
            space = probe.wait(probe.patience(rule, _DEFAULT), lambda: os.statvfs(subject))
            used = space.f_blocks - space.f_bfree
            total = used + space.f_bavail
            return -(-used * 100 // total) if total else 0

        return dict(entry, exists=True, usage=usage)


def find(table: str, mountpoint: str) -> Optional[Dict[str, Any]]:
    """Return the last mount at a point in the text of ``mountinfo``, which is the visible one."""
    wanted = mountpoint.rstrip("/") or "/"
    found = None
    for line in table.splitlines():
        own, _, shared = line.partition(" - ")
        fields, rest = own.split(" "), shared.split(" ")
        if len(fields) > 5 and len(rest) > 2 and unescape(fields[4]) == wanted:
            found = {
                "opts": fields[5].split(","),
                "vfs-opts": rest[2].split(","),
                "filesystem": rest[0],
                "source": unescape(rest[1]),
            }
    return found


KIND = _Mount()
