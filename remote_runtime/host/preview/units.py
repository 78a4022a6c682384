"""Units in a preview (target): systemd's actions are recorded, and its refusals raise errors."""

from typing import TYPE_CHECKING, Callable

from remote_runtime.host import ports
from remote_runtime.host.preview.change_record import Record

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.overlay.host_overlay import HostOverlay
    from remote_runtime.units.unit_status import Status


class UnitReader(ports.UnitReader):
    """Reads the units of a host with planned changes."""

    def __init__(self, overlay: "Callable[[], HostOverlay]", context: "Context") -> None:
        super().__init__(context)
        self._overlay, self._within = overlay, context.within

    def status(self, name: str) -> "Status":
        with self._within(self._overlay()):
            return super().status(name)

    def carries_run(self, name: str) -> bool:
        with self._within(self._overlay()):
            return super().carries_run(name)


class Units(UnitReader, ports.Units):
    """Records the changes to units, and to the units and paths that depend on them."""

    def __init__(self, record: Record, context: "Context") -> None:
        super().__init__(lambda: record.overlay, context)
        self._record = record

    def _act(self, verb: str, name: str) -> None:
        record = self._record
        systemd, name = self._of(name)
        with self._within(record.overlay):
            verb = systemd.possible(verb, name)
            effects = systemd.consequences(verb, name)
            record.unfinished.extend(systemd.unfinished(verb, name, effects))
            try:
                if record.checks:
                    systemd.preflight(verb, name)
            finally:  # if it fails at its end, all of it has come
                record.add(*effects)
