"""Checks reports of unchanged resources (controller, on the hot path)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from orchestrator.fleet.checks.event_check import EventCheck, refuse
from orchestrator.fleet.checks.unchanged_resources import (
    PlannedFields,
    UnchangedResources,
    rows_problem,
)
from orchestrator.support.plain_text import plain
from remote_runtime.errors import ProtocolError
from remote_runtime.protocol import wire
from remote_runtime.protocol.expansion import LATEST
from remote_runtime.protocol.unchanged_batch import MAX_ROWS
from remote_runtime.reporting.events import encode_id

_MESSAGE = frozenset(["t", "seq", "id", "at", "noop", "prediction", "rows"])
_HIGHEST = 1 << 130  # the capacity of 26 characters


class CheckedResources(NamedTuple):
    """Resources that may be shown and stored, and the number of them that were reported before."""

    unchanged: UnchangedResources
    again: int


def check_unchanged(
    check: EventCheck, message: wire.Message, implied: Callable[[int], PlannedFields | None]
) -> CheckedResources:
    """Check such a message as ``check`` does for events; ProtocolError if it is invalid.

    ``implied`` returns the members of an event that follow from the plan, None if they do not.
    """
    number, at, rows = message.get("id"), message.get("at"), message.get("rows")
    if message.keys() != _MESSAGE or type(at) is not int or type(number) is not int:
        raise _wrong(check)
    noop, prediction = message["noop"], message["prediction"]
    if rows_problem(noop, prediction, rows) or not 0 <= number <= _HIGHEST - MAX_ROWS:
        raise _wrong(check)
    assert isinstance(rows, list)
    check.require_next(message["seq"], encode_id(number))
    if not 0 <= at < LATEST - sum(row[1] for row in rows) // 1000:
        raise _wrong(check)
    again, texts = 0, []
    for row in rows:
        again += check.take_turn(row[0])
        texts.append(_implied(check, row, implied))
    check.counted(len(rows), encode_id(number + len(rows) - 1))
    plain_rows = [[index, duration, *map(_plain, rest)] for index, duration, *rest in rows]
    host, run_id = check.origin
    unchanged = UnchangedResources(
        host,
        run_id,
        number,
        at,
        noop=noop,
        prediction=prediction,
        rows=plain_rows,
        implied=tuple(texts),
    )
    return CheckedResources(unchanged, again)


def _implied(
    check: EventCheck, row: list[Any], implied: Callable[[int], PlannedFields | None]
) -> str:
    """The members that the plan implies for the resource of a row; the row has the others."""
    of_plan = implied(row[0])
    says_requested = len(row) == 5 and row[4] is not None
    if of_plan is None or of_plan.ensures == says_requested:
        raise _wrong(check)
    return of_plan.text


def _plain(text: str | None) -> str | None:
    return None if text is None else plain(text)


def _wrong(check: EventCheck) -> ProtocolError:
    return refuse(f"event {check.count + 1}: the batch of unchanged resources is invalid")
