"""The host as state types have it in a preview (target)."""

from typing import TYPE_CHECKING

from remote_runtime.host.overlay import accounts, commands, files, kernel
from remote_runtime.host.overlay.record import Covering, Record, anything
from remote_runtime.host.ports import Host

if TYPE_CHECKING:
    from remote_runtime.overlay.overlay import HostOverlay


class Overlay(Host):
    """The host with planned changes; ``record`` receives the changes made here.

    Only these change ``world``: the caller passes a copy.
    """

    def __init__(self, world: "HostOverlay", by: str, covering: Covering = anything) -> None:
        self.record = Record(world, by, covering)
        paths, runs = files.Files(self.record), commands.Commands(self.record)
        theirs = accounts.Accounts(self.record, paths, runs)
        super().__init__(paths, theirs, runs, kernel.Kernel(self.record, runs))
