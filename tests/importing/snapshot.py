"""A snapshot of a host, to compare what two tools made of it: files, accounts, packages, units.

The script runs on the host with the host's own Python. What differs between any two hosts that
were made the same way is left out or reduced: times, random keys, caches, logs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.lab import Host

Snapshot = dict[str, dict[str, Any]]

_SCRIPT = Path(__file__).with_name("on_host.py")

TREES = (
    *("/etc", "/usr/local", "/opt", "/srv", "/home", "/root", "/mnt", "/lib/systemd/system"),
    *("/var/spool/cron", "/var/www", "/var/lib/node_exporter", "/var/lib/containers-user"),
    *("/var/backups/archives", "/var/lib/backup-agent", "/var/log", "/var/lib/svc-report"),
)
SKIPPED = (
    *("/etc/machine-id", "/etc/ld.so.cache", "/etc/.pwd.lock", "/etc/resolv.conf", "/srv/ccm-repo"),
    *("/root/.ansible", "/root/.cache", "/srv/ccm-rpms", "/etc/apt/sources.list.d/projects.list"),
    # Backups of account files.
    *("/etc/passwd-", "/etc/group-", "/etc/shadow-", "/etc/gshadow-"),
    *("/etc/subuid-", "/etc/subgid-"),
    # Compared as accounts, member by member.
    *("/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow"),
    *("/var/log/journal", "/var/log/apt", "/etc/ssl/private/ssl-cert-snakeoil.key"),
)
VOLATILE = (
    r"^/var/log/.*$",  # What a log says; owner and mode count.
    r"^/etc/ssl/certs/(ssl-cert-snakeoil\.pem|ca-certificates\.crt)$",
    r"^/usr/local/lib/python3\.11/.*\.pyc$",
    r"^/etc/(aliases|postfix/.*)\.db$",
)
"""Paths with contents that no two hosts have in common."""

SESSIONS = r"^units unit (user@|user-runtime-dir@|session-|ccm-)"
"""Units of who is logged in just now."""


def take(host: Host) -> Snapshot:
    """Take a snapshot of a host."""
    words = [json.dumps(TREES), json.dumps(SKIPPED)]
    quoted = " ".join("'" + word + "'" for word in words)
    done = host.run(f"python3 - {quoted}", input=_SCRIPT.read_text(encoding="utf-8"), timeout=120)
    found: Snapshot = json.loads(done.stdout)
    return found


def differences(
    one: Snapshot, other: Snapshot, ignored: Mapping[str, str] | None = None
) -> list[str]:
    """What differs between two snapshots, a line each: kind, name, and both states.

    ``ignored`` maps patterns of such lines to the reason why such a difference does not count.
    """
    found = []
    patterns = [re.compile(pattern) for pattern in (SESSIONS, *(ignored or ()))]
    for kind in one:
        for name in sorted(set(one[kind]) | set(other[kind])):
            left, right = (_reduced(name, side[kind].get(name)) for side in (one, other))
            label = f"{kind} {name}"
            if left == right:
                continue
            line = f"{label}: {_told(left, right)}"
            if not any(pattern.search(line) for pattern in patterns):
                found.append(line)
    return found


def _reduced(name: str, value: Any) -> Any:
    if isinstance(value, dict) and any(re.search(pattern, name) for pattern in VOLATILE):
        return {key: value[key] for key in value if key not in ("sha256", "text")}
    return value


def _told(left: Any, right: Any) -> str:
    if not (isinstance(left, dict) and isinstance(right, dict)):
        return f"{_short(left)} != {_short(right)}"
    keys = [key for key in left.keys() | right.keys() if left.get(key) != right.get(key)]
    plain = sorted(set(keys) - {"text", "sha256"})
    parts = [f"{key} {left.get(key)} != {right.get(key)}" for key in plain]
    if "text" in keys or "sha256" in keys:
        parts += _diff(str(left.get("text", "")), str(right.get("text", "")))
    return "; ".join(parts)


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return str({key: value[key] for key in value if key not in ("text", "sha256")})
    return "missing" if value is None else str(value)


def _diff(left: str, right: str) -> Iterable[str]:
    import difflib

    lines = difflib.unified_diff(left.splitlines(), right.splitlines(), lineterm="", n=0)
    return ["\n    " + "\n    ".join(line for line in lines if not line.startswith(("---", "+++")))]
