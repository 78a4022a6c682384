"""Runs state types that do several tasks (target). See ``managed_resource``."""

from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from remote_runtime.base import Change, Missing, Properties
from remote_runtime.changes import HASHED, Action
from remote_runtime.effects import Below, Effect, PathEffect, UnknownEffect, everything
from remote_runtime.errors import ResourceError
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.managed_resources.managed_resource import ManagedResource, State, Step
from remote_runtime.plan_item import Item
from remote_runtime.uncertainty import ASSUMED, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.host.preview.preview_host import Overlay
    from remote_runtime.reporting.content_diffs import Diffs
    from remote_runtime.tasks import PathTaskStateType, Task, TaskStateType


class TaskResource(ManagedResource):
    """One resource of a task type.

    A preview continues after a task that would fail, and records what it and the later tasks would
    leave, in case a planned change helps.
    """

    _reads_machine = True
    _type: "TaskStateType"
    _fails = False  # whether one of these would fail
    _planned: "Optional[Overlay]" = None

    def _acting(
        self, message: str, step: Step, changes: Sequence[Change] = (), *, checks: bool = True
    ) -> Action:
        """A step; in a preview, with its effects on the host after the earlier steps."""

        def call() -> None:
            host = self._machine()
            try:
                step(host)
            finally:
                self.tries = max(self.tries, host.tries)

        action = Action(message, call, changes=changes)
        if not self.context.noop:
            return action
        host = self._overlay()
        record = host.record
        before, undone = len(record.effects), len(record.unfinished)
        record.checks = checks
        failure: Optional[ResourceError] = None
        try:
            if not self._fails:
                step(host)
        except ResourceError as error:
            failure, self._fails = error, True
        if self._fails:
            host, before = self._unchecked(step), 0
        effects = host.record.effects[before:]
        # The unknown effects of a program do not prevent the next step.
        known = [each for each in effects if not isinstance(each, UnknownEffect)]
        self._done += known
        if len(known) < len(effects) or self._fails:
            self._planned = None

        def preflight() -> None:
            if failure is not None:
                raise failure

        return action._replace(
            effects=effects, preflight=preflight, unfinished=tuple(record.unfinished[undone:])
        )

    def _overlay(self) -> "Overlay":
        """The host after the earlier steps."""
        if self._planned is None:
            from remote_runtime.host.preview.preview_host import Overlay

            context, done = self.context, self._done
            overlay = context.overlay_with(done) if done else context.planned()
            self._planned = Overlay(
                overlay,
                self.item.label,
                context=context,
                warn=self._warn,
                shared=not done,
                upcoming=self._upcoming,
            )
        return self._planned

    def _unchecked(self, step: Step) -> "Overlay":
        """A host with the possible effects of a step that would fail, or comes after one that
        would. What it reads does not make the failure less certain."""
        self._planned = None
        host = self._overlay()
        host.record.checks = False
        try:
            with self.context.ignoring():
                step(host)
        except ResourceError:
            host.record.add(*self._possible_effects())
        return host

    def _possible_effects(self) -> Sequence[Effect]:
        """The effects of a task whose effects cannot be predicted."""
        uncertainty = Uncertainty(ASSUMED, "%s may change the host first" % self.item.label)
        return [UnknownEffect(uncertainty, everything)]

    def _begin(self) -> None:
        """Start with the first step again."""
        self._done, self._fails, self._planned = [], False, None

    def observe(self) -> State:
        """See the base class. Reads the state; if something that it needs is missing, a preview
        still reports the tasks.
        """
        reader = self._supported()
        try:
            values = self._type.read(reader)
        except Missing as missing:
            missing.would = self._steps(self._type.blocked(reader), checks=False)
            raise
        return State(self._type.state_of(values), found=values)

    def found(self) -> Properties:
        return dict(self._type.shown(self._supported()))

    def drift_state(self) -> Optional[Properties]:
        """See the base class. Includes only the properties that the type compares."""
        state = self.state_left
        return dict(self._type.left(self._reader(), None if state is None else state.found))

    def observation(self, state: Any) -> Any:
        return self._type.observed(self._reader(), state.found)

    def assumed_actions(self, refresh: bool) -> List[Action]:
        tasks = self._type.assumed(self._reader())
        return [self._task(task, None, False)._replace(preflight=None) for task in tasks]

    def known_effects(self, state: Any) -> Sequence[Effect]:
        """See the base class. Plans the known tasks on the overlay, without checks and
        uncertainties.
        """
        from remote_runtime.host.preview.preview_host import Overlay

        tasks = self._type.known(self._reader(), state.found)
        if not tasks:
            return ()
        host = Overlay(self.context.planned(), self.item.label, context=self.context, shared=True)
        host.record.checks = False
        with self.context.ignoring():
            for task in tasks:
                task.act(host)
        return host.record.effects

    def _upcoming(self) -> Iterator[Tuple[Item, Any]]:
        context = self.context
        upcoming = () if self._type.alone or self.item.health_checks else context.upcoming()
        for item in upcoming:
            if item.type != self.item.type or item.provider not in ("", self.provider.name):
                return
            stops = item.noop != self.item.noop or item.monitor_only
            if stops or item.deferred_error or item.deferred_render:
                return
            later = type(self._type)(item.name, item.properties)
            later.provider = self._type.provider
            if later.alone:
                return
            with context.for_resource(item, context.noop):
                try:
                    operation = later.ahead(self._reader())
                except ResourceError:
                    return  # which that resource reports when it runs
            yield item, operation
            if item.health_checks:
                return  # The effects of a command are recorded between two resources.

    def accepts_refresh(self, refresh: bool) -> bool:
        return refresh and self._type.accepts_refresh()

    def needs_refresh(self, state: Any) -> bool:
        return self._type.needs_refresh(state.found)

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        """See the base class. One action for each task, in the order of the type."""
        reader = self._reader()
        due = self.accepts_refresh(refresh)
        owed = due and self.context.refreshes.owes_itself(self.item)
        self._type.owes_refresh = owed
        self._type.fired = due and (bool(self.context.fired) or not owed)
        tasks = self._type.tasks(reader, state.found)
        try:
            self._type.require(reader, state.found)
        except Missing as missing:
            missing.would = self._steps(tasks, checks=False)
            raise
        return self._steps(tasks)

    def _steps(self, tasks: "Sequence[Task]", checks: bool = True) -> List[Action]:
        diffs = self._diffs() if any(task.shown is not None for task in tasks) else None
        self._begin()
        return [self._task(task, diffs, checks) for task in tasks]

    def _task(self, task: "Task", diffs: "Optional[Diffs]", checks: bool) -> Action:
        def act(host: Host) -> None:
            if task.progress:
                self.context.progress(task.progress)
            task.act(host)

        changes = task.changes
        if task.shown is not None and diffs is not None:
            diff = diffs.make(*task.shown)
            new = HASHED + task.shown.content.sha256
            changes = [c._replace(diff=diff) if c.after == new else c for c in changes]
        if task.texts:
            changes = [c._replace(diff=self._shown(*task.texts)) for c in changes]
        return self._acting(task.message, act, changes, checks=checks)

    def _diffs(self) -> "Diffs":
        from remote_runtime.reporting.content_diffs import Diffs

        return Diffs(self.context, self.item)

    def unachieved(self, state: Any) -> str:
        lacking = self._type.lacks(self._reader(), state.found)
        if lacking is not None:
            return lacking
        changes = [change for action in self.actions(state, False) for change in action.changes]
        return (self._type.unachieved(changes) or super().unachieved(state)) if changes else ""

    def describe(self, actions: Sequence[Action]) -> str:
        if self._type.sentences:
            return ". ".join([action.message for action in actions])
        return super().describe(actions)


class PathTaskResource(TaskResource):
    """One resource of a task type for paths."""

    _type: "PathTaskStateType"

    def _possible_effects(self) -> Sequence[Effect]:
        return self.unknown_effects(Below(self.name, itself=True))

    def found(self) -> Properties:
        """See the base class. Includes the attributes of the path."""
        state = self.observe()
        return self._attributes(self._reader(), state, hashed=True)

    def _attributes(self, reader: HostReader, state: State, hashed: bool) -> Dict[str, Any]:
        from remote_runtime.plans.observed_state import of_path

        node = self._type.node(reader, state.found)
        return {"ensure": state.ensure, **of_path(self.context, self.name, node, hashed)}

    def drift_state(self) -> Optional[Properties]:
        """See the base class. Includes only the properties that the type compares."""
        state = self.observe() if self.state_left is None else self.state_left
        reader: HostReader = self._reader()
        keys = ["ensure", *self._type.compared(reader, state.found)]
        attributes = self._attributes(reader, state, hashed="checksum" in keys)
        properties: Mapping[str, Any] = {
            key: value for key, value in attributes.items() if key in keys
        }
        return dict(properties, **self._type.left(reader, state.found))

    def wanted(self) -> List[str]:
        """See the base class. A preview needs most contents only for a diff."""
        paths = self._type.travels(self._reader())
        diffs = self._diffs() if paths and self.context.noop else None
        return [
            one.sha256
            for one in paths
            if diffs is None
            or one.needed
            or diffs.wants(one.new.node, one.new.content.size, one.new.mode)
        ]

    def provenance(self, actions: Sequence[Action]) -> Dict[str, str]:
        """See the base class. Return the provenance of the path with the latest change among those
        that differ.
        """
        result: Dict[str, str] = {}
        if self._type.tree:
            from remote_runtime.plans.observed_state import newest_provenance

            effects = [one for action in actions for one in action.effects]
            paths = [one.path for one in effects if isinstance(one, PathEffect)]
            if any(path != self.name for path in paths):
                result = newest_provenance(self.context, paths)
        return result or super().provenance(actions)
