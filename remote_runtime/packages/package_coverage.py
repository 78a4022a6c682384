"""The changes made by a command that affects a package (target)."""

import os
from typing import TYPE_CHECKING, Dict, List, Sequence, Set, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.effects import Covers
from remote_runtime.packages.dnf import isolated_run
from remote_runtime.packages.dpkg import database as dpkg
from remote_runtime.packages.dpkg.installed_packages import Registry
from remote_runtime.packages.dpkg.package_contents import UNIT_DIRECTORIES
from remote_runtime.packages.manager import installed_coverage, removed_coverage

if TYPE_CHECKING:
    from remote_runtime.context import Context

_UNIT_DIRECTORIES = (*UNIT_DIRECTORIES, "/etc/systemd/system/")
_MAX_LENGTH = 1 << 24
_COPIES = (".rpmnew", ".rpmsave", ".rpmorig")


def coverage(context: "Context", name: str, admin: str = dpkg.ADMIN) -> Covers:
    """Return what changes when a package is installed, changed or removed: the paths on its list
    and below its own directories.

    Without a list, it is everything that does not exist yet in directories of packages. Other
    packages are not covered.
    """
    if context.overlay is not None and name.partition(":")[0] in context.overlay.packages:
        return _whatever
    paths, installed = _listed(context, name, admin)
    own = _its_own(paths)
    if installed:
        return own
    return lambda kind, value, present: (
        _what_may_come(kind, value, present) or own(kind, value, present)
    )


def of_installed(context: "Context", name: str, admin: str) -> Covers:
    """Return the coverage of an installed package: the paths on its list and below its own
    directories.
    """
    return _its_own(_listed(context, name, admin)[0])


def of_rpms(context: "Context", names: Sequence[str]) -> Covers:
    """Return the coverage of the installed ones among these packages: the paths on their lists,
    with the copies that rpm makes of configuration files, and below their own directories.
    """
    paths = [path for name in names for path in _listed_by_rpm(context, name)]
    copies = [path + ending for path in paths for ending in _COPIES if path.startswith("/etc/")]
    return _its_own(paths + copies)


def _whatever(kind: str, value: str, present: bool) -> bool:
    return kind != "package" and (
        installed_coverage(kind, value, present) or removed_coverage(kind, value, present)
    )


def _what_may_come(kind: str, value: str, present: bool) -> bool:
    return kind != "package" and installed_coverage(kind, value, present)


def _its_own(paths: List[str]) -> Covers:
    real: Dict[str, str] = {}
    own = {_without_links(path, real) for path in paths}
    directories = {path for path in own if os.path.isdir(path) and not os.path.islink(path)}
    units = {os.path.basename(path) for path in paths if path.startswith(_UNIT_DIRECTORIES)}

    def covers(kind: str, value: str, present: bool) -> bool:
        if kind == "unit":
            before, at, after = value.partition("@")
            return value in units or (bool(at) and before + "@." + after.split(".")[-1] in units)
        return kind == "path" and (value in own or _is_below(value, directories))

    return covers


def _without_links(path: str, known: Dict[str, str]) -> str:
    directory, name = os.path.split(path)
    if directory not in known:
        known[directory] = os.path.realpath(directory)
    return os.path.join(known[directory], name)


def _is_below(path: str, directories: Set[str]) -> bool:
    while len(path) > 1:
        path = os.path.dirname(path)
        if path in directories:
            return True
    return False


def _listed(context: "Context", name: str, admin: str = dpkg.ADMIN) -> Tuple[List[str], bool]:
    """Return the paths of a package, without directories of several packages, and whether it is
    installed.
    """
    if not dpkg.is_used(admin + "/status"):
        paths = _listed_by_rpm(context, name)
        return paths, bool(paths)
    packages = dpkg.read(admin)
    try:
        installed = packages is not None and bool(packages.find(name).version)
    except dpkg.UnclearError:
        installed = False
    registry = Registry(packages.native if packages is not None else "", admin)
    package = registry.kept(name)
    owners = registry.owners()
    unshared = [
        path for path in package.paths if owners.get(path, 0) < 2 or path in package.conffiles
    ]
    return unshared, installed


def _listed_by_rpm(context: "Context", name: str) -> List[str]:
    if not context.commands.find("rpm"):
        return []
    try:
        argv = isolated_run.isolated(context, ("rpm", "-ql", name))
    except Unknowable:
        return []  # then it may be anything that does not exist
    printed = context.commands.run(argv, limit=_MAX_LENGTH).stdout
    return [line for line in printed.splitlines() if line.startswith("/")]
