"""The service type: whether it runs now and starts at boot (target; ``check`` on both sides)."""

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from remote_runtime.base import Change, Missing, Properties
from remote_runtime.errors import ResourceError
from remote_runtime.host.file_text import FileText
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.tasks import Task, TaskStateType
from remote_runtime.units import managed_unit_files
from remote_runtime.units.managed_unit_files import TEXTS
from remote_runtime.units.unit_status import ENDS, Status

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

Found = Optional[Mapping[str, Any]]


class Resource(TaskStateType):
    """One service. In the found state, ``systemd`` is the complete ``Status``."""

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
        """See the base class. Return its files; the values may still be wrong or templates. Only
        the host knows the paths of a user's files.
        """
        user, unit = managed_unit_files.split(name, properties)
        if user:
            return []
        at = managed_unit_files.paths(unit)
        return [
            ("%s/%s" % (managed_unit_files.DIRECTORY, at[key]), properties[key] != {})
            for key in TEXTS
            if properties.get(key) is not None
        ]

    def read(self, host: HostReader) -> Found:
        """Raise ``Missing`` for a condition that prevents the desired state."""
        state = self._read(host)
        self._require(state)
        return state

    def state_of(self, state: Found) -> str:
        return str(state["ensure"]) if state else "absent"

    def _read(self, host: HostReader) -> Found:
        """See the base class. A unit that will be written or masked counts as found before it
        exists.
        """
        self._place = managed_unit_files.place_of(host, self._user)
        status = host.units.status(self._full)
        if not status.found and (self.properties.get("masked") or "unit" in self._texts):
            # it is to come, or can be masked
            status = status._replace(found=True, enabled=self._has_links(host))
        state = _found(status)
        if state is None:
            return None
        texts = self._texts.items()
        read = {key: managed_unit_files.read(host, each.path(self._place)) for key, each in texts}
        modes = {key: mode for key, (_, mode) in read.items()}
        return dict(state, modes=modes, **{key: text for key, (text, _) in read.items()})

    def _has_links(self, host: HostReader) -> bool:
        """Return whether links of an earlier unit with this name will enable the new one."""
        if "unit" not in self._texts or self.properties.get("enable") is not False:
            return False
        text = self._texts["unit"].text
        return managed_unit_files.has_links(host, self._place, self._unit, text)

    def _desired(self) -> Mapping[str, Any]:
        """In the order of the tasks: an old mask is removed first, a new one is added last."""
        properties = self.properties
        order = (*TEXTS, *_LAST) if properties.get("masked") else _ORDER
        wanted: Dict[str, Any] = {"ensure": self.ensure}
        wanted.update((key, each.text) for key, each in self._texts.items())
        wanted.update(
            {key: bool(properties[key]) for key in _SWITCHES if properties.get(key) is not None}
        )
        return {key: wanted[key] for key in order if key in wanted}

    def _opposite(self) -> Mapping[str, Any]:
        """Return a state in which every property differs, for a state that is not known yet."""
        runs = self.ensure == STOPPED
        enabled = not self.properties.get("enable")
        masked = self.properties.get("masked") is False
        status = Status(True, running=runs, stoppable=runs, enabled=enabled, masked=masked)
        return dict(_found(status) or {}, **dict.fromkeys(self._texts, managed_unit_files.UNREAD))

    def tasks(self, host: HostReader, state: Found) -> List[Task]:
        """A task for each property that differs. Without a change of ``ensure``, a refresh."""
        assert state is not None
        tasks = []
        for key in self._desired():
            if self._differs(state, key):
                tasks.append(self._changing(state, key))
            elif key == "ensure" and (self.fired or self.owes_refresh or self.needs_refresh(state)):
                tasks.append(self._refreshing(state))
        return tasks

    def blocked(self, host: HostReader) -> List[Task]:
        return self.tasks(host, self._opposite())

    def assumed(self, host: HostReader) -> List[Task]:
        return self.tasks(host, self._opposite())

    def _differs(self, state: Mapping[str, Any], key: str) -> bool:
        """See the base class. A unit that must stop differs as long as systemd can stop any part of
        it.
        """
        status: Status = state["systemd"]
        if key in TEXTS:
            return bool(state[key] != self._texts[key].text)
        if key == "masked":
            masked = status.masked and not (self.properties["masked"] and status.until_reboot)
            return masked is not self._desired()[key]
        if key == "enable":
            unmasked = status.masked and self.properties.get("masked") is False
            return unmasked or not self._has_desired_enablement(state, status)
        return status.stoppable if self.ensure == STOPPED else not status.running

    def _has_desired_enablement(self, state: Mapping[str, Any], status: Status) -> bool:
        """Whether the unit matches ``enable``.

        A new text can change how the unit is enabled, or prevent it.
        """
        enable = bool(self.properties["enable"])
        if enable and "unit" in self._texts and self._differs(state, "unit"):
            links = managed_unit_files.install(self._unit, self._texts["unit"].text)
            before = managed_unit_files.install(self._unit, state["unit"])
            return not links or (links == before and status.enable_satisfied(True))
        return status.enable_satisfied(enable)

    def _changing(self, state: Mapping[str, Any], key: str) -> Task:
        """The task for a property. The record has the hash of a text, and of a switch only that it
        was the other way."""
        before, after = state[key], self._desired()[key]
        if key in TEXTS:
            before, after = managed_unit_files.hashed(before), managed_unit_files.hashed(after)
        elif key in _SWITCHES:
            before = not after
        elif self.ensure == STOPPED and not state["systemd"].running:
            before = state["systemd"].words  # on its way
        return Task(
            "Would have %s" % self._done(key),
            lambda host: self._change(host, key),
            [Change(key, before, after)],
            texts=self._both_texts(state, key),
        )

    def _both_texts(self, state: Mapping[str, Any], key: str) -> Sequence[Optional[FileText]]:
        """The old and the new text for a diff, unless the old one is not known."""
        if key not in TEXTS or state[key] == managed_unit_files.UNREAD:
            return ()
        mode, path = state["modes"][key], self._texts[key].path(self._place)
        before = managed_unit_files.file_text(state[key], mode, path)
        after = managed_unit_files.mode_after(mode)
        return before, managed_unit_files.file_text(self._texts[key].text, after, path)

    def _done(self, key: str) -> str:
        if key in TEXTS:
            what = "unit file" if key == "unit" else "settings"
            return "%s the %s" % ("removed" if self._texts[key].text is None else "written", what)
        return _DONE[key, self._desired()[key]]

    def _change(self, host: Host, key: str) -> None:
        """See the base class. Refuses to stop or disable the service through which ccm logs in,
        unless ``force`` is set.
        """
        if key in TEXTS:
            self._texts[key].apply(host, managed_unit_files.place_of(host, self._user))
            return
        done = self._done(key)
        if done in ("stopped", "disabled") and self.properties.get("force") is not True:
            from remote_runtime.host.lockout import require_way_in

            require_way_in(host, self._full, "stopping" if done == "stopped" else "disabling")
        verbs = {
            "started": host.units.start,
            "stopped": host.units.stop,
            "enabled": host.units.enable,
            "disabled": host.units.disable,
            "masked": host.units.mask,
            "unmasked": host.units.unmask,
        }
        verbs[done](self._full)
        is_bare = done == "unmasked" and "unit" not in self._texts
        if is_bare and not host.units.status(self._full).found:
            self._require(None)  # the mask was all that there was

    def _refreshing(self, state: Mapping[str, Any]) -> Task:
        """A reload or restart. A changed unit counts only once it is restarted."""
        self._require_unmasked(state)
        changes = self.owes_refresh or self.needs_refresh(state)
        reloads = bool(self.properties.get("reload")) and not changes

        def refresh(host: Host) -> None:
            again = host.units.reload if reloads else host.units.restart
            again(self._full)

        word = "reloaded" if reloads and state["systemd"].reloads else "restarted"
        message = "Would have %s%s" % (word, " via subscribe" if self.fired else "")
        return Task(message, refresh, [Change("ensure", state["ensure"], word)])

    def needs_refresh(self, state: Found) -> bool:
        """See the base class: while it runs, for a new text."""
        running = state is not None and self.ensure == RUNNING and state["systemd"].running
        return running and any(self._differs(state or {}, key) for key in self._texts)

    def accepts_refresh(self) -> bool:
        return self.ensure == RUNNING

    def _require(self, state: Found) -> None:
        """See the base class. The unit must exist. To start or enable it, it must be neither masked
        nor broken.
        """
        if state is None:
            raise Missing(
                "service not found: the unit %s does not exist" % self._unit,
                hint="check the spelling, or add an earlier package or file resource that "
                "installs it",
            )
        status: Status = state["systemd"]
        enable = self.properties.get("enable")
        must_start = self.ensure == RUNNING and not status.running
        written = any(self._differs(state, key) for key in self._texts)
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

    def _require_unmasked(self, state: Mapping[str, Any]) -> None:
        status: Status = state["systemd"]
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

    def lacks(self, host: HostReader, state: Found) -> Optional[str]:
        """See the base class. Uses the init system's own words."""
        status: Status = state["systemd"] if state else Status(False)
        if self.ensure == STOPPED or status.running:
            return None
        reason = ": %s" % ENDS if status.ends_by_itself else ""
        return "%s is %s, not running%s" % (self._unit, status.words, reason)

    def shown(self, host: HostReader) -> Mapping[str, Any]:
        return _shown(self._read(host))

    def left(self, host: HostReader, state: Found = None) -> Mapping[str, Any]:
        state = state or self._read(host)
        return dict(_shown(state), **self._hashes(state))

    def _hashes(self, state: Found) -> Mapping[str, Any]:
        return {key: managed_unit_files.hashed(state[key]) for key in self._texts} if state else {}

    def observed(self, host: HostReader, state: Found) -> Any:
        """See the base class. Without systemd's words for a state, which change while the state is
        reached.
        """
        assert state is not None
        status: Status = state["systemd"]
        enable = [status.enabled, status.either, status.until_reboot, status.masked]
        rest = status._replace(
            enabled=None, either=False, until_reboot=False, masked=False, words=""
        )
        return dict(self._hashes(state), ensure=list(rest), enable=enable)

    def answers(self, host: HostReader) -> Optional[Mapping[str, Any]]:
        status = host.units.status(self._full)
        enabled = bool(status.enabled) and not status.until_reboot
        return {"active": status.running, "enabled": enabled}


def _found(status: Status) -> Found:
    if not status.found:
        return None
    return {
        "ensure": RUNNING if status.running else STOPPED,
        "enable": status.enabled and not status.until_reboot,
        "masked": status.masked,
        "status": status.words,
        "systemd": status,
    }


def _shown(state: Found) -> Mapping[str, Any]:
    """The properties that ``ccm status`` shows."""
    if state is None:
        return {"ensure": "absent"}
    properties = {key: state[key] for key in ("ensure", "enable")}
    return dict(properties, **{key: state[key] for key in ("masked", "status") if state[key]})
