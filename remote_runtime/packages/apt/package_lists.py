"""The age of apt's package lists, and apt's cache of them (target)."""

import os
import time
from typing import Iterable, List

_LISTS = "var/lib/apt/lists"
_STAMP = "var/lib/apt/periodic/update-success-stamp"
_CACHE = "var/cache/apt/pkgcache.bin"
_DATABASE = "var/lib/dpkg/status"
_SOURCES = ("etc/apt/sources.list", "etc/apt/sources.list.d")


FUTURE = "the package lists are dated in the future, probably because the clock was wrong"
_AHEAD = 60.0  # seconds that a date may lie ahead, as on a shared file system


def latest(times: Iterable[float]) -> float:
    """Return the latest of these times that is not in the future; 0.0 if there is none."""
    now = time.time() + _AHEAD
    return max((when for when in times if when <= now), default=0.0)


def why_outdated(updated: float, changed: float, *, max_age: float, refreshed: bool) -> str:
    """Return why lists that were ``updated`` at a time must be refreshed, or "". ``changed``: when
    their sources last changed; ``refreshed``: this run has refreshed them."""
    if not updated:
        return "" if refreshed else FUTURE
    if changed > updated:
        return "the package sources changed after the lists were refreshed"
    age = time.time() - updated
    old = age > max_age and not refreshed
    return "the package lists are %s old" % in_words(age) if old else ""


class Lists(object):
    """The lists below ``root``; times are seconds since the epoch."""

    def __init__(self, root: str = "/") -> None:
        self._root = root
        self._refreshed = False

    def outdated(self, max_age: float) -> str:
        """Return why the lists, which may be ``max_age`` seconds old, must be refreshed, or "".

        Lists that this run has refreshed are outdated only by a change of the sources.
        """
        times = self._updated()
        if not times:
            return "there are no package lists yet"
        return why_outdated(
            latest(times), self._sources_changed(), max_age=max_age, refreshed=self._refreshed
        )

    def last_refreshed(self) -> float:
        """Return the time of the last refresh of the lists; 0.0 if there was none, or if the time
        is in the future.
        """
        return latest([self._time(_LISTS), self._time(_STAMP)])

    def refreshed(self) -> None:
        """Record that apt has just refreshed the lists: apt touches no file if nothing was new."""
        self._refreshed = True
        directory = os.path.join(self._root, _LISTS)
        if os.path.isdir(directory):
            os.utime(directory, None)

    def cache_is_stale(self) -> bool:
        """Return whether dpkg's database is newer than apt's cache of what is installed.

        apt compares size and whole seconds to detect a stale cache. It does not notice a ``dpkg
        -i`` in the same second in which it wrote the cache, and assumes that the old version is
        still installed.
        """
        return 0.0 < self._time(_CACHE) <= self._time(_DATABASE)

    def drop_stale_cache(self) -> None:
        """Remove apt's cache of the installed packages if it is stale."""
        if self.cache_is_stale():
            try:
                os.unlink(os.path.join(self._root, _CACHE))
            except OSError:  # a transaction may not need it, or fails with a clear reason
                pass

    def _updated(self) -> List[float]:
        """Return the times of the refreshes from all sources; empty without any."""
        directory = os.path.join(self._root, _LISTS)
        try:
            some = any(
                name not in ("lock", "partial", "auxfiles") for name in os.listdir(directory)
            )
        except OSError:
            return []
        return [self._time(_LISTS), self._time(_STAMP)] if some else []

    def _sources_changed(self) -> float:
        files: List[str] = list(_SOURCES)
        directory = os.path.join(self._root, _SOURCES[1])
        if os.path.isdir(directory):
            files += [os.path.join(_SOURCES[1], name) for name in os.listdir(directory)]
        return max(self._time(path) for path in files)

    def _time(self, path: str) -> float:
        try:
            return os.stat(os.path.join(self._root, path)).st_mtime
        except OSError:
            return 0.0


def in_words(seconds: float) -> str:
    """Return a duration in words."""
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return "%d %s" % (seconds // length, unit)
    return "1 second" if int(seconds) == 1 else "%d seconds" % seconds
