"""All access to the crontabs of users (target)."""

import os
from typing import TYPE_CHECKING, Callable, Dict, List, Optional

from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from remote_runtime.system.process.commands import Commands

SPOOLS = ("/var/spool/cron/crontabs", "/var/spool/cron")
_NONE = ("no crontab for", "can't open")  # what the programs say where a user has none
# All bytes are read, including those that are not UTF-8.
_LIST = '{ "$0" "$@" -l || echo "code $?" >&2; } | od -An -v -tx1'


class Crontabs(object):
    """The crontabs by user, each read once until something changes; ``acted`` counts changes."""

    def __init__(self, commands: "Commands", acted: Callable[[], int]) -> None:
        self._commands, self._acted = commands, acted
        self._texts: Dict[str, Optional[str]] = {}
        self._read_at = -1

    def text(self, user: str) -> Optional[str]:
        """The crontab of a user, None if there is none. Bytes that are not UTF-8 become surrogates.
        ``ResourceError``
        """
        if self._read_at != self._acted():
            self._texts.clear()
            self._read_at = self._acted()
        if user not in self._texts:
            self._texts[user] = self._list(user)
        return self._texts[user]

    def _list(self, user: str) -> Optional[str]:
        program = self._commands.find("crontab")
        if not program:
            return None
        result = self._commands.run(["sh", "-c", _LIST, program, *self.option(user)])
        if any(word in result.stderr for word in _NONE):
            return None
        if result.code or "code " in result.stderr or "bytes omitted" in result.stdout:
            reason = result.stderr.strip().splitlines()
            raise ResourceError(
                "could not read the crontab of %s: %s"
                % (user, reason[0] if reason else "it is too long"),
                kind="resource.cron",
                hint="run crontab -l as that user on the host",
            )
        data = bytes([int(word, 16) for word in result.stdout.split()])
        return data.decode("utf-8", "surrogateescape")

    def set_text(self, user: str, text: str) -> None:
        """Install a crontab. ``ResourceError``"""
        self._texts.clear()
        data = text.encode("utf-8", "surrogateescape")
        with self._commands.protected():
            result = self._commands.run(["crontab", *self.option(user), "-"], input=data)
        if result.code:
            raise ResourceError(
                "could not install the crontab of %s: %s" % (user, result.ending(None)),
                kind="resource.cron",
                output=result.tail(),
            )

    @staticmethod
    def option(user: str) -> List[str]:
        """The arguments that name a user; only root may name another user."""
        return ["-u", user] if os.geteuid() == 0 else []


def spool() -> str:
    """The directory that contains the crontabs."""
    return next((path for path in SPOOLS if os.path.isdir(path)), SPOOLS[-1])
