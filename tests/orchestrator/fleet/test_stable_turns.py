"""Turns of stable resources as a run's folder keeps them."""

import json
from typing import Any

import pytest

from orchestrator.fleet.event_check import kept_problem
from orchestrator.fleet.stable_turns import (
    PREFIX,
    WHOLE,
    Form,
    Numbering,
    StableGroup,
    StableTurns,
    forms_of,
    read_line,
)
from tests.orchestrator.fleet.fakes import file_form, mixed_turns

KNOWN = [file_form(f"/{n}") for n in range(6)]
TOLD = {"provider": "posix", "noop": False}


def numbered() -> Numbering:
    """Numbers of these files, in their order."""
    numbering = Numbering()
    assert numbering.spans(tuple(KNOWN)) == [(0, 6)]
    return numbering


def turns(*numbers: int) -> StableTurns:
    """Of these files, each but the first with a group of its own."""
    groups = [StableGroup(0, TOLD, [5, 7], (KNOWN[4], KNOWN[5]))]
    groups += [StableGroup(n, {**TOLD, "final_ensure": "x"}, [n], (KNOWN[n],)) for n in numbers]
    return StableTurns("web1", "run-1", 1 << 100, 1795390122775418, tuple(groups))


def test_a_line_is_read_back_as_the_same_events() -> None:
    """What is kept comes to the events that were told, with the same ids and times."""
    told = turns(1, 3)
    line = told.line(numbered())
    assert line.startswith(PREFIX)
    read = read_line(line, "run-1", KNOWN.__getitem__)
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
        {"groups": [{"durations": [1], "resources": [[-2, 1]], **TOLD}]},
        {"groups": [{"durations": [1], "resources": [[-1, 1]], **TOLD}]},
        {"groups": [{"durations": [1], "resources": [[-1, 1]], "own": [7], **TOLD}]},
        {"groups": [{"durations": [1], "resources": [[0, 1]], "own": [{}], **TOLD}]},
        {"groups": [{"durations": [1], "resources": [[9, 1]], **TOLD}]},
        {"groups": [{"durations": [1], "resources": [[0, 1]]}]},
        {"at": 10**30},
        {"id": "x"},
    ],
)
def test_a_damaged_line_is_no_defect(damage: dict[str, Any]) -> None:
    """Whatever is wrong with a line, it is told as that."""
    told = json.loads(turns().line(numbered()))["stable"]
    line = json.dumps({"stable": {**told, **damage}})
    with pytest.raises((ValueError, LookupError, TypeError, AttributeError, OverflowError)):
        list(read_line(line, "run-1", KNOWN.__getitem__).events())


def test_values_of_a_host_are_kept_with_its_line() -> None:
    """What other hosts have not stands in the line; what they have goes by its number."""
    told, expected = mixed_turns("web1")
    numbering = Numbering()
    line = told.line(numbering)
    assert WHOLE.line not in numbering.new
    read = read_line(line, told.run_id, list(map(Form.read, numbering.new)).__getitem__)
    assert list(read.events()) == list(told.events())
    shown = [{key: event[key] for key in ("name", "properties")} for event, _ in told.events()]
    assert shown == expected


@pytest.mark.parametrize("line", ["[]", '["x"]', '["x",7]', "["])
def test_what_is_no_form_is_an_error(line: str) -> None:
    """A damaged line is told as that."""
    with pytest.raises(ValueError, match=r"(?i)expect"):
        Form.read(line)


def test_numbers_of_those_that_follow_are_a_span() -> None:
    """What has no number is counted, and never taken for the one before the first."""
    numbering = Numbering()
    forms = KNOWN[0], KNOWN[1], WHOLE, WHOLE, KNOWN[0], WHOLE, KNOWN[0], KNOWN[1], KNOWN[2]
    assert numbering.spans(forms) == [(0, 2), (-1, 2), (0, 1), (-1, 1), (0, 3)]
    assert numbering.new == [form.line for form in KNOWN[:3]]
    assert forms_of(numbering.spans(forms), 9, KNOWN.__getitem__) == forms
    numbering.forget()
    assert numbering.spans((KNOWN[1], WHOLE)) == [(3, 1), (-1, 1)]
    numbering.forget(first=0)
    assert numbering.spans((KNOWN[1],)) == [(0, 1)]
