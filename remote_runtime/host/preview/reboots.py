"""Reboots in a preview (target): none is performed."""

from typing import TYPE_CHECKING, Optional

from remote_runtime.effects import UnknownEffect
from remote_runtime.errors import ResourceError
from remote_runtime.host import kernel_ports
from remote_runtime.host.kernel_ports import PlannedReboot
from remote_runtime.host.preview.change_record import Record
from remote_runtime.host.preview.post_reboot import RebootCoverage
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.context import Context


class Reboots(kernel_ports.Reboots):
    """Records that everything that a boot recreates is unknown."""

    def __init__(self, context: "Context", record: Record) -> None:
        super().__init__(context)
        self._record = record

    def reboot(self, timeout: str) -> None:
        """See the base class. The host is unknown after the reboot, except for the state that
        survives it.
        """
        by = self._record.by
        planned = self._context.one(PlannedReboot)
        planned.index, planned.by = self._context.position, by
        reason = "%s would have rebooted the host first" % by
        coverage = RebootCoverage(self._table())
        self._record.add(UnknownEffect(Uncertainty(UNKNOWN, reason), coverage))

    def _table(self) -> Optional[str]:
        """Return the text of fstab at this point; None if it is unknown."""
        try:
            with self._context.ignoring():
                return self._record.overlay.mounts.read_table()
        except ResourceError:
            return None
