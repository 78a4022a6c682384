"""Conditions on the counters of a plan, such as ``removes>0,reboots>3`` (controller)."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from orchestrator.plan_files.counters import COUNTERS
from orchestrator.support.plain_text import one_line
from remote_runtime.errors import UsageError
from remote_runtime.text.suggestions import nearest

OPERATORS: dict[str, Callable[[int, int], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
MAX_CONDITIONS = 100  # conditions of a list
_WORD = r"[^\s<>=!,]*"
_CONDITION = re.compile(rf"\s*({_WORD})\s*([<>=!]*)\s*([^\s,]*)\s*\Z")
_NUMBER = re.compile(r"\d{1,12}\Z", re.ASCII)
_FORM = "write COUNTER>NUMBER, such as removes>0,reboots>3"


class Condition(NamedTuple):
    """A plan is denied if this is true for one of its counters."""

    counter: str
    operator: str
    limit: int

    def __str__(self) -> str:
        return f"{self.counter}{self.operator}{self.limit}"

    def holds(self, counters: Mapping[str, int]) -> bool:
        """Whether it is true."""
        return OPERATORS[self.operator](counters[self.counter], self.limit)


def parse_conditions(text: str, option: str) -> list[Condition]:
    """The conditions in a comma-separated list. UsageError names the ``option`` and
    the position.
    """
    conditions, at = [], 1
    for part in text.split(","):
        conditions.append(_parsed(part, option, at))
        at += len(part) + 1
    if len(conditions) > MAX_CONDITIONS:
        raise UsageError(
            f"{option} has more than {MAX_CONDITIONS} conditions", hint="use fewer conditions"
        )
    return conditions


def _parsed(part: str, option: str, at: int) -> Condition:
    match = _CONDITION.match(part)
    if match is None or not part.strip():
        at += len(part) - len(part.lstrip())
        told = f"not {one_line(part, 40)!r}" if part.strip() else "but there is none"
        raise UsageError(f"{option}: expected a condition at character {at}, {told}", hint=_FORM)
    counter, sign, limit = match.groups()
    if counter not in COUNTERS:
        where = f"at character {at + match.start(1)}"
        if not counter:
            raise UsageError(f"{option}: expected a counter {where}", hint=_known())
        likely = nearest(counter, COUNTERS)
        raise UsageError(
            f"{option}: unknown counter {one_line(counter, 40)!r} {where}",
            hint=f"did you mean {likely}?" if likely else _known(),
        )
    if sign not in OPERATORS:
        told = f", not {sign!r}" if sign else ""
        raise UsageError(
            f"{option}: expected an operator at character {at + match.start(2)}{told}",
            hint="use >, >=, <, <=, == or !=, such as removes>0",
        )
    if not _NUMBER.match(limit):
        told = f", not {one_line(limit, 40)!r}" if limit else ""
        raise UsageError(
            f"{option}: expected a number at character {at + match.start(3)}{told}", hint=_FORM
        )
    return Condition(counter, sign, int(limit))


def _known() -> str:
    return f"counters: {', '.join(COUNTERS)}"


class Verdict(NamedTuple):
    """The result of the conditions of a check.

    ``denied`` has the conditions that are true. ``uncounted`` has counters for changes that the
    others do not cover, if they are not 0 and no condition names them.
    """

    counters: Mapping[str, int]
    conditions: Sequence[Condition]
    denied: Sequence[Condition]
    uncounted: Sequence[str]


_BLIND = ("unknown", "commands", "left_out")


def evaluate(counters: Mapping[str, int], conditions: Sequence[Condition]) -> Verdict:
    """Whether a plan with these counters is denied, and the changes that the conditions do not
    cover."""
    named = {one.counter for one in conditions}
    uncounted = [name for name in _BLIND if counters[name] and name not in named]
    return Verdict(counters, conditions, [c for c in conditions if c.holds(counters)], uncounted)
