"""The processes of the host after planned changes of units (target; previews only)."""

import os
from typing import TYPE_CHECKING, Iterator, List, Sequence, Tuple

from remote_runtime.system.process.process_identity import service_of
from remote_runtime.units.unit_files import SYSTEM, Definition, UnitFiles

if TYPE_CHECKING:
    from remote_runtime.overlay.host_overlay import HostOverlay
    from remote_runtime.system.files import Files

_ALL_KILLED = ("", "control-group", "mixed")  # values of KillMode= with which no process is left


class PlannedProcesses(object):
    """The processes that planned stops of services end, and the services that will have started."""

    def __init__(self, overlay: "HostOverlay") -> None:
        self._overlay = overlay

    def remaining(self, pids: Sequence[int]) -> Tuple[List[int], bool]:
        """Return those of these processes that are not known to end, and whether they may end
        nevertheless.
        """
        units = self._overlay.units
        remaining_pids = [pid for pid in pids if not self._ends(service_of(pid))]
        stops = any(unit.active is False for unit in units.values())
        changes = any(
            unit.active for unit in (units.get(service_of(pid)) for pid in remaining_pids) if unit
        )
        return remaining_pids, stops or changes

    def _ends(self, service: str) -> bool:
        effect = self._overlay.units.get(service)
        if effect is None or effect.active is not False:
            return False
        unit = self._definition(service, self._overlay.files)
        if not unit.path:  # an earlier resource removes it
            unit = self._definition(service, self._overlay.host_files)
        return bool(unit.path) and unit.text.last("Service", "KillMode") in _ALL_KILLED

    def started(self) -> Iterator[Definition]:
        """Yield the services that earlier resources start or restart."""
        for name, effect in sorted(self._overlay.units.items()):
            if effect.active and name.endswith(".service") and "/" not in name:
                yield self._definition(name, self._overlay.files)

    def _definition(self, name: str, files: "Files") -> Definition:
        planned = self._overlay.layer.nodes
        there = [each for each in SYSTEM.searched if each in planned or os.path.isdir(each)]
        return UnitFiles(files, there).find(name)


def named_paths(unit: Definition) -> Iterator[str]:
    """Yield the absolute paths in the settings of a service, such as its working directory, its
    programs and the files for its output.
    """
    for _, value in unit.text.settings("Service", ""):
        for word in (unit.text.expand(value) or value).split():
            start = word.find("/")
            if start >= 0:
                yield word[start:].rstrip("\"';")
