"""The settings of dnf that keep a package from changing: excludes and version locks (target)."""

import fnmatch
import os
import re
from typing import Iterator, List, Optional, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.system.paths import content_of

_CONFIGURATION = "etc/dnf/dnf.conf"
_DROP_INS = ("usr/share/dnf5/libdnf.conf.d", "etc/dnf/libdnf5.conf.d")
_REPOSITORIES = ("etc/yum.repos.d", "etc/distro.repos.d", "etc/dnf/repos.override.d")
_LOCKS = "etc/dnf/plugins/versionlock.list"  # of dnf 4's plugin
_NEW_LOCKS = "etc/dnf/versionlock.toml"  # of dnf 5
_PLUGIN = "/usr/lib*/python3*/*-packages/dnf-plugins/versionlock.py"
_KEYS = ("exclude", "excludepkgs")
_LOCKED_NAME = re.compile(r"^\s*name\s*=\s*[\"']([^\"']+)[\"']", re.MULTILINE)


def find(name: str, root: str = "/") -> Optional[Tuple[str, str]]:
    """Return the setting that names a package, and a hint; None without such a setting.

    An unreadable file counts as one without settings: dnf itself reports the problem.
    """
    for path, pattern in _excludes(root):
        if _names(pattern, name):
            return ("`exclude=%s` in /%s" % (pattern, path), "remove it from that line")
    for path, pattern in _locks(root):
        if _names(pattern, name):
            where = "the version lock %s in /%s" % (pattern, path)
            return (where, "release it with `dnf versionlock delete %s`" % name)
    return None


def is_locked(name: str, root: str = "/") -> bool:
    """Return whether a version lock keeps a package at its version."""
    return any(_names(pattern, name) for _, pattern in _locks(root))


def can_lock() -> bool:
    """Return whether the plugin of dnf 4 that locks versions is installed."""
    import glob

    return bool(glob.glob(_PLUGIN))


def not_removed_error(what: str, name: str, root: str = "/") -> ResourceError:
    """Return the error if dnf omits an installed package from a removal; ``what`` is "removing
    x"."""
    where, hint = find(name, root) or ("", "look for `exclude=` in /etc/dnf")
    reason = "%s is excluded by %s" % (name, where) if where else "dnf does not change %s" % name
    return ResourceError("%s failed: %s" % (what, reason), "package.excluded", hint)


def _names(pattern: str, name: str) -> bool:
    """Return whether a pattern matches a package: a name, optionally with versions and an
    architecture."""
    plain = name.partition(".")[0] if fnmatch.fnmatchcase(name, "*.*") else name
    for one in {name, plain}:
        if fnmatch.fnmatchcase(one, pattern) or fnmatch.fnmatchcase(one, pattern.partition(".")[0]):
            return True
        # Locks have versions: [epoch:]name-version-release.architecture, with or without the epoch
        # in front of the version.
        rest = re.sub(r"^\d+:", "", pattern)
        if rest.startswith(one + "-") and re.match(r"(?:\d+:)?[\d*]", rest[len(one) + 1 :]):
            return True
    return False


def _excludes(root: str) -> Iterator[Tuple[str, str]]:
    paths = [_CONFIGURATION]
    for directory in (*_DROP_INS, *_REPOSITORIES):
        paths += [os.path.join(directory, name) for name in _entries(root, directory)]
    for path in paths:
        key = ""
        for line in _lines(root, path):
            if line[:1] in ("#", ";", "["):
                key = ""
                continue
            if line[:1] not in (" ", "\t"):
                key, _, line = (part.strip() for part in line.partition("="))
            if key in _KEYS:
                for pattern in line.replace(",", " ").split():
                    yield path, pattern


def _locks(root: str) -> Iterator[Tuple[str, str]]:
    for line in _lines(root, _LOCKS):
        pattern = line.strip()
        if pattern and not pattern.startswith("#"):
            yield _LOCKS, pattern.lstrip("!")
    for match in _LOCKED_NAME.finditer("\n".join(_lines(root, _NEW_LOCKS))):
        yield _NEW_LOCKS, match.group(1)


def _entries(root: str, directory: str) -> List[str]:
    try:
        return sorted(os.listdir(os.path.join(root, directory)))
    except OSError:
        return []


def _lines(root: str, path: str) -> List[str]:
    return content_of(os.path.join(root, path)).decode("utf-8", "replace").splitlines()
