"""Conditions in a preview (target), which does not wait."""

import os
from typing import TYPE_CHECKING

from remote_runtime.effects import PathEffect
from remote_runtime.host import condition_ports
from remote_runtime.host.condition_ports import Condition, ConditionResult
from remote_runtime.host.preview.change_record import Record
from remote_runtime.uncertainty import ASSUMED, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.host.ports import HostReader


class Conditions(condition_ports.Conditions):
    """Records that the awaited condition will be true."""

    def __init__(self, context: "Context", host: "HostReader", record: Record) -> None:
        super().__init__(context, host.files, lambda: host.commands)
        self._record = record

    def wait(
        self,
        condition: Condition,
        wanted: bool,
        *,
        first: ConditionResult,
        until: float,
        interval: float,
    ) -> ConditionResult:
        """See the base class. Does not wait: assumes that the condition is met in time."""
        reason = "the condition is not met yet: %s" % first.seen
        self._record.assumed.append(Uncertainty(ASSUMED, reason))
        if condition.file:
            path = os.path.normpath(condition.file)
            self._record.add(PathEffect(path, "something" if wanted else "absent"))
        return first._replace(holds=wanted)
