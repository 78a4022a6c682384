"""What a host may tell of resources that are as desired, and what it may not."""

import copy
import json
import random
from typing import Any

import pytest

from orchestrator.fleet.event_check import EventCheck
from orchestrator.fleet.stable_check import CheckedTurns, check_stable
from orchestrator.fleet.stable_turns import Implied
from remote_runtime.errors import ProtocolError
from remote_runtime.events import spelt_out
from remote_runtime.expansion import LATEST
from remote_runtime.stable import MOST_TURNS
from tests.orchestrator.fleet.fakes import file_form, file_text, make_event

NAMES = ["/a", "/b", "/c", "/d"]
FIRST = 1 << 120


def stable(*groups: dict[str, Any], seq: Any = 1, **changed: Any) -> dict[str, Any]:
    """A message of a target."""
    message = {"t": "stable", "seq": seq, "id": FIRST, "at": 1795390122775418}
    return {**message, "groups": list(groups), **changed}


def group(index: Any = 0, durations: Any = (10, 20), **changed: Any) -> dict[str, Any]:
    return {
        "index": index, "durations": list(durations), "provider": "posix", "noop": False, **changed
    }  # fmt: skip


class Host:
    """What is known of a host with these files."""

    def __init__(self, *names: str) -> None:
        self.known: list[Implied | None] = [Implied(file_form(name), "", True) for name in names]
        self.check = EventCheck("web1", "run-1", planned=[f"file#{name}" for name in names])

    def told(self, message: dict[str, Any]) -> CheckedTurns:
        return check_stable(self.check, message, lambda at, count: self.known[at : at + count])


def refusal(message: dict[str, Any], *names: str) -> str:
    with pytest.raises(ProtocolError) as caught:
        Host(*(names or NAMES)).told(message)
    return caught.value.kind


def test_turns_are_the_events_that_they_stand_for() -> None:
    """Each resource is named, counted and due no longer; the next event counts on."""
    host = Host(*NAMES)
    checked = host.told(stable(group(0), group(3, [30], final_ensure="x\x1b[2J")))
    events = [event for event, _ in checked.turns.events()]
    assert [event["name"] for event in events] == ["/a", "/b", "/d"]
    assert [event["final_ensure"] for event in events] == ["present", "present", "x"]
    assert {(event["host"], event["run_id"]) for event in events} == {("web1", "run-1")}
    assert (checked.turns.total, checked.again, host.check.unheard) == (3, 0, 1)
    last = make_event(name="/c", event_id=events[-1]["event_id"])
    with pytest.raises(ProtocolError, match="sent before"):
        host.check.check(4, last)
    assert host.check.check(4, {**last, "event_id": spelt_out(FIRST + 3)}).again is False


def test_values_of_a_host_stand_in_the_order_of_its_resources() -> None:
    """What resources have of their own is told with the group, whatever stands between them."""
    host = Host(*NAMES)
    host.known[0] = Implied.alone(file_text("/own"), ensures=True)
    host.known[2] = Implied(file_form("/cut", 2), '"x",{"y":[7]}', True)
    events = [event for event, _ in host.told(stable(group(0, [1] * 4))).turns.events()]
    assert [event["name"] for event in events] == ["/own", "/b", "/cut", "/d"]
    assert events[2]["properties"] == {"ensure": "present", "v0": "x", "v1": {"y": [7]}}


def test_two_equal_resources_are_told_once_each() -> None:
    """The same resource in two manifests has two turns, of which the second is told again."""
    assert Host("/a", "/b", "/a").told(stable(group(0, [1, 1, 1]))).again == 1
    assert refusal(stable(group(0), group(0)), "/a", "/b", "/a") == "protocol.event"


@pytest.mark.parametrize(
    "message",
    [
        stable(group(3)),
        stable(group(4, [1])),
        stable(group(-1)),
        stable(group(10**60)),
        stable(group(True)),
        stable(group(0), group(1)),
        stable(group(0, [])),
        stable(),
        stable(group(0, [-1])),
        stable(group(0, [1.5])),
        stable(group(0, [float("nan")])),
        stable(group(0, [10**60])),
        stable(group(0, [True])),
        stable(group(0, [1, 10**18]), at=LATEST - 10**14),
        stable(group(provider=7)),
        stable(group(provider="x" * 201)),
        stable(group(final_ensure="x" * 201)),
        stable(group(noop=0)),
        stable(group(prediction="unknown")),
        stable(group(requested_ensure="present")),
        stable(group(status="stable")),
        stable(group(), at=-1),
        stable(group(), at=LATEST),
        stable(group(), at=1e15),
        stable(group(), at=float("inf")),
        stable(group(), id=1 << 130),
        stable(group(), id="01J0000000000000000000000A"),
        stable(group(), host="web2"),
    ],
)
def test_a_lie_is_refused(message: dict[str, Any]) -> None:
    """Resources that the plan does not have, told twice or not told as they must be."""
    assert refusal(message) == "protocol.event"


def test_a_flood_is_refused() -> None:
    """One message has only so many turns, and a plan only so many resources."""
    names = [f"/{n}" for n in range(2 * MOST_TURNS)]
    half = MOST_TURNS // 2 + 1
    assert refusal(stable(group(0, [1] * (MOST_TURNS + 1))), *names) == "protocol.event"
    twice = stable(group(0, [1] * half), group(half, [1] * half))
    assert refusal(twice, *names) == "protocol.event"


@pytest.mark.parametrize("seq", [0, 2, "1", True, None])
def test_a_gap_in_the_sequence_is_refused(seq: Any) -> None:
    """Turns count as the events that they stand for."""
    assert refusal(stable(group(), seq=seq)) == "protocol.sequence"


def test_what_was_told_is_not_told_again() -> None:
    """A message that was sent before is refused, and so is an event of what it told."""
    host = Host(*NAMES)
    host.told(stable(group(0)))
    with pytest.raises(ProtocolError, match="sent before"):
        host.told(stable(group(2), seq=3))
    with pytest.raises(ProtocolError, match="not due"):
        host.check.check(3, make_event(name="/a", event_id=spelt_out(FIRST + 9)))


def test_what_was_told_whole_is_not_told_with_others() -> None:
    """By its name or by its index, each resource is due once, whatever else was told before."""
    host = Host(*NAMES)
    host.told(stable(group(0, [1])))
    host.check.check(2, make_event(name="/c", event_id=spelt_out(FIRST + 1)))
    assert host.check.unheard == 2
    host.told(stable(group(1, [1]), seq=3, id=FIRST + 2))
    assert host.check.unheard == 1
    with pytest.raises(ProtocolError, match="not due"):
        host.told(stable(group(2, [1]), seq=4, id=FIRST + 3))


def test_what_the_plan_does_not_say_has_to_be_told_whole() -> None:
    """A resource whose event has more than the plan knows, and a state that nobody names."""
    host = Host(*NAMES)
    host.known[1] = None
    with pytest.raises(ProtocolError):
        host.told(stable(group(0)))
    host = Host(*NAMES)
    known = host.known[0]
    assert known is not None
    host.known[0] = known._replace(ensures=False)
    with pytest.raises(ProtocolError):
        host.told(stable(group(0, [1])))


def test_random_mutations_never_raise_anything_else() -> None:
    """Whatever stands in a message, the check answers or refuses; it does not break."""
    chance = random.Random(7)
    wrong = [None, True, -1, 1.5, "", "x", [], ["x"], [[1]], {}, {"a": 1}, 10**400, float("nan")]
    refused = 0
    for _ in range(3000):
        message = copy.deepcopy(stable(group(0), group(3, [1], final_ensure="x")))
        holders: list[Any] = [message, *message["groups"], message["groups"][0]["durations"]]
        holder = chance.choice(holders)
        key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if isinstance(holder, dict) and chance.random() < 0.2:
            holder[chance.choice("xyz")] = holder.pop(key)
        else:
            holder[key] = chance.choice(wrong)
        try:
            for _event, line in Host(*NAMES).told(message).turns.events():
                json.loads(line)
        except ProtocolError:
            refused += 1
    assert refused > 1000
