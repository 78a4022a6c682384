"""The wait type (target; ``check`` on both sides)."""

import time
from typing import Any, List, Optional, Tuple

from remote_runtime.base import Action, Properties, ResourceType, State
from remote_runtime.errors import UnsettledError
from remote_runtime.resources.wait import rules, wording
from remote_runtime.resources.wait.conditions import Condition, Sight, condition_of
from remote_runtime.text import duration

TIMEOUT = "5m"
INTERVAL = "1s"
_LAST = 1.0  # seconds that even a look gets that begins when the time is up


class Resource(ResourceType):
    """Something that is to be so before the run goes on; who makes it so is none of its business.

    A look is bounded by the time that is left, which begins with the first one.
    """

    may_fail = True
    read_only = True
    _deadline = 0.0
    _waited: Optional[State] = None

    @classmethod
    def check(cls, name: str, properties: Properties) -> List[Tuple[str, str]]:
        return rules.problems(properties)

    @classmethod
    def warnings(cls, name: str, properties: Properties) -> List[Tuple[str, str, str]]:
        from remote_runtime.resources.exec.warnings import of_commands

        return of_commands([("command", properties.get("command"))], properties)

    def observe(self) -> State:
        """Look once. After a wait: what the last look of that found."""
        if self._waited is not None:
            return self._waited
        self._deadline = time.monotonic() + self._seconds("timeout", TIMEOUT)
        self._condition: Condition = condition_of(self.properties, self.provider)
        return self._state(self._look())

    def found(self) -> Properties:
        return {"ensure": self.observe().ensure}

    def drift_state(self) -> Optional[Properties]:
        return {}  # a moment of the run, no state that a push leaves

    def actions(self, state: Any, refresh: bool) -> List[Action]:
        if state.ensure == self.ensure:
            return []
        return [self._action(state)]

    def unachieved(self, state: Any) -> str:
        return ""  # the wait has ended because it was so

    def assumed_actions(self, refresh: bool) -> List[Action]:
        return [Action(wording.SUPPOSED, lambda: None)]

    def _action(self, state: Any) -> Action:
        sight: Sight = state.sight
        return Action(
            wording.WAITED % self._words(),
            lambda: self._wait(sight),
            effects=self._condition.effects(self.ensure == "present"),
            rehearse=lambda: self.context.suppose("the condition is not met yet: %s" % sight.seen),
        )

    def _words(self) -> str:
        return self._condition.words(self.ensure == "present")

    def _seconds(self, key: str, default: str) -> float:
        return duration.parse(str(self.properties.get(key, default)))

    def _look(self) -> Sight:
        left = max(_LAST, self._deadline - time.monotonic())
        return self._condition.look(left)

    @staticmethod
    def _state(sight: Sight) -> State:
        return State("present" if sight.holds else "absent", sight=sight)

    def _wait(self, sight: Sight) -> None:
        interval = self._seconds("interval", INTERVAL)
        while True:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise self._overdue(sight)
            self.context.progress("%d s left, %s" % (left + 0.999, sight.seen))
            self.context.sleep(min(interval, left))
            sight = self._look()
            state = self._state(sight)
            if state.ensure == self.ensure:
                self._waited = state
                return

    def _overdue(self, sight: Sight) -> UnsettledError:
        within = self.properties.get("timeout", TIMEOUT)
        return UnsettledError(
            "timed out after %s waiting until %s: %s" % (within, self._words(), sight.seen),
            kind="resource.timeout",
            hint="raise timeout, or find out what delays it",
            output=sight.output,
        )
