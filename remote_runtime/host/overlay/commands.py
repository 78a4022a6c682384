"""Programs in a preview (target): none is run."""

from typing import Optional, Sequence

from remote_runtime.effects import ASSUMED, Uncertainty, UnknownEffect, below, everything
from remote_runtime.host import ports
from remote_runtime.host.machine.commands import CommandReader
from remote_runtime.host.overlay.record import Record


class Commands(CommandReader, ports.Commands):
    """Records that the changes of a program are unknown."""

    def __init__(self, record: Record) -> None:
        super().__init__(record.world.commands)
        self._record = record

    def run(
        self,
        argv: Sequence[str],
        *,
        input: Optional[bytes] = None,  # noqa: A002 - as in the base class
        timeout: Optional[float] = None,
        user: Optional[str] = None,
        affects: Optional[Sequence[str]] = None,
    ) -> None:
        """See the base class."""
        self.require(argv[0])
        doubt = Uncertainty(ASSUMED, "%s may change this first" % self._record.by)
        text = " ".join(argv)
        self._record.runs = True
        if affects is None:
            self._record.add(UnknownEffect(doubt, everything, text))
        for path in affects or ():
            self._record.add(UnknownEffect(doubt, below(path, itself=True), text))
