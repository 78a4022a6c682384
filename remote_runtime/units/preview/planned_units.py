"""Units in the state at the time when a resource runs (target; in previews only)."""

import os
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Set

from remote_runtime.changes import Unknowable
from remote_runtime.effects import UnitEffect
from remote_runtime.units import unit as units
from remote_runtime.units import unit_files
from remote_runtime.units.preview.mount_units import needed
from remote_runtime.units.unit_files import (
    Definition,
    Places,
    UnitFiles,
    is_generated,
    is_transient,
)
from remote_runtime.units.unit_status import Status

if TYPE_CHECKING:
    from remote_runtime.context import Context

UnitProperties = Callable[[str], Dict[str, str]]

_TABLE = "/etc/fstab"
_OF_TABLE = (".mount", ".automount", ".swap")
_WATCHED = ("PathExists", "PathExistsGlob", "PathChanged", "PathModified", "DirectoryNotEmpty")
UPHELD = "%s upholds %s and may start it immediately"
_REVERSE = {
    "Requires": "RequiredBy",
    "Requisite": "RequisiteOf",
    "BindsTo": "BoundBy",
    "PartOf": "ConsistsOf",
    "Conflicts": "ConflictedBy",
    "Upholds": "UpheldBy",
}
# Properties that have the units named by the unit itself, too.
_MUTUAL = {"StopPropagatedFrom": "PropagatesStopTo", "ReloadPropagatedFrom": "PropagatesReloadTo"}


class PlannedUnits(object):
    """The units that systemd shows, with the planned changes of earlier resources.

    ``shown`` returns the current output of ``systemctl show`` for a unit; ``names`` are the units
    of the plan.
    """

    def __init__(
        self,
        context: "Context",
        properties: UnitProperties,
        names: Sequence[str],
        places: Optional[Places] = None,
    ) -> None:
        self._context = context
        self.places = unit_files.SYSTEM if places is None else places
        self._show = properties
        self._names = names
        self._read: Optional[UnitFiles] = None

    @property
    def files(self) -> UnitFiles:
        """The files of units in their planned state."""
        if self._read is None:
            overlay = self._context.overlay
            planned = overlay.layer.nodes if overlay is not None else ()
            there = [
                directory
                for directory in self.places.searched
                if directory in planned or os.path.isdir(directory)
            ]
            self._read = UnitFiles(self._context.files, there, self.places)
        return self._read

    def definition(self, name: str) -> Definition:
        """The unit's files in their planned state."""
        return self.files.find(name)

    def status(self, name: str) -> Status:
        """Its planned state."""
        return units.status(name, self.shown(name))

    def shown(self, name: str) -> Dict[str, str]:
        """Return the output of ``systemctl show`` for it after the upcoming reload."""
        properties = self._show(name)
        effect = self._effect(name, properties)
        self._require_written(name, properties)
        if properties.get("NeedDaemonReload") == "yes" or self._touched(name, properties):
            unit = self.files.find(name)
            self._require_bound(unit)
            alias = properties.get("Id", name) != name
            if unit.name != name and (alias or properties.get("ActiveState") == "inactive"):
                return self.shown(unit.name)
            if alias:  # no more; what runs by its own name is another unit
                properties = {"ActiveState": "inactive"}
            properties = dict(properties, **self.files.shown(unit))
            effect = self._effect(name, properties)
            if effect is not None and unit.path and not is_generated(unit):
                effect = effect._replace(enabled=None)  # as the planned links say
        if effect is not None:
            properties = dict(properties, **_affected(effect, properties, self._is_removed(name)))
        self._require_unwatched(name, properties)
        self._require_not_upheld(name, properties)
        return properties

    def _is_removed(self, name: str) -> bool:
        """Return whether an earlier change removes the unit's file, such as with its package."""
        overlay = self._context.overlay
        names = [each for each in (name, units.template(name)) if each]
        paths = ["%s/%s" % (place, each) for place in self.places.searched for each in names]
        nodes = [overlay.layer.find(path, follow=False).node for path in paths] if overlay else []
        return any(node is not None and node.kind == "absent" for node in nodes)

    def _require_written(self, name: str, properties: Mapping[str, str]) -> None:
        """``Unknowable`` for a unit that systemd may generate from a planned table of
        file systems.
        """
        overlay = self._context.overlay
        if overlay is None or self.places.user:
            return
        if _TABLE not in overlay.layer.nodes or not name.endswith(_OF_TABLE):
            return
        unit = self.definition(name)
        if not unit.path or is_generated(unit):
            raise Unknowable("how systemd reads the planned %s is not known yet" % _TABLE)

    def _require_bound(self, unit: Definition) -> None:
        """``Unknowable`` for a running unit that systemd stops when it reads the changed file,
        because the unit is bound to another one that is not running.
        """
        if not self._runs(unit.name):
            return
        for other in unit.text.words("Unit", "BindsTo"):
            if not self._runs(other):
                reason = "%s is bound to %s, which is not running: systemd may stop it"
                raise Unknowable(reason % (unit.name, other))

    def _runs(self, name: str) -> bool:
        properties = self._show(name)
        effect = self._effect(name, properties)
        if effect is not None and effect.active is not None:
            return effect.active
        return properties.get("ActiveState") in units.RUNNING

    def _require_unwatched(self, name: str, properties: Mapping[str, str]) -> None:
        """``Unknowable`` for a unit that a path unit starts as soon as the path exists."""
        overlay = self._context.overlay
        if overlay is None or properties.get("ActiveState") in units.RUNNING:
            return
        for other in units.words(properties.get("TriggeredBy", "")):
            if not other.endswith(".path") or self._show(other).get("ActiveState") != "active":
                continue
            watched = [self.definition(other).text.expand(w) for w in self._watched(other)]
            for path in overlay.layer.nodes:
                if any(w and (fnmatchcase(path, w) or w == os.path.dirname(path)) for w in watched):
                    raise Unknowable("%s watches %s and may start it" % (other, path))

    def _require_not_upheld(self, name: str, properties: Mapping[str, str]) -> None:
        """``Unknowable`` for a unit that the planned text of a running unit upholds."""
        overlay = self._context.overlay
        if overlay is None or properties.get("ActiveState") in units.RUNNING:
            return
        for other in self._planned_units(overlay.layer.nodes):
            upheld = self.definition(other).text.words("Unit", "Upholds")
            if name in upheld and self._runs(other):
                raise Unknowable(UPHELD % (other, name))

    def _planned_units(self, paths: Iterable[str]) -> Set[str]:
        """Return the units with a planned file, drop-in or link."""
        found = set()
        for path in paths:
            for directory in self.places.searched:
                if path.startswith(directory + "/"):
                    first = path[len(directory) + 1 :].partition("/")[0]
                    found.add(re.sub(r"\.(d|wants|requires|upholds)\Z", "", first))
        instances = {name for name in self._names if units.template(name) in found}
        return instances | {name for name in found if "@." not in name}

    def upholding(self, name: str) -> List[str]:
        """The running units that make systemd restart a unit whenever it stops."""
        return [other for other in self.by("Upholds", name) if self.status(other).running]

    def rivals(self, name: str) -> List[str]:
        """The units that stop when one starts, if they are running."""
        conflicting = self.definition(name).text.words("Unit", "Conflicts")
        return conflicting + self.by("Conflicts", name)

    def _watched(self, name: str) -> List[str]:
        text = self.definition(name).text
        return [value for key in _WATCHED for value in text.all("Path", key)]

    def goes(self, name: str) -> bool:
        """Return whether the unit no longer exists after it is stopped."""
        unit = self.definition(name)
        if self.shown(name).get("LoadState") == "not-found" or is_transient(unit):
            return True
        return not unit.path and name.endswith((".mount", ".swap", ".scope"))

    def _effect(self, name: str, properties: Mapping[str, str]) -> Optional[UnitEffect]:
        overlay = self._context.overlay
        if overlay is None:
            return None
        full = self.places.full
        return overlay.units.get(full(properties.get("Id") or name)) or overlay.units.get(
            full(name)
        )

    def _touched(self, name: str, properties: Mapping[str, str]) -> bool:
        """Return whether a planned change affects the definition of the unit."""
        overlay = self._context.overlay
        if overlay is None:
            return False
        names = {name, properties.get("Id") or name, units.template(name) or name}
        nodes = overlay.layer.nodes
        scripts = [] if self.places.user else [units.init_script(each) for each in names]
        if any(script in nodes for script in scripts if script):
            return True
        hidden = [p for p, node in nodes.items() if node.opaque and os.path.isdir(p)]
        searched = self.places.searched
        if any(_held(path, names, searched) for path in hidden):
            return True
        if any(_concerns(path, names, searched) for path in nodes):
            return True
        files = [os.path.join(directory, each) for directory in searched for each in names]
        return any(os.path.islink(f) and overlay.layer.find(f, follow=True).laid for f in files)

    def by(self, key: str, name: str) -> List[str]:
        """The units that name this one in a setting such as Requires."""
        properties = self._show(name)
        reverse = units.words(properties.get(_REVERSE.get(key, ""), ""))
        found = [o for o in reverse if not self._replanned(o)]
        overlay = self._context.overlay
        written = self._planned_units(overlay.layer.nodes) if overlay is not None else set()
        written.update(units.words(properties.get(_MUTUAL.get(key, ""), "")))
        for other in [*self._names, *sorted(written.difference(self._names))]:
            replanned = key not in _REVERSE or other in written or self._replanned(other)
            if other not in found and replanned:
                unit = self.definition(other)
                units_named = unit.text.words("Unit", key) + (
                    needed(unit) if key == "Requires" else []
                )
                found += [other] if name in units_named else []
        return found

    def _replanned(self, name: str) -> bool:
        return self._context.overlay is not None and self._touched(name, self._show(name))


def _held(directory: str, names: Set[str], searched: Sequence[str]) -> bool:
    """Return whether a directory of the host is part of the definition of one of these units."""
    if any((each + "/").startswith(directory + "/") for each in searched):
        return True
    linked = any(os.path.lexists(os.path.join(directory, name)) for name in names)
    return linked and any(directory.startswith(each + "/") for each in searched)


def _concerns(path: str, names: Set[str], searched: Sequence[str]) -> bool:
    """Return whether a change at a path affects the definition of one of these units."""
    for directory in searched:
        if path.startswith(directory + "/"):
            parts = path[len(directory) + 1 :].split("/")
            drop_in = parts[0][:-2] if parts[0].endswith(".d") else ""
            prefixed = drop_in.rpartition("-.")[0]
            return (
                parts[0] in names
                or parts[-1] in names
                or drop_in in names
                or any(drop_in and name.endswith("." + drop_in) for name in names)
                or any(prefixed and name.startswith(prefixed + "-") for name in names)
            )
    return False


def _affected(effect: UnitEffect, properties: Mapping[str, str], removed: bool) -> Dict[str, str]:
    """The properties that an effect replaces. A unit with a ``removed`` file exists only while it
    runs."""
    new: Dict[str, str] = {}
    if effect.active is not None:
        state = ("active", "running") if effect.active else ("inactive", "dead")
        new.update(zip(("ActiveState", "SubState"), state), Result="success")
    if effect.enabled is not None and properties.get("UnitFileState") not in units.EITHER:
        new["UnitFileState"] = "enabled" if effect.enabled else "disabled"
    enabled = effect.enabled and not removed
    if properties.get("LoadState") == "not-found" and (effect.active or enabled):
        new["LoadState"] = "loaded"
    return new
