"""Checks conditions, and waits for them (target)."""

import time

from remote_runtime.host import condition_ports
from remote_runtime.host.condition_ports import Condition, ConditionResult


class Conditions(condition_ports.Conditions):
    """Checks until the time is up."""

    def wait(
        self,
        condition: Condition,
        wanted: bool,
        *,
        first: ConditionResult,
        until: float,
        interval: float,
    ) -> ConditionResult:
        """See the base class. Checks every ``interval`` seconds, and reports progress before each
        pause.
        """
        result = first
        while result.holds != wanted:
            seconds_left = until - time.monotonic()
            if seconds_left <= 0:
                break
            self._context.progress("%d s left, %s" % (seconds_left + 0.999, result.seen))
            self._context.sleep(min(interval, seconds_left))
            result = self.look(condition, until - time.monotonic())
        return result
