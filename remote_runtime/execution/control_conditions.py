"""Conditions of ``control`` that are evaluated on the host when a resource runs (target)."""

from typing import TYPE_CHECKING, Any, Dict, NamedTuple

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.reporting.events import secrets_of
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.plan_item import Item

EXISTS, ABSENT, COMMAND = "exists", "absent", "command"


class Answer(NamedTuple):
    """The result of all conditions; in noop, ``uncertainty`` is that of this result."""

    holds: bool
    uncertainty: Uncertainty = Uncertainty()


def ask(item: "Item", context: "Context", noop: bool) -> Answer:
    """Evaluate the conditions of an item in order, up to the first false one.

    In noop, they see the predicted state of the host. ``ResourceError`` for a condition that cannot
    be evaluated.
    """
    with context.for_resource(item, noop, secrets_of(item)):
        try:
            held = all(_holds(condition, context) for condition in item.control)
        except ResourceError as error:
            if isinstance(error, Unknowable):
                return Answer(True, Uncertainty(UNKNOWN, error.message))
            if noop and context.uncertainty.level:
                reason = "%s; %s" % (error.message, context.excuse)
                return Answer(True, Uncertainty(UNKNOWN, reason))
            raise
        uncertainty = context.uncertainty if noop else Uncertainty()
        if uncertainty.level:
            uncertainty = Uncertainty(uncertainty.level, "control: %s" % uncertainty.reason)
        # If the result is unknown, the preview describes the resource as managed.
        return Answer(held or uncertainty.level == UNKNOWN, uncertainty)


def _holds(condition: Dict[str, Any], context: "Context") -> bool:
    for key, wanted in ((EXISTS, True), (ABSENT, False)):
        if key in condition:
            return context.files.exists(condition[key]) == wanted
    from remote_runtime.host.command_ports import CommandReader, of_guard

    guard = of_guard(condition[COMMAND], {}, "posix")
    reader = CommandReader(context.user_commands, context.files, context.accounts)
    return reader.holds(guard, "control.command")
