"""The interfaces through which a state type reads and installs crontabs (target); see ``ports``."""

import os
from typing import TYPE_CHECKING, Callable, Optional

from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from remote_runtime.host.account_reader import AccountReader
    from remote_runtime.system.process.crontabs import Crontabs as Adapter


class CrontabReader(object):
    """Reads the crontabs of users, on the machine or on an overlay."""

    def __init__(self, adapter: "Callable[[], Adapter]", accounts: "AccountReader") -> None:
        self._find_adapter, self._accounts = adapter, accounts

    def text(self, user: str) -> Optional[str]:
        """The crontab of a user, None if there is none; bytes that are not UTF-8
        become surrogates.
        """
        self.require_own(user)
        return self._find_adapter().text(user)

    def require_own(self, user: str) -> None:
        """``ResourceError`` for another user's crontab, which only root may read."""
        if os.geteuid() != 0 and self._accounts.uid(user) != os.geteuid():
            raise ResourceError(
                "only root may read the crontab of another user, %s" % user,
                kind="resource.cron",
                hint="use become for the host, or connect as %s" % user,
            )


class Crontabs(CrontabReader):
    """Reads and installs the crontabs of users."""

    def set_text(self, user: str, text: str) -> None:
        """Install a crontab, which replaces the current one of a user."""
        raise NotImplementedError
