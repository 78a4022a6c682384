"""The interfaces through which a state type reads and installs crontabs (target); see ``ports``."""

from typing import Optional


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
