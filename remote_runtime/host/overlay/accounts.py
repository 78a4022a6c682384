"""Users and groups of a preview (target)."""

from remote_runtime.host import ports
from remote_runtime.host.machine.accounts import AccountReader
from remote_runtime.host.overlay.record import Record


class Accounts(AccountReader, ports.Accounts):
    """Records what becomes of users and groups."""

    def __init__(self, record: Record) -> None:
        super().__init__(record.world.accounts)
        self._record = record
