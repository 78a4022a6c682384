"""Programs in a preview (target): none is run."""

import os
from typing import Optional, Sequence

from remote_runtime.effects import Below, PathEffect, UnknownEffect, everything
from remote_runtime.host import command_ports as port
from remote_runtime.host.command_ports import Command
from remote_runtime.host.preview.change_record import Record
from remote_runtime.retries import ONCE, RetryPolicy
from remote_runtime.uncertainty import ASSUMED, Uncertainty


class Commands(port.Commands):
    """Records that the changes of a program are unknown."""

    def __init__(self, record: Record) -> None:
        overlay = record.overlay
        super().__init__(overlay.commands, overlay.files, overlay.accounts)
        self.ended = None
        self._record = record

    def run(
        self,
        argv: Sequence[str],
        *,
        user: Optional[str] = None,
        affects: Optional[Sequence[str]] = None,
        makes: Sequence[port.Made] = (),
    ) -> None:
        """See the base class. Only finds the program. Everything that the command affects is
        uncertain afterwards.
        """
        self.require(argv[0])
        uncertainty = Uncertainty(ASSUMED, "%s may change the host first" % self._record.by)
        text = " ".join(argv)
        self._record.runs = True
        if affects is None:
            self._record.add(UnknownEffect(uncertainty, everything, text))
        for path in affects or ():
            self._record.add(UnknownEffect(uncertainty, Below(path, itself=True), text))
        for path, mode, uid, gid in makes:
            self._record.add(PathEffect(path, "file", mode, uid=uid, gid=gid, once=True))

    def execute(
        self,
        command: Command,
        *,
        creates: str = "",
        affects: Optional[Sequence[str]] = None,
        log: bool = False,
        tries: RetryPolicy = ONCE,
    ) -> None:
        """See the base class. Checks that the command can start. Everything that it affects is
        uncertain afterwards; ``creates`` exists, or stays what it is.
        """
        from remote_runtime.host.preview.command_checks import require_startable

        record = self._record
        record.runs = True
        try:
            require_startable(record.overlay, command, self.words(command).argv)
        finally:  # it may start anyway
            uncertainty = Uncertainty(ASSUMED, "%s may change the host first" % record.by)
            record.add(UnknownEffect(uncertainty, record.covering(affects), command.text))
            is_name = os.path.basename(creates.rstrip("/")) not in ("", "..")
            if is_name and not record.overlay.layer.exists(creates):
                record.add(PathEffect(creates, "something"))
