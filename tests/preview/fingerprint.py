"""What is on a host: every path with its attributes, what runs, what is mounted, and the kernel's
parameters of the network."""

from __future__ import annotations

from collections.abc import Sequence

from tests.lab import Host

_LEFT_OUT = (
    "/proc",
    "/sys",
    "/dev",
    "/run/host",
    "/run/user",  # of the login
    "/run/utmp",
    "/run/systemd/journal",
    "/run/systemd/sessions",
    "/run/systemd/transient",
    "/run/systemd/units",
    "/run/systemd/users",
    "/run/systemd/inhibit",
    "/run/sudo",
    "/run/motd.dynamic",
    "/run/log",
    "/var/lib/sudo",
    "/var/log/btmp",
    "/var/log/journal",
    "/var/log/lastlog",
    "/var/log/wtmp",
)
"""What a login writes, and what is no file."""

_CACHES = ("/root/.cache", "/home/*/.cache")
_SHARED = ("/run", "/run/systemd", "/run/lock", "/tmp", "/var/tmp", "/root", "/home/*", "/var/log")
"""Directories whose own times may change; what stands in them is looked at."""

_PRUNED = " -o ".join(f"-path '{path}'" for path in (*_LEFT_OUT, *_CACHES))
_TIMELESS = " -o ".join(f"-path '{path}'" for path in _SHARED)
_LOOK = f"""
find / \\( {_PRUNED} \\) -prune -o \\( {_TIMELESS} \\) -printf '%p %y %m %U %G\\n' \\
    -o -printf '%p %y %m %U %G %i %s %T@ %C@ %l\\n'
systemctl list-units --plain --no-legend --type=service,socket,timer,path \\
    | awk '!/user@|user-runtime-dir/ {{print "unit", $1, $3, $4}}'
systemctl show '*.service' -p Id -p InvocationID | paste -sd ' ' | sed 's/  /\\n/g' \\
    | sed 's/^/run of /' | grep -v 'user@\\|user-runtime-dir\\|InvocationID= *$'
findmnt --raw --noheadings --output TARGET,SOURCE,OPTIONS | grep -v '^/run/user' | sed 's/^/mount /'
grep -rs '' /proc/sys/net/core /proc/sys/net/ipv4 /proc/sys/net/ipv6 || true
"""


def look(host: Host) -> set[str]:
    """Everything of a host that a preview must leave alone, a line each."""
    return set(host.run(_LOOK, timeout=60).stdout.splitlines())


def differing(before: set[str], after: set[str], allowed: Sequence[str] = ()) -> list[str]:
    """The lines that only one of the two has; ``allowed`` are beginnings of paths."""
    lines = [f"- {line}" for line in before - after] + [f"+ {line}" for line in after - before]
    return sorted(line for line in lines if not line[2:].startswith(tuple(allowed) or ("\0",)))
