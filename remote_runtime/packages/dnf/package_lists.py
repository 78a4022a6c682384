"""The age of dnf's package lists, and their sources (target)."""

import os
import re
from typing import Callable, Dict, List, NamedTuple, Optional

from remote_runtime.packages.apt.package_lists import latest, why_outdated

_REPOSITORIES = (
    "usr/share/dnf5/repos.d",
    "etc/distro.repos.d",
    "etc/yum.repos.d",
    "etc/dnf/repos.override.d",  # what dnf5's config-manager writes; it comes last
)
_CACHES = ("var/cache/dnf", "var/cache/libdnf5")
_CACHE = re.compile(r"(.+)-[0-9a-f]{16}\Z")
_USUAL_PRIORITY = 99
_FALSE = ("0", "no", "false", "off")


class Repository(NamedTuple):
    """One repository of a .repo file; ``changed`` is in seconds since the epoch."""

    enabled: bool = True
    priority: int = _USUAL_PRIORITY
    changed: float = 0.0


class Lists(object):
    """The lists below ``root``; times are seconds since the epoch."""

    def __init__(self, root: str = "/") -> None:
        self._root = root
        self._refreshed = False

    def outdated(self, max_age: Optional[float]) -> str:
        """Return why the lists, which may be ``max_age`` seconds old, must be refreshed, or "".

        With None, only missing lists count as outdated; dnf fetches them at its next call.
        """
        fetched = self._fetched()
        if not fetched:
            return "there are no package lists yet"
        updated = latest(fetched.values())
        for name, repository in sorted(self.repositories().items()):
            new = repository.changed > (updated or max(fetched.values()))
            if new and repository.enabled and name not in fetched:
                return "there are no package lists for the repository %s yet" % name
        if max_age is None:
            return ""
        changed = max((r.changed for r in self.repositories().values()), default=0.0)
        return why_outdated(updated, changed, max_age=max_age, refreshed=self._refreshed)

    def refreshed(self) -> None:
        """Record that dnf has just refreshed them."""
        self._refreshed = True

    def repositories(self) -> Dict[str, Repository]:
        """Return all configured repositories, by ID."""
        by_id: Dict[str, Repository] = {}
        for directory in _REPOSITORIES:
            full = os.path.join(self._root, directory)
            for name in sorted(os.listdir(full)) if os.path.isdir(full) else ():
                if name.endswith(".repo"):
                    _read(os.path.join(full, name), by_id)
        return by_id

    def priorities(self) -> Callable[[str], int]:
        """Return a function for the priority of a repository; the lowest number wins."""
        configured = self.repositories()
        return lambda name: configured.get(name, Repository()).priority

    def _fetched(self) -> Dict[str, float]:
        """Return, for each repository, the time when dnf last found its lists to be current."""
        times: Dict[str, float] = {}
        for cache in _CACHES:
            directory = os.path.join(self._root, cache)
            for name in os.listdir(directory) if os.path.isdir(directory) else ():
                cached = _CACHE.match(name)
                when = _newest(os.path.join(directory, name, "repodata"))
                if cached and when:
                    times[cached.group(1)] = max(when, times.get(cached.group(1), 0.0))
        return times


def _newest(directory: str) -> float:
    """Return the newest time: dnf updates the time of one of the files if the repository has
    nothing newer.
    """
    try:
        return max(
            os.stat(os.path.join(directory, name)).st_mtime for name in os.listdir(directory)
        )
    except (OSError, ValueError):
        return 0.0


def _read(path: str, by_id: Dict[str, Repository]) -> None:
    """Parse one .repo file. Errors in it are ignored, because dnf reports them itself."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines: List[str] = file.read().splitlines()
            changed = os.fstat(file.fileno()).st_mtime
    except OSError:
        return
    section = ""
    for line in lines:
        if line.startswith("["):
            section = line.strip().strip("[]")
            by_id[section] = by_id.get(section, Repository())._replace(changed=changed)
        key, _, value = (part.strip().lower() for part in line.partition("="))
        if section and key == "enabled":
            by_id[section] = by_id[section]._replace(enabled=value not in _FALSE)
        elif section and key == "priority" and value.isdigit():
            by_id[section] = by_id[section]._replace(priority=int(value))
