"""The machine as state types have it in a push (target)."""

from typing import TYPE_CHECKING, Set

from remote_runtime.host.machine import accounts, commands, files
from remote_runtime.host.ports import Host, HostReader

if TYPE_CHECKING:
    from remote_runtime.system.accounts import Accounts
    from remote_runtime.system.files import Files
    from remote_runtime.system.process.commands import Commands


def reader(door: "Files", theirs: "Accounts", programs: "Commands") -> HostReader:
    """The reader for these adapters: those of the machine, or those of an overlay."""
    return HostReader(
        files.FileReader(door), accounts.AccountReader(theirs), commands.CommandReader(programs)
    )


def machine(door: "Files", theirs: "Accounts", programs: "Commands", changed: Set[str]) -> Host:
    """The machine behind these doors; ``changed`` gets each path that is written or removed."""
    paths = files.Files(door, programs, changed)
    runs = commands.Commands(programs, theirs.forget)
    return Host(paths, accounts.Accounts(theirs, paths, programs), runs)
