"""Directories of the system, whose content no resource may manage as a whole (both sides)."""

import re

from remote_runtime.system.paths import is_within

_KERNEL = ("/dev", "/proc", "/sys")  # with all below
_INSIDE = {
    "/": "bin boot etc home lib lib32 lib64 libx32 run sbin tmp usr var",
    "/usr": "bin include lib lib32 lib64 libexec libx32 local sbin share",
    "/usr/local": "bin lib sbin share",
    "/etc": "alternatives default init.d pam.d security ssh ssl systemd",
    "/var": "cache lib log mail run spool tmp",
    "/var/lib": "apt ccm dpkg rpm systemd",
    "/var/spool": "cron",
}
_PURGED = {  # only if it is purged
    "/etc": "network netplan",
    "/etc/apt": "keyrings trusted.gpg.d",
    "/etc/ssl": "certs private",
    "/etc/systemd": "network system user",
    "/var/lib/dpkg": "info",
    "/var/spool/cron": "crontabs",
}
_PROGRAMS = re.compile("/(?:usr|boot|bin|sbin|lib[^/]*)/")  # with all below if it is purged
_SITE = re.compile("/usr/local/[^/]+/")
_COMMON = ("/media", "/mnt", "/opt", "/root", "/srv")  # one owner may suit all that is in them


def is_of_system(path: str, purged: bool) -> bool:
    """Return whether a path is a directory of the system; some only count if it is ``purged``."""
    if path == "/" or (purged and path in _COMMON):
        return True
    above, _, name = path.rpartition("/")
    if name in _INSIDE.get(above or "/", "").split():
        return True
    if purged and name in _PURGED.get(above, "").split():
        return True
    if purged and _PROGRAMS.match(path) and not _SITE.match(path):
        return True
    return any(is_within(path, top) for top in _KERNEL)
