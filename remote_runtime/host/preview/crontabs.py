"""The crontabs of users in a preview (target): the crontab that would be installed is recorded."""

from typing import TYPE_CHECKING

from remote_runtime.content import Bytes
from remote_runtime.effects import PathEffect
from remote_runtime.host import crontab_ports
from remote_runtime.host.preview.change_record import Record
from remote_runtime.system.process.crontabs import spool
from remote_runtime.uncertainty import ASSUMED, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.host.account_reader import AccountReader
    from remote_runtime.host.command_ports import CommandReader


class Crontabs(crontab_ports.Crontabs):
    """Records the file that the program would install; it is not run."""

    def __init__(
        self, record: Record, accounts: "AccountReader", commands: "CommandReader"
    ) -> None:
        super().__init__(lambda: record.overlay.crontabs, accounts)
        self._record, self._commands = record, commands

    def set_text(self, user: str, text: str) -> None:
        """See the base class. The text is assumed, because some versions of crontab write
        a header.
        """
        self._require_program()
        entry = self._accounts.user(user)
        uid, gid = (0, 0) if entry is None else (entry.uid, entry.gid)
        content = Bytes(text.encode("utf-8", "surrogateescape"))
        path = "%s/%s" % (spool(), user)
        content.uncertainty = Uncertainty(ASSUMED, "crontab may add a header to %s" % path)
        self._record.add(PathEffect(path, "file", 0o600, uid=uid, gid=gid, content=content))

    def _require_program(self) -> None:
        self._commands.require("crontab")
