"""The host as state types have it in a preview (target)."""

from typing import TYPE_CHECKING, Any, Callable, Dict, NoReturn, Optional

from remote_runtime.errors import ResourceError
from remote_runtime.host.overlay import accounts, commands, files, kernel
from remote_runtime.host.overlay.record import Covering, Record, anything
from remote_runtime.host.ports import Host

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.overlay.overlay import HostOverlay


class Overlay(Host):
    """The host with planned changes; ``record`` receives the changes made here.

    Only these change ``world``: the caller passes a copy. ``warn`` gets a line for people. Without
    a ``context``, there are only the ports of files, accounts, commands, the kernel, mounts,
    checkouts and crontabs.
    """

    def __init__(
        self,
        world: "HostOverlay",
        by: str,
        *,
        covering: Covering = anything,
        context: "Optional[Context]" = None,
        warn: Callable[[str], object] = str,
    ) -> None:
        self.record = record = Record(world, by, covering)
        made: Dict[str, Any] = {}

        def part(name: str) -> Any:
            """A port that few types use, one of each."""
            if name not in made:
                made[name] = make(name)
            return made[name]

        def make(name: str) -> Any:
            """A port whose module is imported only where it is asked for."""
            if name == "mounts":
                from remote_runtime.host.overlay import mounts

                return mounts.Mounts(record, paths, runs)
            if name == "checkouts":
                from remote_runtime.host.overlay import checkouts

                return checkouts.Checkouts(record, paths, theirs, runs)
            if name == "crontabs":
                from remote_runtime.host.overlay import crontabs

                return crontabs.Crontabs(record, theirs, runs)
            if name == "credentials":
                from remote_runtime.host.overlay import credentials

                return credentials.Credentials(record, paths)
            if context is None:
                raise AttributeError(name)
            if name == "downloads":
                from remote_runtime.host.overlay import downloads

                return downloads.Downloads(context, record, paths, lambda: part("archives"))
            if name == "conditions":
                from remote_runtime.host.overlay import conditions

                return conditions.Conditions(context, self, record)
            return _part(context, record, name)

        paths, runs = files.Files(record), commands.Commands(record)
        theirs = accounts.Accounts(record, paths, runs)
        super().__init__(paths, theirs, runs, kernel.Kernel(record, runs))
        self.parts, self.warn, self.tolerate = part, warn, _fail


def _fail(error: ResourceError) -> NoReturn:
    raise error


def _part(context: "Context", record: Record, name: str) -> Any:
    """A port that needs nothing but the run."""
    if name == "archives":
        from remote_runtime.host.overlay import archives

        return archives.Archives(context, record)
    if name == "reboots":
        from remote_runtime.host.overlay import reboots

        return reboots.Reboots(context, record)
    if name == "units":
        from remote_runtime.host.overlay import units

        return units.Units(record, context)
    from remote_runtime.host.overlay import package_lists

    return package_lists.PackageLists(context, record)
