"""Resources that are as desired, as a run's directory keeps them."""

import json
from typing import Any

import pytest

from orchestrator.fleet.checks.event_check import stored_event_problem
from orchestrator.fleet.checks.unchanged_resources import (
    PREFIX,
    TextNumbers,
    UnchangedResources,
    read_line,
)
from tests.orchestrator.fleet.fakes import file_text, unchanged

RUN = "20260314T091502Z-aaaaaa"


def kept() -> tuple[str, list[str], UnchangedResources]:
    """A line, the texts that it names, and what it is of."""
    told = unchanged("web1", "/a", "/b", "/a", "/tab\t\u263a and line\n")
    told.rows[2] += ["x", None]
    numbers = TextNumbers()
    return told.line(numbers), numbers.new, told


def test_a_line_is_read_back_as_the_same_events() -> None:
    """What is kept comes to the events that were told, with the same ids and times."""
    line, texts, told = kept()
    assert line.startswith(PREFIX)
    assert len(texts) == 3
    read = read_line(line, RUN, texts.__getitem__)
    assert read == told
    assert list(read.events()) == list(told.events()) == list(told.events())
    assert [stored_event_problem(event) for event, _ in read.events()] == [""] * 4
    assert [event["final_ensure"] for event, _ in read.events()] == ["present"] * 2 + [
        "x",
        "present",
    ]
    for event, text in told.events():
        assert json.loads(text) == event


@pytest.mark.parametrize(
    "damage",
    [
        {"rows": 7},
        {"rows": []},
        {"rows": [[0, 1, "posix"]] * 201},
        {"rows": [[0, 1, "posix"]]},
        {"rows": [[0, -1, "posix"]] * 4},
        {"rows": [[-1, 1, "posix"]] * 4},
        {"rows": [[0, 1, 7]] * 4},
        {"rows": [[0, 1]] * 4},
        {"rows": [[0, 1, "x" * 201]] * 4},
        {"resources": [0, 1]},
        {"resources": [0, 1, 2, -1]},
        {"resources": [0, 1, 2, 9]},
        {"resources": [0, 1, 2, "x"]},
        {"noop": 0},
        {"prediction": "unknown"},
        {"at": 10**30},
        {"at": "x"},
        {"id": "x"},
    ],
)
def test_a_damaged_line_is_no_defect(damage: dict[str, Any]) -> None:
    """Whatever is wrong with a line, it is told as that."""
    line, texts, _ = kept()
    told = json.loads(line)["stable"]
    line = json.dumps({"stable": {**told, **damage}})
    with pytest.raises((ValueError, LookupError, TypeError, AttributeError, OverflowError)):
        list(read_line(line, RUN, texts.__getitem__).events())


def test_each_text_has_one_number() -> None:
    """Numbers go on, or begin anew, where it is forgotten which there were."""
    numbers, (one, other) = TextNumbers(), map(file_text, ("/a", "/b"))
    assert [numbers.of(text) for text in (one, other, one)] == [0, 1, 0]
    assert numbers.new == [one, other]
    numbers.forget()
    assert (numbers.of(other), len(numbers)) == (2, 1)
    numbers.forget(first=0)
    assert numbers.of(other) == 0
