"""Runs state types that act instead of reading state (target). See ``managed_resource``."""

from typing import Any, List, Optional, Sequence

from remote_runtime.base import ActionStateType, Change, Missing
from remote_runtime.changes import Action
from remote_runtime.effects import Covers, Effect
from remote_runtime.errors import ResourceError
from remote_runtime.managed_resources.managed_resource import ManagedResource, State
from remote_runtime.plan_item import Properties


class ActionResource(ManagedResource):
    """One resource of an action type while it runs."""

    _reads_machine = True
    may_fail = True
    _type: ActionStateType

    def observe(self) -> State:
        return super().observe() if self.read_only else State("present")

    def found(self) -> Properties:
        """See the base class. Absent if the action is due."""
        return {"ensure": super().observe().ensure}

    def observation(self, state: Any) -> Any:
        return None

    def drift_state(self) -> Optional[Properties]:
        state_after = self._type.left(self._reader())
        return None if state_after is None else dict(state_after)

    def accepts_refresh(self, refresh: bool) -> bool:
        return refresh and not self.read_only

    def unachieved(self, state: Any) -> str:
        return ""

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        """See the base class. At most one action; none if the type reports that it is not due or
        already done.
        """
        reader = self._supported()
        refresh = self.accepts_refresh(refresh)
        if not refresh and (self._type.refresh_only or not self._type.due(reader)):
            return []
        if self._type.is_served(reader, refresh):
            return []
        action = self._acting(refresh, self._type.details)
        try:
            self._type.require(reader)
        except Missing as missing:
            missing.would = [action._replace(effects=self._effects())]
            raise
        return [action]

    def assumed_actions(self, refresh: bool) -> List[Action]:
        if self._type.refresh_only and not refresh:
            return []
        return [self._acting(refresh)._replace(effects=self._effects(), changes=(), preflight=None)]

    def _acting(self, refresh: bool, details: str = "") -> Action:
        words = [self._type.done, details, "via subscribe" if refresh else ""]
        message = " ".join(["Would have", *filter(None, words)])
        changes = [Change(key, None, value) for key, value in self._type.desired().items()]
        effects: List[Effect] = []

        def call() -> None:
            host = self._machine()
            try:
                self._type.act(host)
            finally:
                self.ended, self.tries = host.commands.ended, host.commands.tries

        def preflight() -> None:
            self._preflight(effects)

        return Action(message, call, changes=changes, effects=effects, preflight=preflight)

    def _effects(self) -> List[Effect]:
        """Return the effects of the action; in a preview, of a host on which it cannot act yet."""
        effects: List[Effect] = []
        if self.context.noop:
            try:
                with self.context.ignoring():
                    self._preflight(effects)
            except ResourceError:
                pass  # all that it would leave is recorded
        return effects

    def _preflight(self, effects: List[Effect]) -> None:
        """Record its effects. ``ResourceError`` if it would fail."""
        from remote_runtime.host.preview.preview_host import Overlay

        host = Overlay(
            self.context.overlay_with(()),
            self.item.label,
            covering=self._covering,
            context=self.context,
            warn=self._warn,
        )
        try:
            self._type.act(host)
        finally:
            effects.extend(host.record.effects)
        for uncertainty in host.record.assumed:
            self.context.suppose(uncertainty.reason)

    def _covering(self, affects: Optional[Sequence[str]]) -> Covers:
        from remote_runtime.packages.declared_changes import affected

        return affected(affects, self.context)
