"""The effects of starting, stopping and enabling a unit on the target (target; in previews
only)."""

import os
from typing import TYPE_CHECKING, Dict, List, Mapping, Sequence

from remote_runtime.changes import Unknowable
from remote_runtime.effects import Effect, MountEffect, PathEffect, UnitEffect, UnknownEffect, once
from remote_runtime.uncertainty import UNKNOWN, Uncertainty
from remote_runtime.units import written_paths
from remote_runtime.units.named_paths import sockets
from remote_runtime.units.preview import mount_units, user_units
from remote_runtime.units.preview.planned_units import UPHELD, PlannedUnits
from remote_runtime.units.preview.run_checks import RunChecks
from remote_runtime.units.service_directories import own_directories, runtime_directories
from remote_runtime.units.unit_files import CONFIGURED, MASKED_BY, Definition, install_links
from remote_runtime.units.unit_status import (
    DISABLE,
    ENABLE,
    MASK,
    RELOAD,
    RESTART,
    START,
    STOP,
    UNMASK,
)

if TYPE_CHECKING:
    from remote_runtime.context import Context

_PULLED = ("Requires", "BindsTo", "Wants", "Upholds")
BOUND = ("Requires", "BindsTo", "PartOf", "Requisite")
"""The settings that name units together with which a unit stops."""
_STOPS, _STOPPED_FROM = "PropagatesStopTo", "StopPropagatedFrom"
_RELOADS, _RELOADED_FROM = "PropagatesReloadTo", "ReloadPropagatedFrom"
_SOON = ("OnActiveSec", "OnBootSec", "OnStartupSec")
_UNNEEDED = "StopWhenUnneeded"
_LIMIT = 200  # units that one action is followed to


class UnitEffects(object):
    """Follows the actions that systemd performs automatically from unit to unit."""

    def __init__(self, context: "Context", units: PlannedUnits) -> None:
        self._context = context
        self._units = units
        self._checks = RunChecks(context, units)

    def of(self, verb: str, name: str) -> List[Effect]:
        """Return the effects of an action on a unit."""
        if verb in (ENABLE, DISABLE):
            return self._enabled(name) if verb == ENABLE else self._disabled(name)
        if verb == RELOAD:
            return self._reloaded(name)
        if verb == MASK:
            place = "%s/%s" % (self._units.places.configured, name)
            mask = PathEffect(place, "symlink", target=MASKED_BY)
            return [UnitEffect(name, masked=True), mask]
        if verb == UNMASK:
            masks = [PathEffect(path, "absent") for path in self._units.files.masks(name)]
            return [UnitEffect(name, masked=False), *masks]
        running: Dict[str, bool] = {}
        gone: List[Effect] = []
        if verb == STOP:
            self._stop(name, running)
        else:
            self._start(name, running)
        restarted = self._restarted(name) if verb == RESTART else []
        for other in restarted:
            running.setdefault(other, True)
            gone += runtime_directories(self._units.definition(other), restart=True)
        return once(gone + self._effects(running, restarted))

    def _restarted(self, name: str) -> List[str]:
        """Return a restarted unit and the running units that restart with it. ``Unknowable`` if one
        of these would not run afterwards."""
        units, bound = [name], self._bound(name)
        while bound and len(units) < _LIMIT:
            other = bound.pop()
            if other in units or not self._units.status(other).running:
                continue
            reason = self._checks.obstacle(other)
            reason = reason or ("ends by itself" if self._checks.ends(other) else "")
            if reason:
                raise Unknowable("%s is restarted with %s and %s" % (other, name, reason))
            units.append(other)
            bound += self._bound(other)
        return units

    def _bound(self, name: str) -> List[str]:
        return [other for key in BOUND for other in self._units.by(key, name)]

    def _start(self, name: str, running: Dict[str, bool]) -> None:
        running[name] = True
        unit = self._units.definition(name)
        self._require_undisputed(unit, running)
        pulled = [o for key in _PULLED for o in unit.text.words("Unit", key)]
        pulled += _slices(unit)
        for other in [*self._checks.mounts_for(unit), *pulled]:
            if len(running) < _LIMIT and other not in running and self._comes_up(other):
                self._start(other, running)
        for other in self._units.rivals(name):
            if running.get(other):
                raise Unknowable("%s starts with %s and conflicts with it" % (other, name))
            self._stop_running(other, running)

    def _require_undisputed(self, unit: Definition, running: Mapping[str, bool]) -> None:
        """``Unknowable`` if a unit that this one upholds conflicts with a running one, because
        systemd may start and stop them alternately.
        """
        for upheld in unit.text.words("Unit", "Upholds"):
            for rival in self._units.rivals(upheld):
                if running.get(rival) or self._units.status(rival).running:
                    reason = "%s upholds %s, which conflicts with %s"
                    raise Unknowable(reason % (unit.name, upheld, rival))

    def _comes_up(self, name: str) -> bool:
        """Return whether a unit that is not running would run if something pulled it in."""
        status = self._units.status(name)
        usable = status.found and not (status.running or status.masked or status.failure)
        return usable and not (self._checks.ends(name) or self._checks.obstacle(name))

    def _stop(self, name: str, running: Dict[str, bool]) -> None:
        for other in self._units.upholding(name):
            raise Unknowable(UPHELD % (other, name))
        running[name] = False
        words = self._units.definition(name).text.words("Unit", _STOPS)
        words += self._units.by(_STOPPED_FROM, name)
        for other in words + self._bound(name):
            self._stop_running(other, running)

    def _stop_running(self, name: str, running: Dict[str, bool]) -> None:
        followed = len(running) < _LIMIT and name not in running
        if followed and self._units.status(name).running:
            self._stop(name, running)

    def _effects(self, running: Dict[str, bool], restarted: Sequence[str]) -> List[Effect]:
        """Return the effects: those of mounts first, outer ones before inner ones, because all
        others depend on them.
        """
        effects: List[Effect] = []
        units = [(self._units.definition(name), runs) for name, runs in running.items()]
        units.sort(key=lambda each: (not _is_mount(each[0]), len(mount_units.place(each[0]))))
        for unit, runs in units:
            ended = not runs or unit.name in restarted
            effects.append(UnitEffect(unit.name, active=runs, ended=ended))
            if _is_mount(unit):
                mounting = mount_units.MountChecks(self._context)
                effects += mounting.mounted(unit) if runs else mount_units.unmounted(unit)
            elif runs and unit.places.user:
                effects += user_units.directories(unit)
            elif runs:
                effects += own_directories(unit, self._context)
                effects += [PathEffect(path, "something") for path in sockets(unit)]
                effects += self._triggered(unit)
            elif unit.name.endswith(".slice"):
                effects.append(_emptied(unit))
            else:
                effects += runtime_directories(unit, restart=False)
            if not runs:
                effects += [_unneeded(unit, other) for other in self._let_go(unit)]
            if unit.name.endswith(".service"):
                effects += written_paths.effects(unit, self._context, starts=runs, stops=ended)
        return effects

    def _triggered(self, unit: Definition) -> List[Effect]:
        """Return the unknown effects of the units that a running one may start at any time."""
        effects: List[Effect] = []
        for other in _triggers(unit):
            effects.append(_triggered(unit, other))
            effects += written_paths.of_trigger(self._units.definition(other), self._context)
        return effects

    def _let_go(self, unit: Definition) -> List[str]:
        """Return the units needed by this one that stop once nothing needs them."""
        needed = [other for key in _PULLED for other in unit.text.words("Unit", key)]
        return [o for o in needed if self._units.definition(o).text.flag("Unit", _UNNEEDED)]

    def _reloaded(self, name: str) -> List[Effect]:
        """Return the effects of a reload, also on the running units that reload with the unit."""
        effects: List[Effect] = [UnitEffect(name, active=True, reloaded=True)]
        units = [name]
        for reloading in units:
            unit = self._units.definition(reloading)
            if unit.name.endswith(".service"):
                effects += written_paths.of_reload(unit, self._context)
            with_it = unit.text.words("Unit", _RELOADS) + self._units.by(_RELOADED_FROM, reloading)
            for other in with_it:
                followed = len(units) < _LIMIT and other not in units
                if followed and self._units.status(other).running:
                    units.append(other)
        return effects

    def _enabled(self, name: str) -> List[Effect]:
        effects: List[Effect] = []
        for unit in self._switched(name):
            effects.append(UnitEffect(unit.name, enabled=True))
            links = install_links(unit)
            effects += [PathEffect(link, "symlink", target=unit.path) for link in links]
        return effects

    def _disabled(self, name: str) -> List[Effect]:
        effects: List[Effect] = []
        for unit in self._switched(name):
            effects.append(UnitEffect(unit.name, enabled=False))
            links = self._units.files.links(unit)
            links += [unit.path] if self._units.files.elsewhere(unit) else []
            effects += [PathEffect(link, "absent") for link in links]
        return effects

    def _switched(self, name: str) -> List[Definition]:
        """Return the unit and those in its ``Also`` setting."""
        unit = self._units.definition(name)
        also = [self._units.definition(other) for other in unit.text.words("Install", "Also")]
        return [unit] + [other for other in also if other.path and other.name != unit.name]


def unfinished(
    verb: str, name: str, effects: Sequence[Effect], configured: str = CONFIGURED
) -> List[UnknownEffect]:
    """Return the unknown effects of a failed action with these effects, some of which may have
    happened.

    ``configured`` is the directory with the links of units. A unit whose start fails is not
    running; the state of units that start with it is unknown.
    """
    paths = {effect.path for effect in effects if isinstance(effect, (PathEffect, MountEffect))}
    units = {effect.name for effect in effects if isinstance(effect, UnitEffect)}
    units |= {os.path.basename(path) for path in paths if path.startswith(configured + "/")}
    if verb == START:
        units.discard(name)

    def covers(kind: str, value: str, present: bool) -> bool:
        if verb == ENABLE and present and value != name:
            return False  # its links replace nothing
        return value in (units if kind == "unit" else paths if kind == "path" else ())

    if not (paths or units):
        return []
    return [
        UnknownEffect(
            Uncertainty(UNKNOWN, "%s of %s fails, possibly after partial changes" % (verb, name)),
            covers,
        )
    ]


def _is_mount(unit: Definition) -> bool:
    return unit.name.endswith((".mount", ".automount"))


def _slices(unit: Definition) -> List[str]:
    """The slices in which a unit runs, which start with it; outermost last."""
    stem, _, suffix = unit.name.rpartition(".")
    inner = unit.text.last(suffix.capitalize(), "Slice") or "-.slice"
    if suffix == "slice":
        inner = "%s.slice" % (stem.rpartition("-")[0] or "-")
    result: List[str] = []
    while inner.endswith(".slice") and inner != "-.slice":
        result.append(inner)
        inner = "%s.slice" % (inner[: -len(".slice")].rpartition("-")[0] or "-")
    return result


def _triggers(unit: Definition) -> List[str]:
    """The units that a unit may start as soon as it is running."""
    stem, _, suffix = unit.name.rpartition(".")
    soon = any(unit.text.all("Timer", key) for key in _SOON)
    soon = soon or unit.text.flag("Timer", "Persistent")
    if suffix != "path" and not (suffix == "timer" and soon):
        return []
    return unit.text.words(suffix.capitalize(), "Unit")[-1:] or ["%s.service" % stem]


def _triggered(unit: Definition, other: str) -> UnknownEffect:
    uncertainty = Uncertainty(UNKNOWN, "%s may start it immediately" % unit.name)
    return UnknownEffect(uncertainty, lambda kind, value, present: (kind, value) == ("unit", other))


def _unneeded(unit: Definition, other: str) -> UnknownEffect:
    uncertainty = Uncertainty(UNKNOWN, "%s stops if only %s requires it" % (other, unit.name))
    return UnknownEffect(uncertainty, lambda kind, value, present: (kind, value) == ("unit", other))


def _emptied(unit: Definition) -> UnknownEffect:
    uncertainty = Uncertainty(UNKNOWN, "the processes in %s stop with it" % unit.name)
    return UnknownEffect(
        uncertainty, lambda kind, value, present: kind == "unit" and value != unit.name
    )
