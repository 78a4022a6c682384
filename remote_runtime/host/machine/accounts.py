"""Users and groups of the machine (target)."""

from typing import TYPE_CHECKING, Optional

from remote_runtime.host import ports

if TYPE_CHECKING:
    from remote_runtime.system.accounts import Accounts as Door


class AccountReader(ports.AccountReader):
    """Reads through the door to accounts: the machine's own, or that of an overlay."""

    def __init__(self, door: "Door") -> None:
        self._door = door

    def uid(self, user: str) -> Optional[int]:
        """See the base class."""
        return self._door.number("user", user)

    def gid(self, group: str) -> Optional[int]:
        """See the base class."""
        return self._door.number("group", group)


class Accounts(AccountReader, ports.Accounts):
    """Changes users and groups."""
