"""The package lists in a preview (target): nothing is fetched."""

from typing import TYPE_CHECKING

from remote_runtime.effects import UnknownEffect
from remote_runtime.host import package_ports
from remote_runtime.host.preview.change_record import Record, covers_lists
from remote_runtime.uncertainty import ASSUMED, UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.context import Context


class PackageLists(package_ports.PackageLists):
    """Records that the lists will have different content."""

    def __init__(self, context: "Context", record: Record) -> None:
        super().__init__(context)
        self._record = record
        self._changed = False

    def _is_outdated(self, manager: str) -> bool:
        return self._changed or super()._is_outdated(manager)

    def outdate(self, manager: str, repository: str) -> None:
        self._changed = True
        reason = "the package lists do not contain the pending %s yet" % self._record.by
        self._record.add(UnknownEffect(Uncertainty(UNKNOWN, reason), covers_lists))

    def refresh(self, manager: str) -> None:
        self._record.runs = True
        self._record.assumed.append(Uncertainty(ASSUMED, "only a push downloads the package lists"))
