"""The interfaces through which a state type reads and installs crontabs (target); see ``ports``."""

from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from remote_runtime.host.ports import Host, HostReader


class CrontabReader(object):
    """Reads the crontabs of users."""

    def text(self, user: str) -> Optional[str]:
        """The crontab of a user, None for none; bytes beyond UTF-8 are surrogates."""
        raise NotImplementedError


class Crontabs(CrontabReader):
    """Reads and installs the crontabs of users."""

    def set_text(self, user: str, text: str) -> None:
        """Install a crontab in place of the one that a user has."""
        raise NotImplementedError


def reader_of(host: "HostReader") -> CrontabReader:
    """The crontabs of a host that can be read."""
    found: CrontabReader = host.part("crontabs")
    return found


def crontabs_of(host: "Host") -> Crontabs:
    """The crontabs of a host that can be changed."""
    found: Crontabs = host.part("crontabs")
    return found
