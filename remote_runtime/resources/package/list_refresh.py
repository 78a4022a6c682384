"""Refreshing the package lists behind repositories that have changed (target)."""

import os
from contextlib import suppress
from typing import TYPE_CHECKING, List, Sequence

from remote_runtime.errors import ResourceError
from remote_runtime.host import package_ports
from remote_runtime.item import Item
from remote_runtime.resources.package.dpkg.database import is_used

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.resources.package.provider import PackageProvider

_TYPE, _PACKAGE = "repository", "package"


class PackageListReader(package_ports.PackageListReader):
    """Reads the lists as they are, or in a preview as they will be."""

    def __init__(self, context: "Context") -> None:
        self._context = context

    def pending(self, manager: str) -> bool:
        """See the base class."""
        return self.is_last(manager) and self._outdated(manager)

    def is_last(self, manager: str) -> bool:
        """Whether no repository has its turn before the next package, or the end."""
        later = [item for item in self._peers(_TYPE, manager) if _reads(item)]
        repositories = self._behind(later)
        packages = self._behind([i for i in self._peers(_PACKAGE, manager) if i.managed])
        return not repositories or (bool(packages) and min(packages) < min(repositories))

    def _behind(self, items: Sequence[Item]) -> List[int]:
        return [item.index for item in items if item.index > self._context.position]

    def _peers(self, kind: str, manager: str) -> List[Item]:
        """The resources of a type that this package manager manages."""
        usual = "apt" if is_used() else "dnf"
        return [i for i in self._context.peers(kind) if (i.provider or usual) == manager]

    def _outdated(self, manager: str) -> bool:
        from remote_runtime.resources.repository import places

        context = self._context
        names = [item.name for item in self._peers(_TYPE, manager) if _reads(item)]
        files = [places.sources(manager, name) for name in names]
        files += [path for name in names for path in places.keys(manager, name)]
        world = context.world
        if world is not None:
            for path in files:
                world.files.exists(path)  # whoever may change it is noted
            if any(path in world.layer.nodes for path in files):
                return True
        return manager in context.outdated_lists or (manager == "apt" and _is_older(files))


def _reads(item: Item) -> bool:
    """Whether the package manager reads the lists of this repository once it had its turn."""
    given = item.properties.get
    apart = item.noop or item.monitor_only or item.left_out
    wanted = given("ensure") != "absent" and given("enabled") is not False
    return item.managed and wanted and not apart


def _is_older(files: Sequence[str]) -> bool:
    """Whether apt has not refreshed its lists since one of these files changed."""
    from remote_runtime.resources.package.apt.lists import Lists

    times: List[float] = []
    for path in files:
        try:
            times.append(os.lstat(path).st_mtime)
        except OSError:
            continue
    return max(times, default=0.0) > Lists().last_refreshed()


class PackageLists(PackageListReader, package_ports.PackageLists):
    """Refreshes the lists with the package manager."""

    def outdate(self, manager: str, repository: str) -> None:
        """See the base class."""
        self._context.outdated_lists.setdefault(manager, []).append(repository)

    def refresh(self, manager: str) -> None:
        """See the base class."""
        self._context.progress("refreshing the package lists")
        names = self._context.outdated_lists.get(manager, ())
        provider = _provider(self._context, manager)
        try:
            provider.refresh_lists(self._context.options.lock_timeout, names)
        except ResourceError:
            keep_outdated(self._context, manager)
            raise


def keep_outdated(context: "Context", manager: str) -> None:
    """Date the repositories of the run after the lists, so that the next run refreshes them: a
    refresh that failed dates the lists anew, too."""
    from remote_runtime.resources.repository import places

    for item in context.peers(_TYPE):
        with suppress(OSError):
            os.utime(places.sources(manager, item.name), None)


def _provider(context: "Context", manager: str) -> "PackageProvider":
    if manager == "apt":
        from remote_runtime.resources.package.providers import apt

        return apt.Provider(context)
    from remote_runtime.resources.package.providers import dnf

    return dnf.Provider(context)


def refresh_at_the_end(context: "Context") -> None:
    """Refresh lists that repositories of this run have outdated and no later turn has refreshed.
    ``ResourceError`` where that fails."""
    for manager in list(context.outdated_lists):
        PackageLists(context).refresh(manager)
