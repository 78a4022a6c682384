"""dpkg's records of the installed packages (target)."""

import os
from typing import TYPE_CHECKING, AbstractSet, Dict, List, NamedTuple, Sequence, Set

from remote_runtime.system.paths import content_of

if TYPE_CHECKING:
    from remote_runtime.packages.maintainer_scripts.script_sequence import Run

_STATUS = "status"


class InstalledPackage(NamedTuple):
    """One package: its paths, its conffiles with the MD5 of each as packaged, and its scripts."""

    paths: Sequence[str]
    conffiles: Dict[str, str]
    scripts: Dict[str, str]


class Installations(object):
    """Records of the installed packages. This base class is empty: no new package is installed."""

    def kept(self, name: str, scripts: Sequence[str] = ()) -> InstalledPackage:
        """Return the record of a package, including one with only its configuration left."""
        return InstalledPackage((), {}, {})

    def owners(self) -> Dict[str, int]:
        """Return the number of installed packages that contain each directory or file."""
        return {}

    def owned_by_others(self, paths: Sequence[str], leaving: AbstractSet[str]) -> Set[str]:
        """Return those paths that belong to an installed package besides the ``leaving`` ones."""
        return set()

    def triggers_of_removal(self, names: Sequence[str]) -> "List[Run]":
        """Return the triggers of RPMs that the removal of these packages may run."""
        return []


class Registry(Installations):
    """dpkg's directory below ``root``; ``native`` is the host's own architecture."""

    def __init__(self, native: str, root: str = "/var/lib/dpkg") -> None:
        self._root = root
        self._native = native

    def kept(self, name: str, scripts: Sequence[str] = ()) -> InstalledPackage:
        paths = [path for path in self._info(name, "list").splitlines() if path != "/."]
        texts = {script: self._info(name, script) for script in scripts}
        return InstalledPackage(paths, self._conffiles(name), texts)

    def fingerprint(self, name: str, scripts: Sequence[str]) -> str:
        """Return the ``package_sharing.fingerprint`` of an installed package."""
        from remote_runtime.protocol.package_sharing import fingerprint

        package = self.kept(name, scripts)
        return fingerprint(package.paths, {n: text for n, text in package.scripts.items() if text})

    def owners(self) -> Dict[str, int]:
        """See the base class. This counts the lines of all file lists, so a path in two packages
        counts twice.
        """
        found: Dict[str, int] = {}
        info = os.path.join(self._root, "info")
        for name in os.listdir(info) if os.path.isdir(info) else ():
            if name.endswith(".list"):
                for path in _read(os.path.join(info, name)).splitlines():
                    found[path] = found.get(path, 0) + 1
        return found

    def _info(self, name: str, kind: str) -> str:
        for prefix in (name, "%s:%s" % (name, self._native)):
            path = os.path.join(self._root, "info", "%s.%s" % (prefix, kind))
            if os.path.isfile(path):
                return _read(path)
        return ""

    def _conffiles(self, name: str) -> Dict[str, str]:
        from remote_runtime.packages.apt import simulation as apt_simulation

        package = name.partition(":")[0]
        checksums: Dict[str, str] = {}
        for stanza in apt_simulation.stanzas(_read(os.path.join(self._root, _STATUS))):
            if stanza.startswith("Package: %s\n" % package) and "\nConffiles:\n" in stanza:
                for line in stanza.partition("\nConffiles:\n")[2].splitlines():
                    words = line.split()
                    if not line.startswith(" "):
                        break
                    if len(words) >= 2:
                        checksums[words[0]] = words[1]
        return checksums


def _read(path: str) -> str:
    return content_of(path).decode("utf-8", "surrogateescape")


def units_below(paths: Sequence[str], directories: Sequence[str]) -> List[str]:
    """Return the units among these paths, without templates."""
    names = [path.rpartition("/") for path in paths]
    inside = tuple(directory.rstrip("/") for directory in directories)
    return [name for directory, _, name in names if directory in inside and "@." not in name]
