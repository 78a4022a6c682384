"""The package lists in a preview (target): nothing is fetched."""

from typing import TYPE_CHECKING

from remote_runtime.effects import ASSUMED, UNKNOWN, Uncertainty, UnknownEffect
from remote_runtime.host import package_ports
from remote_runtime.host.overlay.record import Record, covers_lists
from remote_runtime.packages.list_refresh import PackageListReader

if TYPE_CHECKING:
    from remote_runtime.context import Context


class PackageLists(PackageListReader, package_ports.PackageLists):
    """Records that the lists will say something else."""

    def __init__(self, context: "Context", record: Record) -> None:
        super().__init__(context)
        self._record = record
        self._changed = False

    def pending(self, manager: str) -> bool:
        return self.is_last(manager) and (self._changed or self._outdated(manager))

    def outdate(self, manager: str, repository: str) -> None:
        self._changed = True
        why = "the package lists do not contain the pending %s yet" % self._record.by
        self._record.add(UnknownEffect(Uncertainty(UNKNOWN, why), covers_lists))

    def refresh(self, manager: str) -> None:
        self._record.runs = True
        self._record.assumed.append(Uncertainty(ASSUMED, "only a push downloads the package lists"))
