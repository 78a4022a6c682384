"""systemd's presets: whether a unit of a package is enabled at boot on a host (target)."""

import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Dict

if TYPE_CHECKING:
    from remote_runtime.system.files import Files

_DIRECTORIES = (
    "/etc/systemd/system-preset",
    "/run/systemd/system-preset",
    "/usr/local/lib/systemd/system-preset",
    "/usr/lib/systemd/system-preset",
    "/lib/systemd/system-preset",
)
_HELPER = "/usr/bin/deb-systemd-helper"
_LIMIT = 1 << 20  # bytes of one file


def wants(files: "Files", unit: str) -> bool:
    """Return whether the first matching line enables a unit; without a matching line, it is
    enabled."""
    presets: Dict[str, str] = {}
    for directory in _DIRECTORIES:
        for name in files.entries(directory) if files.is_directory(directory) else ():
            if name.endswith(".preset"):
                presets.setdefault(name, os.path.join(directory, name))
    for name in sorted(presets):
        text = files.read(presets[name], _LIMIT, follow=True).decode("utf-8", "replace")
        for line in text.splitlines():
            words = line.split()
            if len(words) > 1 and words[0] in ("enable", "disable") and fnmatchcase(unit, words[1]):
                return words[0] == "enable"
    return True


def are_used_by_debian(files: "Files") -> bool:
    """Return whether Debian's helper uses presets; an old version does not."""
    return not files.exists(_HELPER) or b"preset" in files.read(_HELPER, _LIMIT, follow=True)
