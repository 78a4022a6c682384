"""Checks what a host tells of resources that are as desired (controller, on the hot path)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from orchestrator.fleet.event_check import MAX_DURATION, EventCheck, refuse
from orchestrator.fleet.stable_turns import Implied, StableGroup, StableTurns
from orchestrator.support.plain_text import plain
from remote_runtime import wire
from remote_runtime.errors import ProtocolError
from remote_runtime.events import spelt_out
from remote_runtime.expansion import LATEST
from remote_runtime.stable import CERTAIN, LONGEST, MOST_TURNS

_MESSAGE = frozenset(["t", "seq", "id", "at", "groups"])
_TOLD = frozenset(["provider", "noop", "final_ensure", "requested_ensure", "prediction"])
_HIGHEST = 1 << 130  # what 26 characters hold


class CheckedTurns(NamedTuple):
    """Turns that may be shown and kept, and how many of them were about a resource that had one."""

    turns: StableTurns
    again: int


def check_stable(
    check: EventCheck,
    message: wire.Message,
    implied: Callable[[int, int], Sequence[Implied | None]],
) -> CheckedTurns:
    """Take such a message as ``check`` takes events; ProtocolError if it is wrong.

    ``implied`` says what the plan has of so many resources from an index on, None where it does not
    say all of one.
    """
    number, at, groups = message.get("id"), message.get("at"), message.get("groups")
    if message.keys() != _MESSAGE or type(at) is not int or type(groups) is not list:
        raise _wrong(check)
    if type(number) is not int or not 0 <= number <= _HIGHEST - MOST_TURNS:
        raise _wrong(check)
    check.require_next(message["seq"], spelt_out(number))
    found = []
    total = again = elapsed = 0
    for group in groups:
        index, durations, told = _read(check, group)
        total += len(durations)
        elapsed += sum(durations)
        if total > MOST_TURNS:
            raise _wrong(check)
        again += check.take_turns(index, len(durations))
        found.append(_placed(check, index, durations=durations, told=told, implied=implied))
    if not total or not 0 <= at < LATEST - elapsed // 1000:
        raise _wrong(check)
    check.counted(total, spelt_out(number + total - 1))
    return CheckedTurns(StableTurns(*check.origin, number, at, tuple(found)), again)


def _read(check: EventCheck, group: Any) -> tuple[int, list[int], dict[str, Any]]:
    """The index, the durations and what else a group says."""
    if type(group) is not dict:
        raise _wrong(check)
    told = {**group}
    index, durations = told.pop("index", None), told.pop("durations", None)
    right = (
        type(index) is int
        and index >= 0
        and type(durations) is list
        and 0 < len(durations) <= MOST_TURNS
        and all(type(each) is int and 0 <= each <= MAX_DURATION for each in durations)
        and told.keys() <= _TOLD
        and type(told.pop("noop", None)) is bool
        and "provider" in told
        and told.get("prediction", CERTAIN) == CERTAIN
        and all(type(text) is str and len(text) <= LONGEST for text in told.values())
    )
    if not right:
        raise _wrong(check)
    shown = {key: plain(text) for key, text in told.items()}
    return index, durations, {**shown, "noop": group["noop"]}


def _placed(
    check: EventCheck,
    index: int,
    *,
    durations: list[int],
    told: dict[str, Any],
    implied: Callable[[int, int], Sequence[Implied | None]],
) -> StableGroup:
    """A group with what the plan implies, which says the rest."""
    forms, own = [], []
    is_told = "requested_ensure" in told
    for of_plan in implied(index, len(durations)):
        if of_plan is None or of_plan.ensures == is_told:
            raise _wrong(check)
        forms.append(of_plan.form)
        if of_plan.own:
            own.append(of_plan.own)
    return StableGroup(
        first=index, told=told, durations=durations, forms=tuple(forms), own=",".join(own)
    )


def _wrong(check: EventCheck) -> ProtocolError:
    return refuse(f"event {check.count + 1}: stable resources are not told as they must be")
