"""The machine for state types in a push (target)."""

from typing import TYPE_CHECKING, Any, Callable, Iterable

from remote_runtime.host.host_reader import rare_part
from remote_runtime.host.machine import files
from remote_runtime.host.ports import Host

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.host.machine.write_ahead import Upcoming


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

            return kernel.Kernel(lambda: context.kernel, host.part("commands"))
        if name == "mounts":
            from remote_runtime.host.machine import mounts

            walker = context.files.walker
            return mounts.Mounts(lambda: context.mounts, paths, host.part("commands"), walker)
        if name == "downloads":
            from remote_runtime.host.machine import downloads

            return downloads.Downloads(context, paths, count, lambda: host.part("archives"))
        if name == "packages":
            from remote_runtime.host import package_ports
            from remote_runtime.host.machine import packages

            return package_ports.Packages(
                context,
                lambda *args, **given: packages.Package(
                    *args, upcoming=upcoming, count=count, **given
                ),
            )
        return _rare_part(context, paths, host=host, name=name)

    def count(number: int) -> None:
        host.tries = number

    host = Host(paths, part)
    host.warn = warn
    host.tolerate = lambda error: context.notice("error", str(error))
    return host


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
    if name == "units":
        from remote_runtime.host.machine import units

        return units.Units(context)
    if name == "lists":
        from remote_runtime.host.machine import packages

        return packages.PackageLists(context)
    if name == "reboots":
        from remote_runtime.host.machine import reboots

        return reboots.Reboots(context)
    return rare_part(context, name)
