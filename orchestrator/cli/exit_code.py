"""The exit code of a run over a fleet (controller)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from orchestrator.fleet import outcome
from orchestrator.fleet.outcome import HostResult

if TYPE_CHECKING:
    from orchestrator.runs.result import RunResult

INTERRUPTED = 130
CHANGED = 4

# From the strongest to the weakest; any other outcome is 0.
_TABLE = (
    (outcome.INTERRUPTED, 130),
    (outcome.DEFECT, 70),
    (outcome.UNREACHABLE, 3),
    (outcome.FAILED, 1),
    (outcome.REFUSED, 1),
    (outcome.NOT_STARTED, 1),
)


def run_exit_code(results: Iterable[HostResult], interrupted: bool, detailed: bool) -> int:
    """130 if interrupted, 70 for a defect, 3 for a host that was not reached or was lost, 1 for a
    failure, 4 for drift, else 0.

    With ``detailed``, it is 4 instead of 0 if changes were made or are pending.
    """
    if interrupted:
        return INTERRUPTED
    found, changed, drifted = set(), False, False
    for result in results:
        found.add(result.outcome)
        changed = changed or result.changed
        drifted = drifted or result.tally.drifted > 0
    for name, code in _TABLE:
        if name in found:
            return code
    return CHANGED if drifted or (detailed and changed) else 0


def result_exit_code(result: RunResult, detailed: bool) -> int:
    """The exit code of a run including its output and rollout: 70 for a defect in ccm's output, 1
    for output that could not be written or a rollout that stopped.
    """
    code = run_exit_code(result.results, result.interrupted, detailed)
    for error in result.faults:
        if isinstance(error, BrokenPipeError):
            continue
        if isinstance(error, OSError):
            code = code or 1
        elif code != INTERRUPTED:
            code = 70
    if result.incomplete and code in (0, CHANGED):
        code = 1
    if result.left_out:
        code = worse_exit_code(code, 1)
    return code if result.assessment is None else worse_exit_code(code, result.assessment.exit_code)


def worse_exit_code(first: int, second: int) -> int:
    """The exit code of two combined runs: the more severe one."""
    return min(first, second, key=_STRENGTH.index)


_STRENGTH = (INTERRUPTED, 2, 70, 3, 1, CHANGED, 0)
