"""Refreshes the package lists after changes of repositories (target)."""

import os
from typing import TYPE_CHECKING, Dict, List, Sequence

from remote_runtime.errors import ResourceError
from remote_runtime.packages.dpkg.database import is_used
from remote_runtime.packages.managers import manager_of
from remote_runtime.plan_item import Item

if TYPE_CHECKING:
    from remote_runtime.context import Context

_REPOSITORY = "repository"
_PACKAGE = "package"


def is_last(context: "Context", manager: str) -> bool:
    """Return whether no repository follows before the next package, or the end."""
    from bisect import bisect  # few plans have repositories

    refreshes = _refresh_plan(context, manager)
    now = context.position
    repository = bisect(refreshes.repositories, now)
    if repository == len(refreshes.repositories):
        return True
    package = bisect(refreshes.packages, now)
    behind = refreshes.packages[package : package + 1]
    return bool(behind) and behind[0] < refreshes.repositories[repository]


def is_outdated(context: "Context", manager: str) -> bool:
    """Return whether a repository has changed since the last refresh; in a preview, whether it
    will."""
    from remote_runtime.packages import repository_paths

    names = _refresh_plan(context, manager).names
    files = [repository_paths.sources(manager, name) for name in names]
    files += [path for name in names for path in repository_paths.keys(manager, name)]
    overlay = context.overlay
    if overlay is not None:
        for path in files:
            overlay.files.exists(path)  # notes what may change it
        if any(path in overlay.layer.nodes for path in files):
            return True
    return manager in context.outdated_lists or (manager == "apt" and _is_older(files))


class RefreshPlan(object):
    """The part of a plan for one package manager: the ``names`` of its repositories, and the
    indexes in the plan, in order, of these and of packages."""

    def __init__(self, context: "Context", manager: str) -> None:
        usual = "apt" if is_used() else "dnf"

        def peers(kind: str) -> List[Item]:
            return [one for one in context.peers(kind) if (one.provider or usual) == manager]

        read = [item for item in peers(_REPOSITORY) if _reads(item)]
        self.names = [item.name for item in read]
        self.repositories = sorted(item.index for item in read)
        self.packages = sorted(item.index for item in peers(_PACKAGE) if item.managed)


def _refresh_plan(context: "Context", manager: str) -> RefreshPlan:
    known: Dict[str, RefreshPlan] = context.one(_refresh_plans)
    if manager not in known:
        known[manager] = RefreshPlan(context, manager)
    return known[manager]


def _refresh_plans(context: "Context") -> Dict[str, RefreshPlan]:
    return {}


def _reads(item: Item) -> bool:
    """Return whether the package manager reads the lists of this repository after the repository's
    change."""
    given = item.properties.get
    apart = item.noop or item.monitor_only or item.left_out
    wanted = given("ensure") != "absent" and given("enabled") is not False
    return item.managed and wanted and not apart


def _is_older(files: Sequence[str]) -> bool:
    """Return whether apt has not refreshed its lists since one of these files changed."""
    from remote_runtime.packages.apt.package_lists import Lists

    times: List[float] = []
    for path in files:
        try:
            times.append(os.lstat(path).st_mtime)
        except OSError:
            continue
    return max(times, default=0.0) > Lists().last_refreshed()


def refresh(context: "Context", manager: str) -> None:
    """Refresh the lists of the repositories that this run has changed. ``ResourceError``."""
    context.progress("refreshing the package lists")
    names = context.outdated_lists.get(manager, ())
    package_manager = manager_of(context, manager)
    try:
        package_manager.refresh_lists(context.options.lock_timeout, names)
    except ResourceError:
        keep_outdated(context, manager)
        raise


def keep_outdated(context: "Context", manager: str) -> None:
    """Date the repositories of the run after the lists, so that the next run refreshes them: a
    failed refresh also updates the time of the lists."""
    from contextlib import suppress

    from remote_runtime.packages import repository_paths

    for item in context.peers(_REPOSITORY):
        with suppress(OSError):
            os.utime(repository_paths.sources(manager, item.name), None)


def refresh_at_the_end(context: "Context") -> None:
    """Refresh lists that repositories of this run have outdated and that no later resource has
    refreshed. ``ResourceError`` if that fails."""
    for manager in list(context.outdated_lists):
        refresh(context, manager)
