"""Runs state types of several tasks (target). See ``adapter``."""

from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from remote_runtime.base import Action, Effect, Item, Missing, PathEffect, Properties, State
from remote_runtime.changes import HASHED
from remote_runtime.errors import ResourceError
from remote_runtime.host.ports import Host, HostReader
from remote_runtime.host.step_adapter import SteppingResource

if TYPE_CHECKING:
    from remote_runtime.reporting.content_diffs import Diffs
    from remote_runtime.tasks import PathTaskStateType, Task, TaskStateType


class TaskResource(SteppingResource):
    """One resource of a type that says which tasks there are."""

    plans_on = True
    _type: "TaskStateType"

    def observe(self) -> State:
        """See the base class."""
        reader = self._supported()
        try:
            found = self._type.read(reader)
        except Missing as missing:
            missing.would = self._steps(self._type.blocked(reader), checks=False)
            raise
        return State(self._type.state_of(found), found=found)

    def found(self) -> Properties:
        """See the base class."""
        return dict(self._type.shown(self._supported()))

    def drift_state(self) -> Optional[Properties]:
        """See the base class."""
        return dict(self._type.left(self._reader()))

    def observation(self, state: Any) -> Any:
        """See the base class."""
        return self._type.observed(self._reader(), state.found)

    def answer(self) -> Optional[Properties]:
        """See the base class."""
        answers = self._type.answers(self._supported())
        return None if answers is None else dict(answers)

    def assumed_actions(self, refresh: bool) -> List[Action]:
        """See the base class."""
        tasks = self._type.assumed(self._reader())
        return [self._task(task, None, False)._replace(rehearse=None) for task in tasks]

    def known_effects(self, state: Any) -> Sequence[Effect]:
        """See the base class."""
        from remote_runtime.host.overlay.overlay import Overlay

        tasks = self._type.known(self._reader(), state.found)
        if not tasks:
            return ()
        host = Overlay(self.context.planned(), self.item.id, context=self.context, shared=True)
        host.record.checks = False
        with self.context.ignoring():
            for task in tasks:
                task.act(host)
        return host.record.effects

    def _coming(self) -> Iterator[Tuple[Item, Any]]:
        """See the base class."""
        context = self.context
        coming = () if self._type.alone or self.item.health_checks else context.coming()
        for item in coming:
            if item.type != self.item.type or item.provider not in ("", self.provider.name):
                return
            stops = item.noop or item.monitor_only
            if stops or item.deferred_error or item.deferred_render:
                return
            later = type(self._type)(item.name, item.properties)
            later.provider = self._type.provider
            if later.alone:
                return
            with context.turn(item, False):
                try:
                    found = later.ahead(self._reader())
                except ResourceError:
                    return  # which is reported at the turn of that one
            yield item, found
            if item.health_checks:
                return  # What a command sees or does belongs between two turns.

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        """See the base class."""
        reader = self._supported()
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
        return self._acting(task.message, act, changes, checks=checks)

    def _diffs(self) -> "Diffs":
        from remote_runtime.reporting.content_diffs import Diffs

        return Diffs(self.context, self.item)

    def unachieved(self, state: Any) -> str:
        """See the base class."""
        lacking = self._type.lacks(self._reader(), state.found)
        if lacking is not None:
            return lacking
        left = [change for action in self.actions(state, False) for change in action.changes]
        return (self._type.unachieved(left) or super().unachieved(state)) if left else ""

    def describe(self, actions: Sequence[Action]) -> str:
        """See the base class."""
        if self._type.sentences:
            return ". ".join([action.message for action in actions])
        return super().describe(actions)


class PathTaskResource(TaskResource):
    """The same of a path."""

    _type: "PathTaskStateType"

    def found(self) -> Properties:
        """With the attributes of what is there. See the base class."""
        return self._attributes(self.observe(), hashed=True)

    def _attributes(self, state: State, hashed: bool) -> Dict[str, Any]:
        from remote_runtime.plans.observed_state import of_path

        node = self._type.node(self._reader(), state.found)
        return {"ensure": state.ensure, **of_path(self.context, self.name, node, hashed)}

    def drift_state(self) -> Optional[Properties]:
        """See the base class."""
        state = self.observe() if self.state_left is None else self.state_left
        reader: HostReader = self._reader()
        keys = ["ensure", *self._type.compared(reader, state.found)]
        found = self._attributes(state, hashed="checksum" in keys)
        kept: Mapping[str, Any] = {key: value for key, value in found.items() if key in keys}
        return dict(kept, **self._type.left(reader, state.found))

    def wanted(self) -> List[str]:
        """See the base class; a preview needs most contents for a difference only."""
        found = self._type.travels(self._reader())
        diffs = self._diffs() if found and self.context.noop else None
        return [
            one.sha256
            for one in found
            if diffs is None
            or one.needed
            or diffs.wants(one.new.path, one.new.content.size, one.new.mode)
        ]

    def provenance(self, actions: Sequence[Action]) -> Dict[str, str]:
        """Of the path that was changed last of those that differ. See the base class."""
        found: Dict[str, str] = {}
        if self._type.tree:
            from remote_runtime.plans.observed_state import newest_provenance

            effects = [one for action in actions for one in action.effects or ()]
            paths = [one.path for one in effects if isinstance(one, PathEffect)]
            if any(path != self.name for path in paths):
                found = newest_provenance(self.context, paths)
        return found or super().provenance(actions)
