"""The host as state types read it: the machine, or an overlay of it (target). See ``ports``."""

from typing import TYPE_CHECKING, Any, Optional, Union

from remote_runtime.host.file_ports import FileReader
from remote_runtime.host.ports import HostReader

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.overlay.host_overlay import HostOverlay


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
            from remote_runtime.host import mount_ports

            return mount_ports.MountReader(lambda: adapters.mounts)
        if name == "checkouts":
            return _checkout_reader(adapters)
        if name == "crontabs":
            from remote_runtime.host import crontab_ports

            return crontab_ports.CrontabReader(lambda: adapters.crontabs, host.accounts)
        if name == "credentials":
            return _credential_reader(adapters)
        if context is None:
            raise AttributeError(name)
        if name == "downloads":
            return _download_reader(context, adapters)
        if name == "packages":
            return _packages_reader(context)
        if name == "conditions":
            from remote_runtime.host import condition_ports

            return condition_ports.ConditionReader(context, host.files, lambda: host.commands)
        if name == "units" and planned is not None:
            from remote_runtime.host.preview import units

            return units.UnitReader(lambda: planned, context)
        return rare_part(context, name)

    host = HostReader(FileReader(adapters.files), part)
    return host


def _reader_of(name: str, adapters: "Union[Context, HostOverlay]") -> Any:
    """A port that many types read."""
    if name == "accounts":
        from remote_runtime.host import account_reader

        return account_reader.AccountReader(adapters.accounts)
    if name == "commands":
        from remote_runtime.host import command_ports

        return command_ports.CommandReader(adapters.commands, adapters.files, adapters.accounts)
    from remote_runtime.host import kernel_ports

    return kernel_ports.KernelReader(lambda: adapters.kernel)


def _checkout_reader(adapters: "Union[Context, HostOverlay]") -> Any:
    from remote_runtime.host.machine import checkouts
    from remote_runtime.overlay.host_overlay import HostOverlay

    if isinstance(adapters, HostOverlay):
        from remote_runtime.host.preview import checkouts as planned

        return planned.CheckoutReader(adapters)
    return checkouts.CheckoutReader(FileReader(adapters.files), adapters.commands)


def _credential_reader(adapters: "Union[Context, HostOverlay]") -> Any:
    from remote_runtime.overlay.host_overlay import HostOverlay

    if isinstance(adapters, HostOverlay):
        from remote_runtime.host.preview import credentials as planned

        return planned.CredentialReader(adapters)
    from remote_runtime.host import credential_ports

    return credential_ports.CredentialReader(FileReader(adapters.files), adapters.commands)


def _download_reader(context: "Context", adapters: "Union[Context, HostOverlay]") -> Any:
    if not context.noop:
        from remote_runtime.host.machine import downloads

        return downloads.DownloadReader(context)
    from remote_runtime.host.preview import downloads as previewed
    from remote_runtime.overlay.host_overlay import HostOverlay

    overlay = adapters if isinstance(adapters, HostOverlay) else context.planned()
    return previewed.DownloadReader(context, overlay)


def _packages_reader(context: "Context") -> Any:
    from remote_runtime.host import package_ports

    if context.noop:
        from remote_runtime.host.preview import packages as previewed

        return package_ports.PackagesReader(context, previewed.PackageReader)
    return package_ports.PackagesReader(context, package_ports.PackageReader)


def rare_part(context: "Context", name: str) -> Any:
    """A port that few types read."""
    if name == "resources":
        return list(context.resources())
    if name == "contents":
        from remote_runtime.host.machine import contents

        return contents.Contents(context)
    if name == "units":
        from remote_runtime.host import ports

        return ports.UnitReader(context)
    if name == "lists":
        from remote_runtime.host import package_ports

        return package_ports.PackageListReader(context)
    if name == "reboots":
        from remote_runtime.host import kernel_ports

        return kernel_ports.RebootReader(context)
    raise AttributeError(name)
