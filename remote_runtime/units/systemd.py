"""systemd's units: their state from systemctl, and actions on them (target)."""

import os
from typing import TYPE_CHECKING, Dict, Sequence, Set

from remote_runtime.changes import Unknowable
from remote_runtime.context import Context
from remote_runtime.effects import Effect
from remote_runtime.errors import ResourceError, UnsettledError
from remote_runtime.system.process.commands import KEEP, Result
from remote_runtime.units import unit
from remote_runtime.units.boot_links import CONFIGURED, BootLinks
from remote_runtime.units.unit_status import (
    DISABLE,
    ENABLE,
    ENDS,
    MASK,
    NOT_MASKABLE,
    RELOAD,
    RESTART,
    START,
    STOP,
    UNMASK,
    Status,
)

if TYPE_CHECKING:
    from remote_runtime.units.preview.planned_units import PlannedUnits

_STATUS = ("--no-pager", "--full", "--lines=15", "--")
CALENDAR = ("systemd-analyze", "calendar", "--")
BOOTED = "/run/systemd/system"
_PROPERTIES = "--property=" + ",".join(unit.PROPERTIES)
_NAMES = 500  # units in one call
_LIMIT = 16 << 20  # bytes of what show prints; 400 bytes per unit
_SHOWN = 25  # lines of status that go into an event
# A Type=simple service counts as started before its program runs; one that ends by itself at once
# has ended this many seconds after it was executed.
SETTLE_TIMEOUT = 0.1
_AT_ONCE = ("simple", "idle", "exec")
_DOING = {
    START: "starting",
    STOP: "stopping",
    RESTART: "restarting",
    RELOAD: "reloading",
    ENABLE: "enabling",
    DISABLE: "disabling",
    MASK: "masking",
    UNMASK: "unmasking",
}
_REFUSED_BY = {
    START: ("RefuseManualStart",),
    STOP: ("RefuseManualStop",),
    RESTART: ("RefuseManualStart", "RefuseManualStop"),
}
_POLKIT = (
    "/usr/lib/polkit-1/polkitd",
    "/usr/libexec/polkitd",
    "/usr/libexec/polkit-1/polkitd",
)
_BECOME = "only root can change services: set `become: true` for this host"
_IMMUTABLE = "check for an immutable attribute below /etc/systemd"
_SOCKET = ".socket"
_NO_BUS = "Failed to connect to bus"


def _hint(text: str) -> str:
    """Return a hint if systemd denies an action; for root, only files can be protected."""
    return _IMMUTABLE if os.geteuid() == 0 and "Access denied" in text else _BECOME


class Systemd(object):
    """systemctl, for units of the system; ``UserSystemd`` is for those of a user.

    One instance is used for a run, and one query covers all units of the plan. Every method may
    raise ``ResourceError``.
    """

    scope = "--system"
    directories: Sequence[str] = unit.DIRECTORIES

    def __init__(self, context: Context) -> None:
        self.context = context
        self.booted = BOOTED
        self.configured = CONFIGURED
        self._names: Sequence[str] = ()
        self._units: Dict[str, Dict[str, str]] = {}
        self._refused: Dict[str, str] = {}
        self._asked_at = -1
        self._reloaded: Set[str] = set()
        self._inspected = 0  # the number of changed paths that were checked

    def lacking(self) -> str:
        """Return the missing parts of systemd, or ""."""
        if not self.context.commands.find("systemctl"):
            return "systemctl was not found"
        return "" if os.path.isdir(self.booted) else "this host was not booted with systemd"

    def prepare(self, names: Sequence[str]) -> None:
        """Store the plan's units, so that all of them are queried at once."""
        self._names = sorted({*self._names, *(unit.full_name(name) for name in names)})

    def require_calendar(self, expressions: Sequence[str]) -> None:
        """``ResourceError`` for an expression that systemd does not accept as a time."""
        if not self.context.commands.find(CALENDAR[0]):
            return
        for expression in expressions:
            result = self.context.commands.run((*CALENDAR, expression))
            if result.code:
                raise ResourceError(
                    "systemd cannot parse the schedule %r" % expression,
                    kind="resource.timer.schedule",
                    hint="try it on the host with `systemd-analyze calendar`",
                )

    def status(self, name: str) -> Status:
        """Return systemd's state of a unit, queried again after any change; reloads first if
        necessary."""
        if not self.context.noop:
            self._reload_after_changes()
        full = self._full(name)
        properties = self._shown(full)
        stale = properties.get("NeedDaemonReload") == "yes"
        if self.context.noop:
            if stale or self.context.overlay is not None:
                properties = self._planned_units().shown(full)
        elif stale:
            self._reload()
            properties = self._shown(full)
        return unit.status(full, properties)

    def seen(self, name: str) -> Status:
        """Return the same; in a preview, record its uncertainties."""
        status = self.status(name)
        self.context.record_read("unit", self.name_outside(unit.full_name(name)), status.found)
        overlay = self.context.overlay
        for other in self.leaning(name) if overlay is not None and overlay.unknown_regions else ():
            self.context.record_read("unit", self.name_outside(other))
        return status

    def own_name(self, name: str) -> str:
        """The full name of a unit; for an alias, the name of its unit."""
        full = self._full(name)
        return self._shown(full).get("Id", full)

    def name_outside(self, full: str) -> str:
        """The name of a unit among those of all managers."""
        return full

    def _full(self, name: str) -> str:
        """The full name; for a unit that gets this name only when it is enabled, its own name."""
        full = unit.full_name(name)
        properties = (
            self._planned_units().shown(full) if self.context.overlay else self._shown(full)
        )
        if (
            properties.get("LoadState") != "not-found"
            or properties.get("ActiveState") in unit.RUNNING
        ):
            return full
        return self._planned_units().files.aliased(full) or full

    def _reload_after_changes(self) -> None:
        if len(self.context.changed_paths) == self._inspected:
            return
        self._inspected = len(self.context.changed_paths)
        changed = {
            path
            for path in self.context.changed_paths
            if unit.is_below(path, self.directories) or self._is_source(path)
        }
        if not changed <= self._reloaded:
            self._reload()
            self._reloaded |= changed

    def _is_source(self, path: str) -> bool:
        """Return whether a reload creates units from a file."""
        return unit.is_source(path)

    def _ran(self, verb: str, *words: str, limit: int = KEEP) -> Result:
        """Return the result of ``systemctl VERB``."""
        return self.context.commands.run(("systemctl", verb, self.scope, *words), limit=limit)

    def _reload(self) -> None:
        self._systemctl("reloading systemd's units", "daemon-reload")
        self._asked_at = -1

    def _shown(self, full: str) -> Dict[str, str]:
        if self._asked_at != self.context.acted:
            self._units, self._refused = {}, {}
            self._asked_at = self.context.acted
        if full not in self._units and full not in self._refused:
            self._ask(sorted({full, *self._names} - self._units.keys() - self._refused.keys()))
        if full in self._refused:
            raise ResourceError(
                "systemd rejects %s: %s" % (full, self._refused[full]), kind="service.name"
            )
        return self._units[full]

    def _ask(self, names: Sequence[str]) -> None:
        """Query many units; ``systemctl show`` stops at the first invalid name."""
        waiting = list(names)
        while waiting:
            batch = waiting[:_NAMES]
            result = self._ran("show", "--no-pager", _PROPERTIES, "--", *batch, limit=_LIMIT)
            units = unit.parse_show(result.stdout)[: len(batch)]
            self._units.update(zip(batch, units))
            waiting = waiting[len(units) :]
            if len(units) == len(batch):
                continue
            if _NO_BUS in result.stderr:
                raise ResourceError(
                    "systemctl cannot reach systemd: %s" % result.tail(3), kind="service.bus"
                )
            self._refused[waiting.pop(0)] = result.tail(3) or "systemctl gave no reason"
        self._look_again(names)

    def _look_again(self, names: Sequence[str]) -> None:
        """Query the state of unit files that changed since systemd read them."""
        links = self._boot_links()
        for name in names:
            properties = self._units.get(name, {})
            own, state = properties.get("Id", name), properties.get("UnitFileState", "")
            script = unit.init_script(own) if state == "generated" else ""
            if links.contradict(own, state) or (script and os.path.exists(script)):
                lines = self._ran("is-enabled", "--", own).stdout.split()
                message = lines[-1] if lines else ""
                if message in unit.ENABLED + unit.DISABLED:
                    self._units[name] = dict(properties, UnitFileState=message)

    def _boot_links(self) -> BootLinks:
        return BootLinks(self.configured)

    def possible(self, verb: str, name: str) -> str:
        """Return the verb to use: a unit that cannot reload is restarted, with a message about
        this."""
        if verb != RELOAD or self.status(name).reloads:
            return verb
        self.context.notice("info", "%s cannot be reloaded, so ccm restarts it" % self._full(name))
        return RESTART

    def act(self, verb: str, name: str) -> None:
        """Run ``systemctl VERB``. If the unit must run afterwards but does not, ``ResourceError``
        with its status and the end of its log. A unit that is enabled or masked only until the next
        boot is disabled or unmasked too."""
        self._reload_after_changes()
        full = self._full(name)
        self._act(verb, full)
        if verb in (START, RESTART, RELOAD):
            self._check_started(full, verb)
        elif verb == STOP:
            for other in unit.words(self._shown(full).get("TriggeredBy", "")):
                if other.endswith(_SOCKET) and unit.status(other, self._shown(other)).running:
                    self._warn_of(other, full)
        elif verb in (DISABLE, UNMASK) and unit.status(full, self._shown(full)).until_reboot:
            self._act(verb, full, "--runtime")

    def preflight(self, verb: str, name: str) -> None:
        """In a preview: fail as ``act`` certainly would, and do nothing else."""
        full = self._full(name)
        self._require_right(full)
        units = self._planned_units()
        for key in _REFUSED_BY.get(verb, ()):
            if units.definition(full).text.flag("Unit", key):
                what = "%s does not allow this: its unit file has %s" % (full, key)
                hint = "manage the unit that starts and stops it instead"
                raise ResourceError(what, kind="service.failed", hint=hint)
        if verb in (START, RESTART):
            self._preflight_start(name, full, units)
        elif verb == RELOAD:
            self._preflight_reload(full, units)
        elif verb == STOP:
            self._preflight_stop(full, units)
        elif verb == DISABLE and units.files.elsewhere(units.definition(full)):
            raise UnsettledError("the unit %s disappears once it is disabled" % full)
        elif verb == ENABLE and units.shown(full).get("Id", full) != full:
            own = units.shown(full)["Id"]
            raise ResourceError(
                "%s cannot be enabled: it is an alias of %s" % (full, own),
                kind="service.failed",
                hint="use %s" % own,
            )
        else:
            from remote_runtime.units.preview.link_checks import LinkChecks

            linking = LinkChecks(self.context, units)
            looks = {
                ENABLE: linking.preflight,
                DISABLE: linking.preflight_removal,
                MASK: linking.preflight_mask,
                UNMASK: linking.preflight_unmask,
            }
            looks[verb](full)

    def _preflight_stop(self, full: str, units: "PlannedUnits") -> None:
        if units.goes(full):
            raise UnsettledError("the unit %s disappears once it is stopped" % full)
        for other in unit.words(units.shown(full).get("TriggeredBy", "")):
            if other.endswith(_SOCKET) and units.status(other).running:
                self._warn_of(other, full)

    def _warn_of(self, socket: str, full: str) -> None:
        text = "%s listens and starts %s again on the next connection; stop it first"
        self.context.notice("warning", text % (socket, full))

    def _preflight_reload(self, full: str, units: "PlannedUnits") -> None:
        from remote_runtime.units.preview.run_checks import RunChecks

        reason = RunChecks(self.context, units).reload_obstacle(full)
        if reason:
            what = "%s would not be reloaded: it %s" % (full, reason)
            raise ResourceError(what, kind="service.failed")

    def _preflight_start(self, name: str, full: str, units: "PlannedUnits") -> None:
        """``ResourceError`` if it would not run, or not keep running."""
        if units.shown(full).get("LoadState") == "not-found":
            what = "%s cannot be started again: its unit file no longer exists" % full
            raise ResourceError(what, kind="service.failed")
        failure = units.status(full).failure
        if failure:
            what = "%s cannot be started again: %s" % (full, failure)
            hint = "correct its unit file"
            raise ResourceError(what, kind="service.failed", hint=hint)
        from remote_runtime.units.preview.run_checks import RunChecks

        checks = RunChecks(self.context, units)
        reason = checks.obstacle(full)
        if reason:
            raise ResourceError("%s would not start: it %s" % (full, reason), kind="service.failed")
        if checks.ends(full):
            raise UnsettledError("%s is inactive (dead), not running: %s" % (name, ENDS))

    def _require_right(self, full: str) -> None:
        """Check for the right to change units: without polkit, systemd allows only root to do so;
        polkit's rules are not read.
        """
        if os.geteuid() == 0:
            return
        if any(map(os.path.exists, _POLKIT)):
            raise Unknowable("polkit decides whether this user may change %s" % full)
        what = "only root can change %s: access denied" % full
        raise ResourceError(what, kind="service.failed", hint=_BECOME)

    def leaning(self, name: str) -> Sequence[str]:
        """In a preview, return the full names of the units that decide whether a unit runs: the
        unit itself by its own name, and the units with which it stops."""
        from remote_runtime.units.preview.unit_effects import BOUND

        full = self._full(name)
        units = self._planned_units()
        needed = [units.definition(full).text.words("Unit", key) for key in BOUND]
        return [units.shown(full).get("Id", full), *(other for names in needed for other in names)]

    def consequences(self, verb: str, name: str) -> Sequence[Effect]:
        """In a preview: the effects that ``act`` would have, including those on units that depend
        on it.
        """
        from remote_runtime.units.preview.unit_effects import UnitEffects

        return UnitEffects(self.context, self._planned_units()).of(verb, self._full(name))

    def unfinished(self, verb: str, name: str, effects: Sequence[Effect]) -> Sequence[Effect]:
        """In a preview: the effects that may have occurred if the action fails."""
        from remote_runtime.units.preview.unit_effects import unfinished

        configured = self._planned_units().places.configured
        return unfinished(verb, self._full(name), effects, configured)

    def _planned_units(self) -> "PlannedUnits":
        from remote_runtime.units.preview.planned_units import PlannedUnits

        return PlannedUnits(self.context, self._shown, self._names)

    def _act(self, verb: str, full: str, *options: str) -> None:
        self._asked_at = -1
        ended = ("--",) if full.startswith("-") else ()  # else -.mount would be an option
        log_of = full if verb in (START, RESTART, RELOAD, STOP) else ""
        what = "%s %s" % (_DOING[verb], full)
        self._systemctl(what, verb, *options, *ended, full, log_of=log_of)

    def _systemctl(self, what: str, verb: str, *words: str, log_of: str = "") -> None:
        self.context.progress(what)
        result = self._ran(verb, *words)
        if result.code == 0:
            return
        text = result.tail(5)
        denied = "authentication required" in text or "Access denied" in text
        raise ResourceError(
            "%s failed: %s" % (what, text or "exit code %d" % result.code),
            kind="service.failed",
            hint=_hint(text) if denied else NOT_MASKABLE if verb == MASK else "",
            output=self._log(log_of) if log_of and not denied else "",
        )

    def _check_started(self, full: str, verb: str) -> None:
        from remote_runtime.units import exec_wait

        if self._units.get(full, {}).get("Type") in _AT_ONCE:
            self.context.sleep(SETTLE_TIMEOUT)
        if full.endswith(".service") and exec_wait.await_execution(
            self.context.sleep, self._process(full)
        ):
            self.context.sleep(SETTLE_TIMEOUT)
        now = unit.status(full, self._shown(full))
        if not now.running:
            log = self._log(full)
            condition = unit.unmet_condition(log)
            what = "%s did not start because %s" % (full, condition)
            if not condition:
                done = "reloaded" if verb == RELOAD else "started"
                what = "%s stopped immediately after it was %s: %s" % (full, done, now.words)
            if condition or not now.ends_by_itself:
                raise UnsettledError(what, kind="service.failed", output=log)
        # The lifecycle counts this action next and looks at the unit then; this is that look.
        self._asked_at = self.context.acted + 1

    def _process(self, full: str) -> int:
        """The ID of its process, 0 if there is none."""
        result = self._ran("show", "--no-pager", "--property=MainPID", "--", full)
        pid = result.stdout.strip()
        number = pid.partition("MainPID=")[2]
        return int(number) if number.isdigit() else 0

    def _log(self, full: str) -> str:
        return self._ran("status", *_STATUS, full).tail(_SHOWN)
