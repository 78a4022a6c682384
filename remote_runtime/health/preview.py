"""The preview of health checks, which a preview does not run (target)."""

from typing import List, Tuple

from remote_runtime.context import Context
from remote_runtime.health import own_name
from remote_runtime.reporting.events import Outcome
from remote_runtime.text import shell_words
from remote_runtime.uncertainty import ASSUMED, UNKNOWN, Uncertainty


def predict(outcome: Outcome, context: Context) -> None:
    """Add the predicted checks to the outcome of a preview.

    A check that cannot start fails its resource. The result of the others is unknown, which affects
    resources that require this one.
    """
    name = outcome.item.label
    passing = Uncertainty(ASSUMED, "if the health checks of %s pass" % name)
    outcome.passing = outcome.passing.worse(passing)
    if outcome.prediction == UNKNOWN:
        return
    failures, uncertainty = _unstartable(outcome, context)
    if failures and uncertainty.level:  # a planned change may fix that
        reason = "%s; %s" % (failures[0], uncertainty.reason)
        outcome.prediction, outcome.prediction_reason = UNKNOWN, reason
        outcome.passing = Uncertainty(
            UNKNOWN, "the result of %s is not certain: %s" % (name, reason)
        )
        return
    for message in failures:
        outcome.fail(message)


def _unstartable(outcome: Outcome, context: Context) -> Tuple[List[str], Uncertainty]:
    """Return the message for each check that cannot start, with its uncertainty."""
    result = []
    with context.for_resource(outcome.item, True):
        for number, check in enumerate(outcome.item.health_checks, 1):
            reason = _lacking(str(check.get("command") or ""), context)
            if reason:
                sensitive = outcome.item.sensitive
                fallback = "check %d" % number if sensitive else own_name(check)
                result.append(
                    "health check %r would be UNKNOWN: %s"
                    % (
                        check.get("name") or fallback,
                        "it cannot be started" if sensitive else reason,
                    )
                )
        return result, context.uncertainty


def _lacking(command: str, context: Context) -> str:
    try:
        argv = shell_words.split(command)
    except ValueError as error:
        return str(error)
    return context.user_commands.lacking(argv[0])[0] if argv else ""
