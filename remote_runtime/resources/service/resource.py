"""The service type: runs now, and starts at boot (target; ``check`` on both sides)."""

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from remote_runtime.base import Diff, Missing, Properties, StepStateType
from remote_runtime.errors import ResourceError
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.units import managed_unit_files
from remote_runtime.units.managed_unit_files import TEXTS
from remote_runtime.units.status import ENDS, Status

RUNNING, STOPPED = "running", "stopped"
_DONE = {
    ("ensure", RUNNING): "started",
    ("ensure", STOPPED): "stopped",
    ("enable", True): "enabled",
    ("enable", False): "disabled",
    ("masked", True): "masked",
    ("masked", False): "unmasked",
}

_SWITCHES = ("enable", "masked")
_LAST = ("ensure", "enable", "masked")
_ORDER = ("masked", *TEXTS, "ensure", "enable")


class Resource(StepStateType):
    """One service. In the found state, ``systemd`` is the whole ``Status``."""

    default_ensure = RUNNING

    def __init__(self, name: str, properties: Properties) -> None:
        super().__init__(name, properties)
        self._full = managed_unit_files.full_of(name, properties)
        self._user, self._unit = managed_unit_files.split(name, properties)
        self._texts = managed_unit_files.desired(name, properties)
        self._place = managed_unit_files.Place("")  # as it was last read

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        from remote_runtime.resources.service import rules

        problems = rules.problems(name, properties)
        return problems + rules.contradictions(properties) + rules.texts(properties)

    @classmethod
    def conflicts(cls, resources: Sequence[Tuple[str, Properties]]) -> List[Tuple[int, int, str]]:
        from remote_runtime.resources.service import rules

        return rules.conflicts(resources)

    @classmethod
    def managed_paths(cls, name: str, properties: Properties) -> List[Tuple[str, bool]]:
        """Return its files; the values may still be wrong or templates. Only the host knows the
        paths of a user's files."""
        user, unit = managed_unit_files.split(name, properties)
        if user:
            return []
        at = managed_unit_files.paths(unit)
        return [
            ("%s/%s" % (managed_unit_files.DIRECTORY, at[key]), properties[key] != {})
            for key in TEXTS
            if properties.get(key) is not None
        ]

    def read(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        """A unit that will be written or masked counts as found before it exists."""
        self._place = managed_unit_files.place_of(host, self._user)
        status = host.units.status(self._full)
        if not status.found and (self.properties.get("masked") or "unit" in self._texts):
            # it is to come, or can be masked
            status = status._replace(found=True, enabled=self._has_links(host))
        found = _found(status)
        if found is None:
            return None
        texts = self._texts.items()
        read = {key: managed_unit_files.read(host, each.path(self._place)) for key, each in texts}
        modes = {key: mode for key, (_, mode) in read.items()}
        return dict(found, modes=modes, **{key: text for key, (text, _) in read.items()})

    def _has_links(self, host: HostReader) -> bool:
        """Return whether links of an earlier unit of this name will enable the new one."""
        if "unit" not in self._texts or self.properties.get("enable") is not False:
            return False
        text = self._texts["unit"].text
        return managed_unit_files.has_links(host, self._place, self._unit, text)

    def desired(self) -> Mapping[str, Any]:
        """In the order of the steps: an old mask is removed first, a new one is added last."""
        given = self.properties
        order = (*TEXTS, *_LAST) if given.get("masked") else _ORDER
        wanted: Dict[str, Any] = {"ensure": self.ensure}
        wanted.update((key, each.text) for key, each in self._texts.items())
        wanted.update({key: bool(given[key]) for key in _SWITCHES if given.get(key) is not None})
        return {key: wanted[key] for key in order if key in wanted}

    def opposite(self) -> Mapping[str, Any]:
        runs = self.ensure == STOPPED
        enabled = not self.properties.get("enable")
        masked = self.properties.get("masked") is False
        status = Status(True, running=runs, stoppable=runs, enabled=enabled, masked=masked)
        return dict(_found(status) or {}, **dict.fromkeys(self._texts, managed_unit_files.UNREAD))

    def differs(self, found: Mapping[str, Any], key: str) -> bool:
        """A unit that must stop differs as long as systemd can stop a part of it."""
        status: Status = found["systemd"]
        if key in TEXTS:
            return bool(found[key] != self._texts[key].text)
        if key == "masked":
            masked = status.masked and not (self.properties["masked"] and status.until_reboot)
            return masked is not self.desired()[key]
        if key == "enable":
            unmasked = status.masked and self.properties.get("masked") is False
            return unmasked or not self._has_desired_enablement(found, status)
        return status.stoppable if self.ensure == STOPPED else not status.running

    def _has_desired_enablement(self, found: Mapping[str, Any], status: Status) -> bool:
        """A new text decides again whether and how the unit can be enabled."""
        enable = bool(self.properties["enable"])
        if enable and "unit" in self._texts and self.differs(found, "unit"):
            links = managed_unit_files.install(self._unit, self._texts["unit"].text)
            before = managed_unit_files.install(self._unit, found["unit"])
            return not links or (links == before and status.enable_satisfied(True))
        return status.enable_satisfied(enable)

    def record(self, found: Mapping[str, Any], key: str) -> Tuple[Any, Any]:
        """The hash of a text, and of a switch only that it was the other way."""
        after = self.desired()[key]
        if key in TEXTS:
            return managed_unit_files.hashed(found[key]), managed_unit_files.hashed(after)
        if key in _SWITCHES:
            return not after, after
        status: Status = found["systemd"]
        on_its_way = self.ensure == STOPPED and not status.running
        return status.words if on_its_way else found["ensure"], after

    def texts(self, found: Mapping[str, Any], key: str) -> Optional[Tuple[str, Any, Any]]:
        """The unit file or its settings, unless the present text is not known."""
        if key not in TEXTS or found[key] == managed_unit_files.UNREAD:
            return None
        mode = found["modes"][key]
        before = managed_unit_files.file_text(found[key], mode)
        after = managed_unit_files.file_text(
            self._texts[key].text, managed_unit_files.mode_after(mode)
        )
        return self._texts[key].path(self._place), before, after

    def done(self, key: str) -> str:
        if key in TEXTS:
            what = "unit file" if key == "unit" else "settings"
            return "%s the %s" % ("removed" if self._texts[key].text is None else "written", what)
        return _DONE[key, self.desired()[key]]

    def apply(self, host: Host, diff: Diff) -> None:
        """Refuses to stop or disable the way that ccm logs in by, unless ``force`` is set."""
        verbs = {
            "started": host.units.start,
            "stopped": host.units.stop,
            "enabled": host.units.enable,
            "disabled": host.units.disable,
            "masked": host.units.mask,
            "unmasked": host.units.unmask,
        }
        stops = "ensure" in diff and self.ensure == STOPPED
        disables = "enable" in diff and self.properties["enable"] is False
        if (stops or disables) and self.properties.get("force") is not True:
            from remote_runtime.host.lockout import require_way_in

            require_way_in(host, self._full, "stopping" if stops else "disabling")
        for key in diff.keys:
            if key in TEXTS:
                self._texts[key].apply(host, managed_unit_files.place_of(host, self._user))
            else:
                verbs[self.done(key)](self._full)
        unmasked = "masked" in diff and not diff.desired["masked"]
        if unmasked and "unit" not in self._texts and not host.units.status(self._full).found:
            self.require(None)  # the mask was all that there was

    def refreshed(self, found: Mapping[str, Any]) -> str:
        status: Status = found["systemd"]
        return "reloaded" if self._is_to_reload(found) and status.reloads else "restarted"

    def refresh_by(self, host: Host, found: Mapping[str, Any]) -> None:
        again = host.units.reload if self._is_to_reload(found) else host.units.restart
        again(self._full)

    def _is_to_reload(self, found: Mapping[str, Any]) -> bool:
        """Not if its unit changes or has changed, which counts once it is restarted only."""
        changes = self.owes_refresh or self.needs_refresh(found)
        return bool(self.properties.get("reload")) and not changes

    def needs_refresh(self, found: Mapping[str, Any]) -> bool:
        running: bool = self.ensure == RUNNING and found["systemd"].running
        return running and any(key in self._texts and self.differs(found, key) for key in TEXTS)

    def accepts_refresh(self) -> bool:
        return self.ensure == RUNNING

    def require(self, found: Optional[Mapping[str, Any]]) -> None:
        """The unit must exist. To start or enable it, it must be neither masked nor broken."""
        if found is None:
            raise Missing(
                "service not found: the unit %s does not exist" % self._unit,
                hint="check the spelling, or add an earlier package or file resource that "
                "installs it",
            )
        status: Status = found["systemd"]
        enable = self.properties.get("enable")
        must_start = self.ensure == RUNNING and not status.running
        written = any(self.differs(found, key) for key in self._texts)
        stays_masked = status.masked and self.properties.get("masked") is not False
        if stays_masked and (must_start or enable is True or "unit" in self._texts):
            message, hint = self._masked(status)
            raise Missing(message, hint=hint)
        if status.failure and not written and (must_start or enable is not None):
            message = "%s cannot be used: %s" % (self._unit, status.failure)
            raise Missing(message, hint="correct its unit file")
        if enable is not None and status.enabled is None and not written:
            message = "%s cannot be enabled or disabled: it has no unit file" % self._unit
            raise Missing(message, hint="omit `enable`")

    def require_refresh(self, found: Mapping[str, Any]) -> None:
        status: Status = found["systemd"]
        if status.masked and self.properties.get("masked") is not False:
            message, hint = self._masked(status)
            raise ResourceError(message, "service.masked", hint)

    def _masked(self, status: Status) -> Tuple[str, str]:
        command, by = "systemctl unmask", ""
        if self._user:
            command, by = "systemctl --user unmask", " as %s" % self._user
        run = "set `masked: false`, or run `%s %s` on the host" + by
        if status.until_reboot:  # the other command leaves such a mask where it is
            hint = run % (command + " --runtime", self._unit)
            return "%s is masked until the next boot" % self._unit, hint
        return "%s is masked" % self._unit, run % (command, self._unit)

    def unachieved(self, found: Mapping[str, Any]) -> str:
        """In the init system's words."""
        status: Status = found["systemd"]
        if self.ensure == STOPPED or status.running:
            return ""
        why = ": %s" % ENDS if status.ends_by_itself else ""
        return "%s is %s, not running%s" % (self._unit, status.words, why)

    def shown(self, found: Mapping[str, Any]) -> Properties:
        shown = {key: found[key] for key in ("ensure", "enable")}
        return dict(shown, **{key: found[key] for key in ("masked", "status") if found[key]})

    def drift_state(self, found: Mapping[str, Any]) -> Properties:
        hashes = {key: managed_unit_files.hashed(found[key]) for key in self._texts}
        return dict(self.shown(found), **hashes)

    def observed(self, found: Mapping[str, Any]) -> Any:
        """Without the words of systemd for a state, which change on the way to it."""
        status: Status = found["systemd"]
        enable = [status.enabled, status.either, status.until_reboot, status.masked]
        rest = status._replace(
            enabled=None, either=False, until_reboot=False, masked=False, words=""
        )
        hashes = {key: managed_unit_files.hashed(found[key]) for key in self._texts}
        return dict(hashes, ensure=list(rest), enable=enable)

    def answers(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        status = host.units.status(self._full)
        enabled = bool(status.enabled) and not status.until_reboot
        return {"active": status.running, "enabled": enabled}


def _found(status: Status) -> Optional[Mapping[str, Any]]:
    if not status.found:
        return None
    return {
        "ensure": RUNNING if status.running else STOPPED,
        "enable": status.enabled and not status.until_reboot,
        "masked": status.masked,
        "status": status.words,
        "systemd": status,
    }
