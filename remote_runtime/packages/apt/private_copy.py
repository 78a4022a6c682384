"""A private copy of apt's files, so that apt can inspect a host without changing it (target)."""

import os
from typing import TYPE_CHECKING, Dict, List, Sequence, Tuple

if TYPE_CHECKING:
    from remote_runtime.system.files import Files

_KEYS = ("pkgcache", "srcpkgcache")


class ScratchCache(object):
    """A private directory that replaces apt's caches of the lists; it is removed after the run.

    apt reads current caches through links, and replaces the link of an outdated cache with a new
    file. If the host has no caches, apt creates none, and the directory is not created.
    """

    def __init__(self, files: "Files", cache: str) -> None:
        self._files = files
        self._cache = cache
        self._directory = ""
        self._laid_out: Dict[Sequence[Tuple[str, int]], Tuple[str, str]] = {}
        self._places = 0

    def settings(self, files: "Files", planned: Sequence[Tuple[str, int]]) -> Tuple[str, str]:
        """Return the settings file that makes apt use the planned sources and settings, and the
        directory that it uses instead of the host's.
        """
        from remote_runtime.packages.apt import sources as apt_sources

        if planned not in self._laid_out:
            self._places += 1  # the copy of a failed attempt is not reused
            place = self.path("etc-%d" % self._places)
            paths = [path for path, _ in planned]
            self._laid_out[planned] = apt_sources.write_planned(files, paths, place), place
        return self._laid_out[planned]

    def options(self, stale: bool) -> List[str]:
        """Return the options that keep apt from writing to the host's caches.

        ``stale``: its cache of the installed packages looks current to apt but is not.
        """
        options: List[str] = []
        for key in _KEYS:
            uses_cache = self._is_cached(key) and not (stale and key == _KEYS[0])
            path = self.path(key + ".bin") if uses_cache else ""
            options += ["-o", "Dir::Cache::%s=%s" % (key, path)]
        return options

    def _is_cached(self, key: str) -> bool:
        return os.path.isfile(os.path.join(self._cache, key + ".bin"))

    def path(self, name: str) -> str:
        """Return the path of a file with this name in the directory, which is created
        if necessary.
        """
        if not self._directory:
            self._directory = self._files.private_directory()
            for key in filter(self._is_cached, _KEYS):
                link = os.path.join(self._directory, key + ".bin")
                os.symlink(os.path.join(self._cache, key + ".bin"), link)
        return os.path.join(self._directory, name)
