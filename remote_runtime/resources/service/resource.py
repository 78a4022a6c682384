"""The service type: runs now, and starts at boot (target; ``check`` on both sides)."""

from typing import Any, List, Tuple

from remote_runtime.base import (
    Action,
    Change,
    Missing,
    Properties,
    ResourceType,
    State,
    Unknowable,
)
from remote_runtime.errors import ResourceError
from remote_runtime.resources.service import wording
from remote_runtime.resources.service.provider import (
    DISABLE,
    ENABLE,
    ENDS,
    RESTART,
    START,
    STOP,
    ServiceProvider,
    Status,
)
from remote_runtime.resources.service.unit.unit import full_name

RUNNING, STOPPED = "running", "stopped"


class Resource(ResourceType):
    """One service at its turn."""

    provider: ServiceProvider
    default_ensure = RUNNING

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        """The name. See the base class."""
        from remote_runtime.resources.service import rules

        return rules.problems(name)

    def observe(self) -> State:
        """Whether the service runs and starts at boot."""
        status = self.provider.status(self.name)
        self.context.saw("unit", full_name(self.name), status.found)
        world = self.context.world
        for other in self.provider.leaning(self.name) if world is not None and world.clouds else ():
            self.context.saw("unit", other)
        problem, hint = self._problem(status)
        if problem:
            raise Missing(problem, would=self._would(), hint=hint)
        return State(RUNNING if status.running else STOPPED, status=status)

    def observation(self, state: Any) -> Any:
        """See the base class."""
        status: Status = state.status
        enable = [status.enabled, status.either, status.until_reboot, status.masked]
        rest = status._replace(
            enabled=None, either=False, until_reboot=False, masked=False, words=""
        )
        return {"ensure": list(rest), "enable": enable}

    def found(self) -> Properties:
        """Whether it runs and starts at boot. See the base class."""
        status = self.provider.status(self.name)
        if not status.found:
            return {"ensure": "absent"}
        properties: Properties = {
            "ensure": RUNNING if status.running else STOPPED,
            "enable": status.enabled and not status.until_reboot,
        }
        if status.masked:
            properties["masked"] = True
        if status.words:
            properties["status"] = status.words
        return properties

    def answer(self) -> Properties:
        """Whether it runs, and starts at boot. See the base class."""
        status = self.provider.status(self.name)
        self.context.saw("unit", full_name(self.name), status.found)
        enabled = bool(status.enabled) and not status.until_reboot
        return {"active": status.running, "enabled": enabled}

    def _problem(self, status: Status) -> Tuple[str, str]:
        """Return why the wanted state cannot be reached, and what to do about it."""
        if not status.found:
            return (
                "service not found: the unit %s does not exist" % self.name,
                "check the spelling, or add an earlier package or file resource that installs it",
            )
        must_start = self.ensure == RUNNING and not status.running
        if status.masked and (must_start or self._enable is True):
            return self._masked(status)
        if status.failure and (must_start or self._enable is not None):
            return "%s cannot be used: %s" % (self.name, status.failure), "correct its unit file"
        if self._enable is not None and status.enabled is None:
            return (
                "%s cannot be enabled or disabled: it has no unit file" % self.name,
                "omit `enable`",
            )
        return "", ""

    def _masked(self, status: Status) -> Tuple[str, str]:
        if status.until_reboot:  # the other command leaves such a mask where it is
            hint = "run `systemctl unmask --runtime %s` on the host" % self.name
            return "%s is masked until the next boot" % self.name, hint
        return "%s is masked" % self.name, "run `systemctl unmask %s` on the host" % self.name

    @property
    def _enable(self) -> object:
        return self.properties.get("enable")

    def actions(self, state: State, refresh: bool) -> List[Action]:
        """First whether it runs, then whether it starts at boot."""
        status: Status = state.status
        actions = []
        if self.ensure == STOPPED:
            if status.stoppable:
                actions.append(self._stop(status))
        elif not status.running:
            actions.append(self._start(STOPPED))
        elif refresh:
            actions.append(self._restart(status))
        if self._enable is not None and not status.enable_satisfied(bool(self._enable)):
            actions.append(self._switch())
        return actions

    def heeds(self, refresh: bool) -> bool:
        """A service that is to be stopped ignores its subscriptions."""
        return refresh and self.ensure == RUNNING

    def _would(self) -> List[Action]:
        """What there will be to do where nothing is known: the opposite of what is wanted."""
        running = self._start(STOPPED) if self.ensure == RUNNING else self._stop(Status(True, True))
        return [running] if self._enable is None else [running, self._switch()]

    def supposed(self, refresh: bool) -> List[Action]:
        """See the base class."""
        try:
            return self._would()
        except Unknowable:
            return [self._unforeseen()]

    def _unforeseen(self) -> Action:
        """The action where not even its effects are known: it may change anything."""
        if self.ensure == RUNNING:
            message, verb, change = wording.STARTED, START, Change("ensure", STOPPED, RUNNING)
        else:
            message, verb, change = wording.STOPPED, STOP, Change("ensure", RUNNING, STOPPED)
        return Action(message, lambda: self.provider.act(verb, self.name), changes=[change])

    def _start(self, before: str) -> Action:
        return self._action(wording.STARTED, START, Change("ensure", before, RUNNING))

    def _stop(self, status: Status) -> Action:
        before = RUNNING if status.running else status.words
        return self._action(wording.STOPPED, STOP, Change("ensure", before, STOPPED))

    def _restart(self, status: Status) -> Action:
        if status.masked:
            raise ResourceError(*self._masked_error(status))
        return self._action(wording.RESTARTED, RESTART, Change("ensure", RUNNING, "restarted"))

    def _masked_error(self, status: Status) -> Tuple[str, str, str]:
        message, hint = self._masked(status)
        return message, "service.masked", hint

    def _switch(self) -> Action:
        on = bool(self._enable)
        return self._action(
            wording.ENABLED if on else wording.DISABLED,
            ENABLE if on else DISABLE,
            Change("enable", not on, on),
        )

    def _action(self, message: str, verb: str, change: Change) -> Action:
        effects = self.provider.consequences(verb, self.name)
        return Action(
            message,
            lambda: self.provider.act(verb, self.name),
            changes=[change],
            effects=effects,
            rehearse=lambda: self.provider.rehearse(verb, self.name),
            unfinished=self.provider.unfinished(verb, self.name, effects) if effects else (),
        )

    def unsettled(self, state: State) -> str:
        """Why the service is not as desired, in the init system's words."""
        left = self.actions(state, False)
        if not left:
            return ""
        status: Status = state.status
        if self.ensure == RUNNING and not status.running:
            if status.ends_by_itself:
                return "%s is %s, not running: %s" % (self.name, status.words, ENDS)
            return "%s is %s, not running" % (self.name, status.words)
        return super().unsettled(state)
