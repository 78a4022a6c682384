"""Runs state types that take several steps (target). See ``adapter``."""

from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Tuple

from remote_runtime.base import (
    Action,
    Change,
    Diff,
    Missing,
    Properties,
    State,
    StepStateType,
    Uncertainty,
    Unknowable,
    UnknownEffect,
)
from remote_runtime.effects import UNKNOWN, below
from remote_runtime.errors import ResourceError
from remote_runtime.host.adapter import StateResource, Step
from remote_runtime.host.file_text import diff_of
from remote_runtime.host.ports import HostReader

if TYPE_CHECKING:
    from remote_runtime.host.overlay.overlay import Overlay
    from remote_runtime.overlay.overlay import HostOverlay


class SteppingResource(StateResource):
    """One resource of a type that takes several steps.

    ``plans_on``: a preview keeps a step that would fail, and tells what it and those behind it
    would leave, for where a planned change may help.
    """

    plans_on = False
    _fails = False  # whether one of these would fail
    _today: Optional[HostReader] = None
    _planned: "Optional[Overlay]" = None

    def _reader(self, world: "Optional[HostOverlay]" = None) -> HostReader:
        """The host itself until something is planned. See ``ActionResource``."""
        from remote_runtime.host.machine.machine import reader

        context = self.context
        if context.world is not None:
            return super()._reader(world)
        if self._today is None:
            self._today = reader(context, context)
        return self._today

    def _acting(
        self, message: str, step: Step, changes: Sequence[Change] = (), *, checks: bool = True
    ) -> Action:
        """A step; in a preview with its effects on the host as the steps before leave it."""

        def call() -> None:
            host = self._machine()
            try:
                step(host)
            finally:
                self.tries = host.tries

        action = Action(message, call, changes=changes, effects=())
        if not self.context.noop:
            return action
        host = self._overlay()
        record = host.record
        before, undone = len(record.effects), len(record.unfinished)
        record.checks = checks and not self._fails
        failures: List[ResourceError] = []
        try:
            step(host)
        except ResourceError as error:
            if not (record.effects or self.plans_on):
                raise  # nothing is known of it
            failures.append(error)
            if self.plans_on:
                self._fails = True
                host, before = self._unchecked(step), 0
        effects = host.record.effects[before:]
        # What a program may do does not keep the next step from being taken.
        known = [each for each in effects if not isinstance(each, UnknownEffect)]
        self._done += known
        if len(known) < len(effects) or failures or not self.plans_on:
            self._planned = None

        def rehearse() -> None:
            for error in failures:
                raise error

        return action._replace(
            effects=effects, rehearse=rehearse, unfinished=tuple(record.unfinished[undone:])
        )

    def _overlay(self) -> "Overlay":
        """The host as the steps before leave it."""
        if self._planned is None:
            from remote_runtime.host.overlay.overlay import Overlay

            context, done = self.context, self._done
            world = context.world_with(done) if done else context.planned()
            self._planned = Overlay(
                world, self.item.id, context=context, warn=self._warn, shared=not done
            )
        return self._planned

    def _unchecked(self, step: Step) -> "Overlay":
        """A host with what a step that would fail might leave."""
        self._planned = None
        host = self._overlay()
        host.record.checks = False
        try:
            with self.context.ignoring():
                step(host)
        except ResourceError:
            uncertainty = Uncertainty(UNKNOWN, "it is not known what becomes of %s" % self.item.id)
            host.record.add(UnknownEffect(uncertainty, below(self.name, itself=True)))
        return host

    def _begin(self) -> None:
        """Take the first step again."""
        self._done, self._fails, self._planned = [], False, None


class StepResource(SteppingResource):
    """One resource of a type that takes a step for each property that differs."""

    _type: StepStateType

    def observe(self) -> State:
        """See the base class."""
        found = self._type.read(self._supported())
        try:
            self._type.require(found)
        except Missing as missing:
            missing.would = self._would()
            raise
        return State(found["ensure"] if found else "absent", found=found)

    def found(self) -> Properties:
        """See the base class."""
        found = self._type.read(self._supported())
        return {"ensure": "absent"} if found is None else dict(self._type.shown(found))

    def observation(self, state: Any) -> Any:
        """See the base class."""
        return self._type.observed(state.found)

    def drift_state(self) -> Optional[Properties]:
        """See the base class."""
        left = self.state_left
        found = self._type.read(self._supported()) if left is None else left.found
        return {"ensure": "absent"} if found is None else dict(self._type.drift_state(found))

    def answer(self) -> Optional[Properties]:
        """See the base class."""
        answers = self._type.answers(self._supported())
        return None if answers is None else dict(answers)

    def accepts_refresh(self, refresh: bool) -> bool:
        """See the base class."""
        return refresh and self._type.accepts_refresh()

    def needs_refresh(self, state: Any) -> bool:
        """See the base class."""
        return self._type.needs_refresh(state.found)

    def unachieved(self, state: Any) -> str:
        """See the base class."""
        left = self.actions(state, False)
        if not left:
            return ""
        return self._type.unachieved(state.found) or super().unachieved(state)

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        """See the base class."""
        return self._steps(state.found, self.accepts_refresh(refresh))

    def assumed_actions(self, refresh: bool) -> List[Action]:
        """See the base class."""
        try:
            return self._would()
        except Unknowable:
            message, step, change = self._step_of("ensure", self._type.opposite())
            return [Action(message, lambda: step(self._machine()), changes=[change])]

    def _would(self) -> List[Action]:
        """What there is to do where nothing is known."""
        return self._steps(self._type.opposite(), False, checks=False)

    def _steps(self, found: Mapping[str, Any], refresh: bool, checks: bool = True) -> List[Action]:
        steps = []
        changed = self._type.needs_refresh(found)
        self._type.owes_refresh = self.context.refreshes.owes_itself(self.item)
        for key in self._type.desired():
            if self._type.differs(found, key):
                steps.append(self._step_of(key, found))
            elif (refresh or changed) and key == "ensure":
                self._type.require_refresh(found)
                steps.append(self._refreshing(found, refresh))
        self._begin()
        return [self._acting(text, do, [change], checks=checks) for text, do, change in steps]

    def _step_of(self, key: str, found: Mapping[str, Any]) -> Tuple[str, Step, Change]:
        diff = Diff(found, {key: self._type.desired()[key]})
        diff.keys = [key]
        change = Change(key, *self._type.record(found, key), diff=self._difference(found, key))
        message = "Would have %s" % self._type.done(key)
        return message, lambda host: self._type.apply(host, diff), change

    def _difference(self, found: Mapping[str, Any], key: str) -> Optional[str]:
        texts = self._type.texts(found, key)
        options = self.context.options
        if texts is None or not options.diff or self.item.sensitive:
            return None
        path, before, after = texts
        return diff_of(before, after, path, options.diff_private) or None

    def _refreshing(self, found: Mapping[str, Any], fired: bool) -> Tuple[str, Step, Change]:
        word = self._type.refreshed(found)
        change = Change("ensure", found["ensure"], word)
        subscribed = fired and (bool(self.context.fired) or not self._type.owes_refresh)
        message = "Would have %s%s" % (word, " via subscribe" if subscribed else "")
        return message, lambda host: self._type.refresh_by(host, found), change
