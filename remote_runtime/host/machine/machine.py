"""The machine as state types have it in a push (target)."""

from typing import TYPE_CHECKING, Callable, Union

from remote_runtime.host.machine import account_reader, commands, files, kernel
from remote_runtime.host.ports import Host, HostReader

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.overlay.overlay import HostOverlay


def reader(doors: "Union[Context, HostOverlay]") -> HostReader:
    """The reader of the machine, or of an overlay."""
    return HostReader(
        files.FileReader(doors.files),
        account_reader.AccountReader(doors.accounts),
        commands.CommandReader(doors.commands, doors.files, doors.accounts),
        kernel.KernelReader(lambda: doors.kernel),
    )


def machine(context: "Context", log: Callable[[str], object] = str) -> Host:
    """The machine behind the doors of a run; ``log`` gets each line that is to be reported."""
    from remote_runtime.host.machine import accounts

    paths = files.Files(context.files, context.commands, context.changed_paths)
    theirs = accounts.Accounts(context.accounts, paths, context.commands)
    runs = commands.Commands(context, log)
    core = kernel.Kernel(lambda: context.kernel, runs)
    return Host(paths, theirs, runs, core)
