"""Turns of stable resources as a run's folder keeps them."""

import json
from typing import Any

import pytest

from orchestrator.fleet.event_check import kept_problem
from orchestrator.fleet.stable_turns import (
    PREFIX,
    Implied,
    StableGroup,
    StableTurns,
    read_line,
)
from tests.orchestrator.fleet.fakes import implied_file

KNOWN = [implied_file(f"/{n}") for n in range(6)]
TOLD = {"provider": "posix", "noop": False}


def turns(*numbers: int) -> StableTurns:
    """Of these files, each but the first with a group of its own."""
    groups = [StableGroup(0, TOLD, [5, 7], (KNOWN[4], KNOWN[5]))]
    groups += [StableGroup(n, {**TOLD, "final_ensure": "x"}, [n], (KNOWN[n],)) for n in numbers]
    return StableTurns("web1", "run-1", 1 << 100, 1795390122775418, tuple(groups))


def test_a_line_is_read_back_as_the_same_events() -> None:
    """What is kept comes to the events that were told, with the same ids and times."""
    told = turns(1, 3)
    line = told.line(KNOWN.index)
    assert line.startswith(PREFIX)
    read = read_line(line, "run-1", lambda number: KNOWN[number].members)
    assert list(read.events()) == list(told.events()) == list(told.events())
    assert [kept_problem(event) for event, _ in read.events()] == [""] * 4
    for event, text in told.events():
        assert json.loads(text) == event


@pytest.mark.parametrize(
    "damage",
    [
        {"groups": 7},
        {"groups": [{"durations": [1], "resources": [[0, 10**12]], **TOLD}]},
        {"groups": [{"durations": [1], "resources": [["x", 1]], **TOLD}]},
        {"groups": [{"durations": [1], "resources": [[9, 1]], **TOLD}]},
        {"groups": [{"durations": [1], "resources": [[0, 1]]}]},
        {"at": 10**30},
        {"id": "x"},
    ],
)
def test_a_damaged_line_is_no_defect(damage: dict[str, Any]) -> None:
    """Whatever is wrong with a line, it is told as that."""
    told = json.loads(turns().line(KNOWN.index))["stable"]
    line = json.dumps({"stable": {**told, **damage}})
    with pytest.raises((ValueError, LookupError, TypeError, AttributeError, OverflowError)):
        list(read_line(line, "run-1", lambda number: KNOWN[number].members).events())


def test_what_is_implied_is_known_by_what_it_is() -> None:
    """Two that say the same are two: only that one and the same is held once counts."""
    assert Implied({}) != Implied({})
