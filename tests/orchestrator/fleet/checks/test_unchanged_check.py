"""What a host may tell of resources that are as desired, and what it may not."""

import copy
import json
import random
from typing import Any

import pytest

from orchestrator.fleet.checks.event_check import EventCheck
from orchestrator.fleet.checks.unchanged_resources import (
    PlannedFields,
    UnchangedResources,
    check_unchanged,
)
from remote_runtime.errors import ProtocolError
from remote_runtime.protocol.unchanged_batch import MAX_ROWS
from remote_runtime.protocol.unchanged_events import LATEST
from remote_runtime.reporting.events import encode_id
from tests.orchestrator.fleet.fakes import file_text, make_event

NAMES = ["/a", "/b", "/c", "/d"]
FIRST = 1 << 120


def stable(*rows: Any, seq: Any = 1, **changed: Any) -> dict[str, Any]:
    """A message of a target."""
    message = {"t": "stable", "seq": seq, "id": FIRST, "at": 1795390122775418}
    return {**message, "noop": False, "prediction": "", "rows": list(rows), **changed}


def row(index: Any = 0, duration: Any = 10, provider: Any = "posix", *states: Any) -> list[Any]:
    return [index, duration, provider, *states]


class Host:
    """What is known of a host with these files."""

    def __init__(self, *names: str) -> None:
        self.known: list[PlannedFields | None] = [
            PlannedFields(file_text(name), True) for name in names
        ]
        self.check = EventCheck("web1", "run-1", planned=[f"file#{name}" for name in names])

    def told(self, message: dict[str, Any]) -> tuple[UnchangedResources, int]:
        return check_unchanged(self.check, message, self.known.__getitem__)


def refusal(message: dict[str, Any], *names: str) -> str:
    with pytest.raises(ProtocolError) as caught:
        Host(*(names or NAMES)).told(message)
    return caught.value.kind


def test_rows_are_the_events_that_they_stand_for() -> None:
    """Each resource is named, counted and due no longer; the next event counts on."""
    host = Host(*NAMES)
    unchanged, again = host.told(
        stable(row(0), row(1), row(3, 30, "po\x1b[2Jsix", "x\x1b[2J", None))
    )
    events = [event for event, _ in unchanged.events()]
    assert [event["name"] for event in events] == ["/a", "/b", "/d"]
    assert [event["final_ensure"] for event in events] == ["present", "present", "x"]
    assert {event["provider"] for event in events} == {"posix"}
    assert {(event["host"], event["run_id"]) for event in events} == {("web1", "run-1")}
    assert (unchanged.total, again, host.check.unreported) == (3, 0, 1)
    last = make_event(name="/c", event_id=events[-1]["event_id"])
    with pytest.raises(ProtocolError, match="duplicate"):
        host.check.check(4, last)
    assert host.check.check(4, {**last, "event_id": encode_id(FIRST + 3)}).again is False


def test_a_preview_says_so_of_each_resource() -> None:
    """What a message says of all its rows stands in each event."""
    message = stable(row(0), row(2), noop=True, prediction="certain")
    events = [event for event, _ in Host(*NAMES).told(message)[0].events()]
    assert [(event["noop"], event["prediction"]) for event in events] == [(True, "certain")] * 2


def test_two_equal_resources_are_told_once_each() -> None:
    """The same resource in two manifests has two turns, of which the second is told again."""
    assert Host("/a", "/b", "/a").told(stable(row(0), row(1), row(2)))[1] == 1
    assert refusal(stable(row(0), row(0)), "/a", "/b", "/a") == "protocol.event"


@pytest.mark.parametrize(
    "message",
    [
        stable(row(4)),
        stable(row(-1)),
        stable(row(10**60)),
        stable(row(True)),
        stable(row(0), row(1), row(0)),
        stable(),
        stable(row(0, -1)),
        stable(row(0, 1.5)),
        stable(row(0, float("nan"))),
        stable(row(0, 10**60)),
        stable(row(0, True)),
        stable(row(0, 1), row(1, 10**18), at=LATEST - 10**14),
        stable(row(0, 1, 7)),
        stable(row(0, 1, "x" * 201)),
        stable(row(0, 1, "x", "x" * 201, None)),
        stable(row(0, 1, "x", None, 7)),
        stable(row(0, 1, "x", "y")),
        stable(row(0, 1, "x", None, "present")),
        stable(row(0, 1, "x", None, None, None)),
        stable([0, 1]),
        stable("row"),
        stable(rows=7),
        stable(row(), noop=0),
        stable(row(), prediction="unknown"),
        stable(row(), prediction=None),
        stable(row(), prediction=[]),
        stable(row(), status="stable"),
        stable(row(), at=-1),
        stable(row(), at=LATEST),
        stable(row(), at=1e15),
        stable(row(), at=float("inf")),
        stable(row(), id=1 << 130),
        stable(row(), id="01J0000000000000000000000A"),
        stable(row(), host="web2"),
    ],
)
def test_a_lie_is_refused(message: dict[str, Any]) -> None:
    """Resources that the plan does not have, told twice or not told as they must be."""
    assert refusal(message) == "protocol.event"


def test_a_flood_is_refused() -> None:
    """One message has only so many rows, and a plan only so many resources."""
    names = [f"/{n}" for n in range(2 * MAX_ROWS)]
    assert refusal(stable(*map(row, range(MAX_ROWS + 1))), *names) == "protocol.event"
    host = Host(*names)
    assert host.told(stable(*map(row, range(MAX_ROWS))))[0].total == MAX_ROWS


@pytest.mark.parametrize("seq", [0, 2, "1", True, None])
def test_a_gap_in_the_sequence_is_refused(seq: Any) -> None:
    """Turns count as the events that they stand for."""
    assert refusal(stable(row(), seq=seq)) == "protocol.sequence"


def test_what_was_told_is_not_told_again() -> None:
    """A message that was sent before is refused, and so is an event of what it told."""
    host = Host(*NAMES)
    host.told(stable(row(0), row(1)))
    with pytest.raises(ProtocolError, match="duplicate"):
        host.told(stable(row(2), seq=3))
    with pytest.raises(ProtocolError, match="not expected"):
        host.check.check(3, make_event(name="/a", event_id=encode_id(FIRST + 9)))


def test_what_was_told_whole_is_not_told_with_others() -> None:
    """By its name or by its index, each resource is due once, whatever else was told before."""
    host = Host(*NAMES)
    host.told(stable(row(0)))
    host.check.check(2, make_event(name="/c", event_id=encode_id(FIRST + 1)))
    assert host.check.unreported == 2
    host.told(stable(row(1), seq=3, id=FIRST + 2))
    assert host.check.unreported == 1
    with pytest.raises(ProtocolError, match="not expected"):
        host.told(stable(row(2), seq=4, id=FIRST + 3))


def test_what_the_plan_does_not_say_has_to_be_told_whole() -> None:
    """A resource whose event has more than the plan knows, and a state that nobody names."""
    host = Host(*NAMES)
    host.known[1] = None
    with pytest.raises(ProtocolError):
        host.told(stable(row(0), row(1)))
    host = Host(*NAMES)
    known = host.known[0]
    assert known is not None
    host.known[0] = known._replace(ensures=False)
    with pytest.raises(ProtocolError):
        host.told(stable(row(0)))


def test_random_mutations_never_raise_anything_else() -> None:
    """Whatever stands in a message, the check answers or refuses; it does not break."""
    chance = random.Random(7)
    wrong = [None, True, -1, 1.5, "", "x", [], ["x"], [[1]], {}, {"a": 1}, 10**400, float("nan")]
    refused = 0
    for _ in range(3000):
        message = copy.deepcopy(stable(row(0), row(3, 1, "posix", "x", None)))
        holders: list[Any] = [message, message["rows"], *message["rows"]]
        holder = chance.choice(holders)
        key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if isinstance(holder, dict) and chance.random() < 0.2:
            holder[chance.choice("xyz")] = holder.pop(key)
        else:
            holder[key] = chance.choice(wrong)
        try:
            for _event, line in Host(*NAMES).told(message)[0].events():
                json.loads(line)
        except ProtocolError:
            refused += 1
    assert refused > 1000
