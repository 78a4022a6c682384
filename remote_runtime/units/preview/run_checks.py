"""Reasons why a unit would not run after its start (target; in previews only).

Nothing is started: the checks are those of systemd before it starts the program.
"""

import os
from typing import TYPE_CHECKING, Iterator, List, Optional, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.units.preview import mount_units, path_globs
from remote_runtime.units.preview.ordering import cycle
from remote_runtime.units.preview.planned_units import PlannedUnits
from remote_runtime.units.preview.socket_checks import SocketChecks
from remote_runtime.units.preview.start_checks import StartChecks
from remote_runtime.units.unit_files import Definition

if TYPE_CHECKING:
    from remote_runtime.context import Context

_DEPTH = 5  # units bound to units
_TOUCHED = "/run/systemd/systemd-units-load"  # by systemd-analyze, where it can
_UNTOUCHED = 'mount -n --bind "$0" "$0" && mount -n -o remount,bind,ro "$0" && exec "$@"'


class RunChecks(object):
    """Checks units in their planned state."""

    def __init__(self, context: "Context", units: PlannedUnits) -> None:
        self._context = context
        self._units = units
        self._process = StartChecks(context)

    def obstacle(self, name: str, depth: int = 0) -> str:
        """The reason why it would not run, as text that continues its name; "" if none
        is visible.
        """
        unit = self._units.definition(name)
        if not unit.path:
            return ""  # systemd has it from elsewhere
        looks = (
            self._cycle(unit) if not depth else iter(()),
            self._dependencies(unit, depth),
            self._conditions(unit),
            self._trigger(unit),
        )
        reason_found = next((reason for look in looks for reason in look), "")
        if reason_found:
            return reason_found
        if unit.name.endswith((".mount", ".automount")):
            return next(mount_units.MountChecks(self._context).obstacles(unit), "")
        if not unit.name.endswith(".service"):
            return ""
        if unit.places.user:
            from remote_runtime.units.preview.user_units import require_plain

            require_plain(unit)
        self._require_seen(unit)
        return next(self._process.lacks(unit), "")

    def reload_obstacle(self, name: str) -> str:
        """Return the reason why it could not reload its configuration; "" if none is visible."""
        unit = self._units.definition(name)
        if not unit.path or not unit.name.endswith(".service"):
            return ""
        return next(self._process.lacks_to_reload(unit), "")

    def mounts_for(self, unit: Definition) -> List[str]:
        """The mount units that a unit pulls in through the paths that it names."""
        return [name for name in mount_units.needed(unit) if self._units.definition(name).path]

    def _require_seen(self, unit: Definition) -> None:
        """``Unknowable`` if the unit has files below a mount that starts together with it."""
        for name in self.mounts_for(unit):
            inside = mount_units.place(self._units.definition(name)).rstrip("/") + "/"
            named = any(inside in value for _, value in unit.text.settings("Service", ""))
            if named and not self._units.status(name).running:
                raise Unknowable(
                    ("%s starts too, and the files that it mounts are not known yet") % name
                )

    def ends(self, name: str) -> bool:
        """Return whether it would end by itself immediately, and therefore never keep running."""
        unit = self._units.definition(name)
        if not unit.path or not unit.name.endswith(".service"):
            return False
        return unit.kind == "oneshot" and not unit.text.flag("Service", "RemainAfterExit")

    def _cycle(self, unit: Definition) -> Iterator[str]:
        names = cycle(self._units, unit)
        if names:
            yield "can never start: %s" % " waits for ".join(names)

    def _dependencies(self, unit: Definition, depth: int) -> Iterator[str]:
        rivals = self._units.rivals(unit.name) if not depth else []
        for key, other in self._needed(unit):
            if other in rivals:
                yield "requires %s (%s) and conflicts with it" % (other, key)
            status = self._units.status(other)
            if not status.found:
                yield "requires %s (%s), which does not exist" % (other, key)
            elif status.running:
                continue
            elif key == "Requisite":
                if self._looks_first(unit, other):
                    yield "requires %s to be started already (Requisite)" % other
            elif status.masked:
                yield "requires %s (%s), which is masked" % (other, key)
            elif status.failure:
                yield "requires %s (%s): %s" % (other, key, status.failure)
            else:
                yield from self._pulled(unit, key, other, depth)

    def _looks_first(self, unit: Definition, name: str) -> bool:
        """Return whether systemd checks a required unit before it starts this one. ``Unknowable``
        if neither must wait for the other."""
        other = self._units.definition(name).text
        if name in unit.text.words("Unit", "After") or unit.name in other.words("Unit", "Before"):
            return True
        if name in unit.text.words("Unit", "Before") or unit.name in other.words("Unit", "After"):
            return False
        reason = "%s requires %s to be started already (Requisite) and does not wait for it (After)"
        raise Unknowable(reason % (unit.name, name))

    def _needed(self, unit: Definition) -> Iterator[Tuple[str, str]]:
        for key in ("Requires", "BindsTo", "Requisite"):
            for other in unit.text.words("Unit", key):
                yield key, other
        for other in self.mounts_for(unit):
            yield mount_units.NEEDED, other

    def _pulled(self, unit: Definition, key: str, name: str, depth: int) -> Iterator[str]:
        """Yield the reasons why a unit that starts with this one would prevent it from running."""
        other = self._units.definition(name)
        if next(self._unmet(other, "Assert"), ""):
            yield "requires %s (%s), whose assertion fails" % (name, key)
        # A simple service counts as started before its program is checked.
        at_once = name.endswith(".service") and other.kind in ("simple", "idle")
        waited_for = name in unit.text.words("Unit", "After") or key == mount_units.NEEDED
        waited_for = waited_for and not at_once
        if depth == _DEPTH or not (key == "BindsTo" or waited_for):
            return
        reason = self.obstacle(name, depth + 1)
        if not reason and key == "BindsTo" and self.ends(name):
            reason = "does not stay active"
        if reason:
            yield "is bound to %s, which %s" % (name, reason)

    # -- conditions -------------------------------------------------------------------------------

    def _conditions(self, unit: Definition) -> Iterator[str]:
        for prefix in ("Assert", "Condition"):
            for setting in self._unmet(unit, prefix):
                yield "is not started because %s is not met" % setting

    def _unmet(self, unit: Definition, prefix: str) -> Iterator[str]:
        """The settings that prevent it from starting: any of them, or all of those marked with
        ``|``.
        """
        marked, one_holds = [], False
        for key, value in unit.text.settings("Unit", prefix):
            setting = "%s=%s" % (key, value)
            expanded = unit.text.expand(value.lstrip("|").lstrip())
            holds = expanded is None or self._holds(key[len(prefix) :], expanded)
            if value.startswith("|"):
                marked.append(setting)
                one_holds = one_holds or holds
            elif not holds:
                yield setting
        if marked and not one_holds:
            yield " or ".join(marked)

    def _holds(self, kind: str, value: str) -> bool:
        negated = value.startswith("!")
        holds = self._looked_up(kind, value[1:].strip() if negated else value)
        if holds is None:
            return self._analyzed("Condition%s=%s" % (kind, value))
        return holds is not negated

    def _looked_up(self, kind: str, path: str) -> Optional[bool]:
        files = self._context.files
        if kind == "PathExists":
            return files.exists(path)
        if kind == "PathIsDirectory":
            return files.is_directory(path)
        if kind == "FileIsExecutable":
            return self._context.user_commands.is_program(path)
        if kind == "DirectoryNotEmpty":
            return files.is_directory(path) and bool(files.entries(path + "/."))
        if kind in ("FileNotEmpty", "PathIsSymbolicLink"):
            status = files.status(path, follow=kind == "FileNotEmpty")
            wanted = "file" if kind == "FileNotEmpty" else "symlink"
            return status is not None and status.kind == wanted and status.size > 0
        if kind == "PathExistsGlob" and "{" not in path:
            return any(True for _ in path_globs.matches(files, path))
        return None

    def _analyzed(self, condition: str) -> bool:
        """Query systemd; an unknown result counts as met."""
        commands = self._context.commands
        if not commands.find("systemd-analyze"):
            return True
        argv = ["systemd-analyze", "condition", condition]
        own = os.geteuid() == 0 and not self._units.places.user
        if own and commands.find("unshare") and os.path.exists(_TOUCHED):
            argv[:0] = ["unshare", "--mount", "sh", "-c", _UNTOUCHED, _TOUCHED]
        result = commands.run(argv, user=self._units.places.user or None)
        return "Conditions failed." not in result.stdout + result.stderr

    def _has_time(self, unit: Definition) -> bool:
        """Return whether systemd can compute when a timer starts its unit, as far as its settings
        show.
        """
        keys = [key for key, _ in unit.text.settings("Timer", "On")]
        commands = self._context.commands
        if set(keys) != {"OnCalendar"} or not commands.find("systemd-analyze"):
            return True
        times = unit.text.all("Timer", "OnCalendar")
        said = (commands.run(("systemd-analyze", "calendar", "--", time)) for time in times)
        return any("Failed to parse" not in result.stderr for result in said)

    def _trigger(self, unit: Definition) -> Iterator[str]:
        """Yield an obstacle if the unit that a timer, path or socket starts does not exist."""
        stem, _, suffix = unit.name.rpartition(".")
        section = {"timer": "Timer", "path": "Path", "socket": "Socket"}.get(suffix)
        if suffix == "socket":
            yield from self._process.socket_lacks(unit)
            if not self._units.status(unit.name).running:
                yield from SocketChecks(self._context, self._units).obstacles(unit)
        elif suffix == "timer" and not self._has_time(unit):
            yield "has a time that systemd cannot parse"
        if section is None or (suffix == "socket" and unit.text.flag("Socket", "Accept")):
            return
        key = "Service" if suffix == "socket" else "Unit"
        for other in unit.text.words(section, key)[-1:] or ["%s.service" % stem]:
            status = self._units.status(other)
            if not status.found:
                yield "starts %s, which does not exist" % other
            elif status.masked:
                yield "starts %s, which is masked" % other
            elif status.failure:
                yield "starts %s: %s" % (other, status.failure)
            elif suffix == "socket" and status.running:
                yield "cannot listen: %s is already running without it" % other
