"""The machine for state types in a push (target)."""

from typing import TYPE_CHECKING, Any, Callable, Iterable, Optional, Union

from remote_runtime.host.file_ports import FileReader
from remote_runtime.host.machine import files
from remote_runtime.host.ports import Host, HostReader

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.host.machine.write_ahead import Upcoming
    from remote_runtime.overlay.overlay import HostOverlay


def reader(
    adapters: "Union[Context, HostOverlay]",
    context: "Optional[Context]" = None,
    planned: "Optional[HostOverlay]" = None,
) -> HostReader:
    """Return a reader of the machine, or of an overlay. Without the ``context`` of a run, only the
    ports for files, accounts, commands, the kernel, mounts, checkouts and crontabs exist. Units are
    read from ``planned``; without it, in the state for the current resource.
    """

    def part(name: str) -> Any:
        """A port, whose module is imported when a type first reads it."""
        if name in ("accounts", "commands", "kernel"):
            return _reader_of(name, adapters)
        if name == "mounts":
            from remote_runtime.host import mounts

            return mounts.MountReader(lambda: adapters.mounts)
        if name == "checkouts":
            return _checkout_reader(adapters)
        if name == "crontabs":
            from remote_runtime.host import crontab_ports

            return crontab_ports.CrontabReader(lambda: adapters.crontabs, made.accounts)
        if name == "credentials":
            return _credential_reader(adapters)
        if context is None:
            raise AttributeError(name)
        if name == "downloads":
            return _download_reader(context, adapters)
        if name == "packages":
            return _packages_reader(context)
        if name == "conditions":
            from remote_runtime.host import conditions

            return conditions.ConditionReader(context, made.files, lambda: made.commands)
        if name == "units" and planned is not None:
            from remote_runtime.host.overlay import units

            return units.UnitReader(lambda: planned, context)
        return _part(context, name, changing=False)

    made = HostReader(FileReader(adapters.files), part)
    return made


def _reader_of(name: str, adapters: "Union[Context, HostOverlay]") -> Any:
    """A port that many types read."""
    if name == "accounts":
        from remote_runtime.host import account_reader

        return account_reader.AccountReader(adapters.accounts)
    if name == "commands":
        from remote_runtime.host import command

        return command.CommandReader(adapters.commands, adapters.files, adapters.accounts)
    from remote_runtime.host import kernel_ports

    return kernel_ports.KernelReader(lambda: adapters.kernel)


def _checkout_reader(adapters: "Union[Context, HostOverlay]") -> Any:
    from remote_runtime.host.machine import checkouts
    from remote_runtime.overlay.overlay import HostOverlay

    if isinstance(adapters, HostOverlay):
        from remote_runtime.host.overlay import checkouts as planned

        return planned.CheckoutReader(adapters)
    return checkouts.CheckoutReader(FileReader(adapters.files), adapters.commands)


def _credential_reader(adapters: "Union[Context, HostOverlay]") -> Any:
    from remote_runtime.overlay.overlay import HostOverlay

    if isinstance(adapters, HostOverlay):
        from remote_runtime.host.overlay import credentials as planned

        return planned.CredentialReader(adapters)
    from remote_runtime.host import credential_ports

    return credential_ports.CredentialReader(FileReader(adapters.files), adapters.commands)


def _download_reader(context: "Context", adapters: "Union[Context, HostOverlay]") -> Any:
    if not context.noop:
        from remote_runtime.host.machine import downloads

        return downloads.DownloadReader(context)
    from remote_runtime.host.overlay import downloads as previewed
    from remote_runtime.overlay.overlay import HostOverlay

    overlay = adapters if isinstance(adapters, HostOverlay) else context.planned()
    return previewed.DownloadReader(context, overlay)


def _packages_reader(context: "Context") -> Any:
    from remote_runtime.host import package_ports

    if context.noop:
        from remote_runtime.host.overlay import packages as previewed

        return package_ports.PackagesReader(context, previewed.PackageReader)
    return package_ports.PackagesReader(context, package_ports.PackageReader)


def machine(
    context: "Context",
    log: Callable[[str], object] = str,
    warn: Callable[[str], object] = str,
    upcoming: "Callable[[], Iterable[Upcoming]]" = tuple,
) -> Host:
    """The machine in a run; ``log`` receives each line to report, and ``warn`` each warning.

    ``upcoming`` has the later resources, if known.
    """
    paths = files.Files(context, upcoming)

    def part(name: str) -> Any:
        """A port, whose module is imported when a type first uses it."""
        if name == "accounts":
            from remote_runtime.host.machine import accounts

            return accounts.Accounts(context.accounts, paths, context.commands)
        if name == "commands":
            from remote_runtime.host.machine import commands

            return commands.Commands(context, log)
        if name == "kernel":
            from remote_runtime.host.machine import kernel

            return kernel.Kernel(lambda: context.kernel, made.part("commands"))
        if name == "mounts":
            from remote_runtime.host.machine import mounts

            walker = context.files.walker
            return mounts.Mounts(lambda: context.mounts, paths, made.part("commands"), walker)
        if name == "downloads":
            from remote_runtime.host.machine import downloads

            return downloads.Downloads(context, paths, count, lambda: made.part("archives"))
        if name == "packages":
            from remote_runtime.host import package_ports
            from remote_runtime.host.machine import packages

            return package_ports.Packages(
                context,
                lambda *args, **given: packages.Package(
                    *args, upcoming=upcoming, count=count, **given
                ),
            )
        return _rare_part(context, paths, host=made, name=name)

    def count(number: int) -> None:
        made.tries = number

    made = Host(paths, part)
    made.warn = warn
    made.tolerate = lambda error: context.notice("error", str(error))
    return made


def _rare_part(context: "Context", paths: files.Files, *, host: Host, name: str) -> Any:
    """A port that few types use for changes."""
    if name == "checkouts":
        from remote_runtime.host.machine import checkouts

        return checkouts.Checkouts(paths, host.accounts, context.commands, context.progress)
    if name == "archives":
        from remote_runtime.host.machine import archives

        return archives.Archives(context, context.files, context.commands)
    if name == "conditions":
        from remote_runtime.host.machine import conditions

        return conditions.Conditions(context, paths, lambda: host.commands)
    if name == "crontabs":
        from remote_runtime.host.machine import crontabs

        return crontabs.Crontabs(lambda: context.crontabs, host.accounts)
    if name == "credentials":
        from remote_runtime.host.machine import credentials

        return credentials.Credentials(paths, context.commands)
    return _part(context, name, changing=True)


def _part(context: "Context", name: str, changing: bool) -> Any:
    """A port that few types use."""
    if name == "reboots":
        from remote_runtime.host import kernel_ports
        from remote_runtime.host.machine import reboots

        return reboots.Reboots(context) if changing else kernel_ports.RebootReader(context)
    if name == "resources":
        return list(context.resources())
    if name == "contents":
        from remote_runtime.host.machine import contents

        return contents.Contents(context)
    if name == "units":
        from remote_runtime.host import ports
        from remote_runtime.host.machine import units

        return units.Units(context) if changing else ports.UnitReader(context)
    if name == "lists":
        from remote_runtime.host import package_ports
        from remote_runtime.host.machine import packages

        return (packages.PackageLists if changing else package_ports.PackageListReader)(context)
    raise AttributeError(name)
