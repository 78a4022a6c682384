"""Users and groups of a preview (target)."""

from typing import Optional

from remote_runtime.effects import AccountEffect
from remote_runtime.host import ports
from remote_runtime.host.machine.accounts import AccountReader, in_table
from remote_runtime.host.machine.commands import CommandReader
from remote_runtime.host.machine.files import FileReader
from remote_runtime.host.overlay.files import Files
from remote_runtime.host.overlay.record import Record


class Accounts(AccountReader, ports.Accounts):
    """Records what becomes of users and groups; no program is run."""

    def __init__(self, record: Record, files: Files, commands: CommandReader) -> None:
        super().__init__(record.world.accounts)
        self._record, self._files, self._commands = record, files, commands

    def _is_local_group(self, name: str) -> bool:
        world = self._record.world
        if ("group", name) in world.accounts.planned:
            return True
        table = world.accounts.tables.get("group")
        if table is not None:
            return name in table.numbers
        # Uncertainty about the file is uncertainty about the group, which was checked before.
        return in_table(FileReader(world.today), ports.GROUPS, name)

    def _add_group(self, name: str, gid: Optional[int], system: bool) -> None:
        self._change("groupadd", AccountEffect("group", name, -1 if gid is None else gid))

    def _set_gid(self, name: str, gid: int) -> None:
        self._change("groupmod", AccountEffect("group", name, gid))

    def _remove_group(self, name: str) -> None:
        self._change("groupdel", AccountEffect("group", name, present=False))

    def _change(self, program: str, effect: AccountEffect) -> None:
        """Note what a program does, which replaces the file of the groups."""
        self._commands.require(program)
        self._files.require_replaceable(ports.GROUPS)
        self._record.add(effect)
