"""The host for state types in a preview (target)."""

from typing import TYPE_CHECKING, Any, Callable, Iterable, NoReturn, Optional

from remote_runtime.errors import ResourceError
from remote_runtime.host.ports import Host
from remote_runtime.host.preview import files
from remote_runtime.host.preview.change_record import Covering, Record, anything

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.host.package_ports import Upcoming
    from remote_runtime.overlay.host_overlay import HostOverlay


class Overlay(Host):
    """The host with planned changes; ``record`` receives the changes made here.

    Only these changes affect ``overlay``: the caller passes a copy, or a ``shared`` overlay that
    must not change. ``partial`` as in ``Record``. ``warn`` receives a line for the user.
    ``upcoming`` has the later resources, if known. Without a ``context``, only the ports for files,
    accounts, commands, the kernel, mounts, checkouts and crontabs exist.
    """

    def __init__(
        self,
        overlay: "HostOverlay",
        by: str,
        *,
        covering: Covering = anything,
        context: "Optional[Context]" = None,
        warn: Callable[[str], object] = str,
        shared: bool = False,
        partial: bool = False,
        upcoming: "Callable[[], Iterable[Upcoming]]" = tuple,
    ) -> None:
        self.record = record = Record(
            overlay, by, covering=covering, shared=shared, partial=partial
        )
        paths = files.Files(record)

        def make(name: str) -> Any:
            """A port, whose module is imported when a type first uses it."""
            if name != "packages":
                record.own()  # the port stays bound to this overlay
            if name == "accounts":
                from remote_runtime.host.preview import accounts

                return accounts.Accounts(record, paths, self.part("commands"))
            if name == "commands":
                from remote_runtime.host.preview import commands

                return commands.Commands(record)
            if name == "kernel":
                from remote_runtime.host.preview import kernel

                return kernel.Kernel(record, self.part("commands"))
            if name == "mounts":
                from remote_runtime.host.preview import mounts

                return mounts.Mounts(record, paths, self.part("commands"))
            if name == "checkouts":
                from remote_runtime.host.preview import checkouts

                return checkouts.Checkouts(record, paths, self.accounts, self.part("commands"))
            if name in ("crontabs", "credentials"):
                return _part_of_files(self, record, paths, name=name)
            if context is None:
                raise AttributeError(name)
            if name == "downloads":
                from remote_runtime.host.preview import downloads

                return downloads.Downloads(context, record, paths, lambda: self.part("archives"))
            if name == "conditions":
                from remote_runtime.host.preview import conditions

                return conditions.Conditions(context, self, record)
            return _part(context, record, upcoming, name=name)

        super().__init__(paths, make)
        self.warn, self.tolerate = warn, _fail


def _fail(error: ResourceError) -> NoReturn:
    raise error


def _part_of_files(host: Host, record: Record, paths: files.Files, *, name: str) -> Any:
    """A port for the contents of files from programs."""
    if name == "crontabs":
        from remote_runtime.host.preview import crontabs

        return crontabs.Crontabs(record, host.accounts, host.part("commands"))
    from remote_runtime.host.preview import credentials

    return credentials.Credentials(record, paths)


def _part(
    context: "Context", record: Record, upcoming: "Callable[[], Iterable[Upcoming]]", *, name: str
) -> Any:
    """A port that needs only the run."""
    if name == "archives":
        from remote_runtime.host.preview import archives

        return archives.Archives(context, record)
    if name == "reboots":
        from remote_runtime.host.preview import reboots

        return reboots.Reboots(context, record)
    if name == "units":
        from remote_runtime.host.preview import units

        return units.Units(record, context)
    if name == "packages":
        from remote_runtime.host import package_ports
        from remote_runtime.host.preview import packages

        return package_ports.Packages(
            context,
            lambda *args, **given: packages.Package(
                *args, record=record, upcoming=upcoming, **given
            ),
        )
    if name == "lists":
        from remote_runtime.host.preview import package_lists

        return package_lists.PackageLists(context, record)
    raise AttributeError(name)
