"""The crontabs of users on the machine (target)."""

from typing import TYPE_CHECKING, Callable, Optional

from remote_runtime.errors import ResourceError
from remote_runtime.host import crontab_ports

if TYPE_CHECKING:
    from remote_runtime.host.ports import AccountReader
    from remote_runtime.system.process.crontabs import Crontabs as Door


class CrontabReader(crontab_ports.CrontabReader):
    """Reads through the door to crontabs: the machine's own, or that of an overlay."""

    def __init__(self, door: "Callable[[], Door]", accounts: "AccountReader") -> None:
        self._find_door, self._accounts = door, accounts

    def text(self, user: str) -> Optional[str]:
        """See the base class."""
        self.require_own(user)
        return self._find_door().text(user)

    def require_own(self, user: str) -> None:
        """``ResourceError`` for the crontab of another user, which only root may read."""
        import os

        if os.geteuid() != 0 and self._accounts.uid(user) != os.geteuid():
            raise ResourceError(
                "only root may read the crontab of another user, %s" % user,
                kind="resource.cron",
                hint="use become for the host, or connect as %s" % user,
            )


class Crontabs(CrontabReader, crontab_ports.Crontabs):
    """Installs crontabs with the program of the machine."""

    def set_text(self, user: str, text: str) -> None:
        """See the base class."""
        self._find_door().set_text(user, text)
