"""The units of a new Debian package (target; in previews only)."""

import os
import re
from typing import TYPE_CHECKING, AbstractSet, Dict, List, Optional, Sequence, Set, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.effects import Covers, Effect, PathEffect, UnitEffect, UnknownEffect
from remote_runtime.errors import ResourceError
from remote_runtime.packages.dpkg.installed_packages import units_below
from remote_runtime.packages.dpkg.package_contents import UNIT_DIRECTORIES, Contents, Member
from remote_runtime.packages.maintainer_scripts import script_sequence
from remote_runtime.packages.maintainer_scripts.unit_and_account_calls import UnitAndAccountCalls
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.context import Context

BOOTED = "/run/systemd/system"
LINKS = "/etc/systemd/system"
MASKED = "/var/lib/systemd/deb-systemd-helper-masked"
_REMEMBERED = "/var/lib/systemd/deb-systemd-helper-enabled"
_POLICY = "/usr/sbin/policy-rc.d"
_REFUSES = re.compile(r"\A(?:[ \t]*(?:#.*)?\n)*[ \t]*exit 101;?\s*\Z")
_ASKING = 10.0  # seconds
_MAX_REQUESTS = 20  # units of one package
_LIMIT = 1 << 16  # bytes of a file
_REFUSED = ("service.failed", "resource.unsettled")
_UNIT = re.compile(r"[\w@.:\\-]+\Z")


class Units(object):
    """Units by Debian's rules.

    ``started`` are the units that scripts of the transaction start, each with whether they do so
    even if it is not enabled. ``restarted`` are those that they restart if running. ``own`` are all
    units of its packages. ``uncertain`` has the unknown effects on them.
    """

    def __init__(
        self,
        context: "Context",
        started: Dict[str, bool],
        own: Set[str],
        restarted: AbstractSet[str] = frozenset(),
    ) -> None:
        self._context = context
        self._started = started
        self._restarted = restarted
        self._own = own
        self.uncertain: List[Effect] = []
        self._begins: List[str] = []
        self._if_running: List[str] = []  # restarted if they run by then

    def brought(self, contents: Contents, calls: UnitAndAccountCalls) -> List[Effect]:
        """Return the state of the package's units after its scripts: unchanged by default, since
        links and processes outlive a package."""
        effects: List[Effect] = []
        members = [
            (unit, member)
            for member in contents.members
            for unit in units_below([member.path], UNIT_DIRECTORIES)
        ]
        members += self._instances(contents, calls)
        for unit, member in members:
            effects += self._brought(unit, member, calls)
            if any(isinstance(e, UnitEffect) and e.name == unit and e.enabled for e in effects):
                also = _also(self._definition(unit, member)[1])
                for other, its in members:
                    effects += self._enabled(other, its) if other in also else []
        return effects

    def _instances(
        self, contents: Contents, calls: UnitAndAccountCalls
    ) -> List[Tuple[str, Member]]:
        """Return the instances of a package's templates that its scripts enable or start."""
        files = {member.path: member for member in contents.members}
        instances = []
        for name in sorted(calls.started | calls.enabled):
            template = _template(name)
            for directory in UNIT_DIRECTORIES if template else ():
                if directory + template in files:
                    instances.append((name, files[directory + template]))
        self._own.update(name for name, _ in instances)
        return instances

    def _enabled(self, unit: str, member: Member) -> List[Effect]:
        path, text = self._definition(unit, member)
        return [*self._linked(_wanted(unit, text), path), UnitEffect(unit, enabled=True)]

    def _brought(self, unit: str, member: Member, calls: UnitAndAccountCalls) -> List[Effect]:
        effects: List[Effect] = []
        masked = self._context.files.link(os.path.join(LINKS, unit)) == "/dev/null"
        if masked and self._is_unmasked(unit, calls):
            masked = False
            paths = (os.path.join(directory, unit) for directory in (LINKS, MASKED))
            effects += [PathEffect(path, "absent") for path in paths]
        text = self._definition(unit, member)[1]
        links = _wanted(unit, text)
        enabled = "[Install]" in text and not masked and self._is_to_enable(unit, links, calls)
        starts = unit in self._started and not masked
        if starts and self._is_to_start(unit, enabled or self._is_linked(links, unit)):
            self._begins.append(unit)
        elif unit in self._restarted and not masked and self._starts(unit):
            self._if_running.append(unit)
        return effects + (self._enabled(unit, member) if enabled else [])

    def begun(self, effects: Sequence[Effect]) -> List[Effect]:
        """Return the effects of the started units, after these effects of the packages."""
        start_effects: List[Effect] = []
        for unit in [*self._begins, *self._if_running]:
            with self._context.trial([*effects, *start_effects]):
                unit_effects = self._start(unit, unit in self._if_running)
                uncertainty = self._context.uncertainty
            start_effects += unit_effects
            if uncertainty.level:
                start_effects.append(UnknownEffect(uncertainty, _only(unit)))
        return start_effects

    def _start(self, unit: str, if_running: bool) -> List[Effect]:
        """Return the effects of a start, or of a restart if the unit runs. A start with
        ``if_running`` has no other effects. It is then unknown whether the new version exits at
        once.
        """
        from remote_runtime.units.systemd import Systemd
        from remote_runtime.units.unit_status import RESTART, START

        if not self._context.commands.find("systemctl"):
            return [] if if_running else [UnitEffect(unit, True)]
        systemd = Systemd(self._context)
        runs = False
        try:
            runs = systemd.status(unit).running
            if if_running and not runs:
                return []
            verb = RESTART if runs and unit in self._restarted else START
            systemd.preflight(verb, unit)
            if runs and verb == START:
                return [UnitEffect(unit, True)]
            return [*systemd.consequences(verb, unit)]
        except (Unknowable, ResourceError) as error:
            if runs or isinstance(error, Unknowable) or error.kind not in _REFUSED:
                return [
                    UnknownEffect(
                        Uncertainty(UNKNOWN, "it might not start: %s" % error.message), _only(unit)
                    )
                ]
            return []

    def _definition(self, unit: str, member: Member) -> Tuple[str, str]:
        """Return the file that defines a unit, and its text; the host's own file
        takes precedence.
        """
        files = self._context.files
        own = os.path.join(LINKS, unit)
        status = files.status(own, follow=True)
        if status is None or status.kind != "file":
            return member.path, member.text
        return own, files.read(own, _LIMIT, follow=True).decode("utf-8", "replace")

    def wanted(self, unit: str, member: Member) -> List[str]:
        """Return the links that enable a unit."""
        return _wanted(unit, self._definition(unit, member)[1])

    def _is_unmasked(self, unit: str, calls: UnitAndAccountCalls) -> bool:
        """Return whether scripts remove a mask, which only an earlier removal can have left for
        them.
        """
        return unit in calls.unmasked and self._context.files.is_there(os.path.join(MASKED, unit))

    def _is_linked(self, links: Sequence[str], unit: str = "") -> bool:
        """Return whether one of the links exists, or any link that starts the ``unit``."""
        files = self._context.files
        if any(files.is_there(link) for link in links):
            return True
        names = files.entries(LINKS) if unit and files.is_directory(LINKS) else ()
        directories = [name for name in names if name.endswith((".wants", ".requires"))]
        return any(files.is_there("%s/%s/%s" % (LINKS, name, unit)) for name in directories)

    def _is_to_enable(self, unit: str, links: Sequence[str], calls: UnitAndAccountCalls) -> bool:
        """Return whether missing links of a unit are created.

        A unit that was installed before stays disabled if somebody disabled it; for new units, the
        host's presets decide.
        """
        files = self._context.files
        remembered = os.path.join(_REMEMBERED, unit + ".dsh-also")
        if files.is_there(remembered):
            known = files.read(remembered, _LIMIT).decode("utf-8", "replace").split("\n")
            was_enabled = all(files.is_there(link) for link in known if link)
            return unit in calls.enabled | calls.again and was_enabled and self._is_linked(links)
        if unit not in calls.enabled:
            return False
        from remote_runtime.packages import presets

        return not presets.are_used_by_debian(files) or presets.wants(files, unit)

    def _is_to_start(self, unit: str, enabled: bool) -> bool:
        """Return whether a unit that a script starts is actually started."""
        if self._started[unit]:
            return self._context.files.is_directory(BOOTED)
        return enabled and self._starts(unit)

    def _starts(self, unit: str) -> bool:
        """Return whether the host allows a package to start a unit; adds an unknown effect if a
        program decides.
        """
        allowed = self._allowed()
        if allowed is None:
            uncertainty = Uncertainty(UNKNOWN, "%s decides whether %s starts" % (_POLICY, unit))
            self.uncertain.append(UnknownEffect(uncertainty, _only(unit)))
        return bool(allowed)

    def _allowed(self) -> Optional[bool]:
        """Return whether the host allows packages to start units; None if one of its programs
        decides."""
        files = self._context.files
        if not files.is_directory(BOOTED):
            return False
        status = files.status(_POLICY, follow=True)
        if status is None or not status.mode & 0o111:
            return True
        text = files.read(_POLICY, 4096, follow=True).decode("utf-8", "replace")
        return False if _REFUSES.match(text) else None

    def _linked(self, links: Sequence[str], path: str) -> List[Effect]:
        effects: List[Effect] = []
        for link in links:
            directory = os.path.dirname(link)
            if not self._context.files.is_directory(directory):
                effects.append(PathEffect(directory, "directory"))
            if not self._context.files.is_there(link):
                effects.append(PathEffect(link, "symlink", target=path))
        return effects

    def stop(self, unit: str) -> UnitEffect:
        """Return the effect of a script that stops a unit; a unit in an unknown state counts as
        running."""
        runs = False
        booted = self._context.files.is_directory(BOOTED)
        if booted and self._context.commands.find("systemctl"):
            from remote_runtime.units.systemd import Systemd

            try:
                runs = Systemd(self._context).status(unit).running
            except (Unknowable, ResourceError):
                runs = True
        return UnitEffect(unit, active=False, ended=runs)

    def of_others(self, name: str, calls: UnitAndAccountCalls) -> List[Effect]:
        """Return the units outside this transaction's packages that a script starts, restarts or
        enables.
        """
        commands = self._context.commands
        others = sorted((calls.started | calls.enabled | calls.restarted) - self._own)
        maximum = _MAX_REQUESTS if others and commands.find("systemctl") else 0
        effects: List[Effect] = []
        for at, unit in enumerate(others):
            command = ("systemctl", "show", "--property=ActiveState,UnitFileState", "--", unit)
            properties = (
                commands.run(command, timeout=_ASKING).stdout.split() if at < maximum else ()
            )
            runs = unit not in calls.started or "ActiveState=active" in properties
            boots = unit not in calls.enabled or "UnitFileState=enabled" in properties
            if not (runs and boots):
                uncertainty = Uncertainty(
                    UNKNOWN, "the scripts of the package %s may start it" % name
                )
                effects.append(UnknownEffect(uncertainty, _only(unit)))
            elif unit in calls.restarted and "ActiveState=active" in properties:
                effects.append(UnitEffect(unit, active=True, ended=True))
            elif unit in calls.restarted and maximum and at >= maximum:
                text = "the scripts of the package %s may restart %s" % (name, unit)
                effects.append(UnknownEffect(Uncertainty(UNKNOWN, text), _nothing))
        return effects

    def stopped(self, name: str, calls: UnitAndAccountCalls) -> List[Effect]:
        """Return the units that a script of a new package stops and that no script starts."""
        commands = self._context.commands
        units = sorted(calls.stopped - set(self._begins))
        maximum = _MAX_REQUESTS if units and commands.find("systemctl") else 0
        effects: List[Effect] = []
        for at, unit in enumerate(units):
            overlay = self._context.overlay
            planned = overlay.units.get(unit) if overlay is not None else None
            command = ("systemctl", "show", "--property=ActiveState", "--", unit)
            stands = at < maximum and planned is None
            properties = commands.run(command, timeout=_ASKING).stdout.split() if stands else ()
            if "ActiveState=inactive" not in properties:
                uncertainty = Uncertainty(
                    UNKNOWN, "the scripts of the package %s may stop it" % name
                )
                effects.append(UnknownEffect(uncertainty, _only(unit)))
        return effects


def _nothing(kind: str, value: str, present: bool) -> bool:
    """Return False: if a restart is uncertain, the unit runs as before."""
    return False


def _template(unit: str) -> str:
    """Return ``a@.service`` for ``a@b.service``, "" for a unit that is not an instance."""
    name, at, rest = unit.partition("@")
    return "%s@.%s" % (name, rest.rpartition(".")[2]) if at and "." in rest else ""


def _also(text: str) -> Set[str]:
    """Return the units that are enabled together with this one."""
    lines = re.findall(r"^Also=(.*)$", text, re.MULTILINE)
    return {word for line in lines for word in line.split()}


def stopped_for_upgrade(package: str, prerm: str, after: str) -> Set[str]:
    """Return the units that the script of a version stops before the next version is installed."""
    scripts = script_sequence.runs(package, {"prerm": prerm}, {"prerm": ["upgrade", after]})
    return script_sequence.calls_of_scripts(scripts).stopped


def _wanted(unit: str, text: str) -> List[str]:
    """Return the links that enable a unit, according to its text."""
    links = []
    for key, directory in (("WantedBy", "wants"), ("RequiredBy", "requires"), ("Alias", "")):
        for line in re.findall(r"^%s=(.*)$" % key, text, re.MULTILINE):
            for word in filter(_UNIT.match, line.split()):
                place = "%s.%s/%s" % (word, directory, unit) if directory else word
                links.append(os.path.join(LINKS, place))
    return links


def _only(unit: str) -> Covers:
    return lambda thing, value, present: (thing, value) == ("unit", unit)
