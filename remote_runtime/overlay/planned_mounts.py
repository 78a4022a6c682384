"""The predicted mounts when a resource runs (target)."""

import os
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.effects import MountEffect
from remote_runtime.overlay.file_overlay import FileOverlay
from remote_runtime.overlay.uncertainty import UnknownRegions
from remote_runtime.system.kernel import mounts
from remote_runtime.system.kernel.mounts import MountEntry, MountTable
from remote_runtime.system.paths import is_within

if TYPE_CHECKING:
    from remote_runtime.system.files import Files
    from remote_runtime.system.kernel.fstab import Entry


class PlannedMounts(MountTable):
    """The mounts of the host with planned changes, by mount point; swap space is listed by its
    device.
    """

    def __init__(self, files: "Files", layer: FileOverlay, unknown_regions: UnknownRegions) -> None:
        super().__init__(files, lambda: 0)
        self._layer, self._unknown_regions = layer, unknown_regions
        self.planned: Dict[str, Tuple[MountEffect, int]] = {}
        self.reloaded = 0  # time of the last reload of systemd

    def table(self) -> str:
        """See the base class. Read again for each resource once a change is planned."""
        if self._layer.is_empty and not self._unknown_regions:
            return super().table()
        return self.read_table()

    def at(self, point: str) -> Optional[MountEntry]:
        """See the base class. A planned mount takes precedence. ``Unknowable`` for a mount of a
        unit, and for one below a path that is removed.
        """
        effect, since = self.planned.get(point, (None, 0))
        on_host = super().at(point)
        there = on_host is not None if effect is None else effect.present
        self._unknown_regions.record_read("path", point, there, since)
        if self._is_hidden(point, since):
            return None
        if effect is None:
            return on_host
        if not effect.present and len(super().stack(point)) > 1:
            raise Unknowable("the mount that remains at %s is not known" % point)
        if effect.present and effect.entry is None:
            raise Unknowable("the unit's mount at %s is not known" % point)
        entry: Optional[MountEntry] = effect.entry if effect.present else None
        return entry

    def _is_hidden(self, point: str, since: int) -> bool:
        """Return whether a mount is planned above it where nothing is mounted today."""
        return any(
            effect.present and laid > since and super(PlannedMounts, self).at(above) is None
            for above, (effect, laid) in self.planned.items()
            if above != point and is_within(point, above)
        )

    def is_source(self, mounted: MountEntry, wanted: "Entry") -> bool:
        """See the base class. The source of a planned mount is as in fstab, so the texts are
        compared.
        """
        effect, _ = self.planned.get(mounted.point, (None, 0))
        if effect is not None and effect.entry == mounted:
            return mounted.source == wanted.device
        return super().is_source(mounted, wanted)

    def is_swap(self, device: str) -> bool:
        effect, since = self.planned.get(device, (None, 0))
        self._unknown_regions.record_read("path", device, True, since)
        return super().is_swap(device) if effect is None else effect.present

    def is_stale(self) -> bool:
        """See the base class. A planned fstab is stale until a planned reload of systemd follows
        it.
        """
        if not self._layer.is_empty:
            planned_path = self._layer.find(os.path.join(mounts.ETC, "fstab"), follow=True)
            if planned_path.node is not None and os.path.isdir(os.path.dirname(mounts.LOADED)):
                return planned_path.node.since > self.reloaded
        return not self.reloaded and super().is_stale()

    def points(self) -> List[str]:
        """Return the paths where something will be mounted."""
        gone = [point for point, (effect, _) in self.planned.items() if not effect.present]
        now = [one.point for one in self.all() if one.point not in gone]
        return now + [point for point, (effect, _) in self.planned.items() if effect.present]
