"""What a worker tells, as the controller hears it."""

import json
import socket
from typing import Any

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.workers import event_receiver, event_sender
from orchestrator.workers.channel import Channel
from orchestrator.workers.event_receiver import DecodedEvent, EventReceiver
from orchestrator.workers.event_sender import EventSender
from tests.orchestrator.fleet.fakes import file_text, make_event, unchanged

RUN = "20260314T091502Z-aaaaaa"
FAILED = run_events.ResourceEvent(
    "web1", made := make_event(status="failed", error=["no\tway\n"]), event_sender._encode(made)
)
EVENTS: list[DecodedEvent] = [
    run_events.HostPhase("web1", Phase.RUNNING, 12.5, ((Phase.PLANNING, 12.25),)),
    run_events.HostPlanned("web1", ("file#/a", "exec#é"), (("exec#é", ("file#/a",)),)),
    run_events.HostPlanned("web3", ("apply#a", "file#/a"), (), (), (("apply#a", ("file#/a",)),)),
    run_events.HostPlanned("web2", ("file#/a", "exec#é"), (("exec#é", ("file#/a",)),)),
    run_events.ResourceProgress("web1", "file#/a", "writing", 13.0),
    run_events.HostNotice("web1", "warning", "tab\there", waits=True),
    FAILED,
    run_events.HostPlanPart("web1", {"items": [["file#/a", "0f" * 32, ""]], "files": ["a\tb"]}),
]


def outbox() -> tuple[EventSender, Channel]:
    """An outbox that sends at once, and where its messages come."""
    ours, theirs = socket.socketpair()
    box = EventSender(Channel(theirs), gathering=0.0)
    box.start()
    return box, Channel(ours)


def received(
    channel: Channel, box: EventSender, receiver: EventReceiver | None = None
) -> list[DecodedEvent]:
    """All that an outbox tells until it is closed."""
    box.close()
    box._channel.close()
    reader, found = receiver or EventReceiver(RUN), []
    try:
        while text := channel.receive():
            found += [reader.event(line) for line in text.split("\n")]
    except EOFError:
        return [event for event in found if event is not None]
    raise AssertionError("an end was due")


def test_events_arrive_as_they_were() -> None:
    """Phases, plans, progress, notices, events and what is kept are the same on the other side."""
    box, channel = outbox()
    for event in EVENTS:
        box.handle(event)
    assert received(channel, box) == EVENTS


def test_a_result_arrives_as_it_was() -> None:
    """What a host came to has the same record there."""
    box, channel = outbox()
    result = HostResult("web1", Tally(), "failed", "k", "m", phases=((Phase.CONNECTING, 1.5),))
    box.handle(run_events.HostFinished(result))
    (finished,) = received(channel, box)
    assert isinstance(finished, run_events.HostFinished)
    assert finished.result.record() == result.record()


def shown(event: Any) -> list[dict[str, Any]]:
    return [told for told, _ in event.unchanged.events()]


def test_what_plans_have_in_common_is_told_once() -> None:
    """Resources of a second host go by their numbers, and come to the same events."""
    box, channel = outbox()
    turns = [unchanged(host, "/a", "/b") for host in ("web1", "web2")]
    for each in turns:
        box.handle(run_events.ResourcesStable(each.host, each))
    box.close()
    box._channel.close()
    lines = []
    while text := channel.receive():
        lines += text.split("\n")
        if len(lines) == 3:
            break
    assert [line[0] for line in lines] == ["i", "s", "s"]
    reader = EventReceiver(RUN)
    found = [event for line in lines if (event := reader.event(line)) is not None]
    assert [shown(event) for event in found] == [[e for e, _ in each.events()] for each in turns]


def test_numbers_begin_anew_before_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither side holds more than so many resources, and none is mistaken for another."""
    monkeypatch.setattr(event_sender, "MAX_NUMBERED", 2)
    box, channel = outbox()
    names = [("/a", "/b"), ("/c", "/d"), ("/a", "/e")]
    turns = [unchanged("web1", *each) for each in names]
    for each in turns:
        box.handle(run_events.ResourcesStable("web1", each))
        box.handle(
            run_events.HostPlanned(
                "web1", (shown(run_events.ResourcesStable("web1", each))[0]["name"],)
            )
        )
    reader = EventReceiver(RUN)
    found = received(channel, box, reader)
    told = [event for event in found if isinstance(event, run_events.ResourcesStable)]
    assert [tuple(e["name"] for e in shown(event)) for event in told] == names
    assert len(reader._texts) == 2


@pytest.mark.parametrize("kind", ["i", "n"])
def test_what_a_worker_numbers_has_an_end(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that never begins anew would fill the controller's memory."""
    monkeypatch.setattr(event_receiver, "MAX_NUMBERED", 3)
    monkeypatch.setattr(event_receiver, "_MAX_TEXTS", 3)
    line = "i" + file_text("/a") if kind == "i" else 'n[["a"],[],[],[]]'
    reader = EventReceiver(RUN)
    for each in [line, line, line, "c" + kind, line, line, line]:
        assert reader.event(each) is None
    with pytest.raises(ValueError, match="too many strings or names"):
        reader.event(line)


def test_workers_share_what_they_imply() -> None:
    """Two workers that tell of the same resource come to one, so that it is kept once."""
    found: list[Any] = []
    for host in ("web1", "web2"):
        box, channel = outbox()
        turns = unchanged(host, "/a")
        box.handle(run_events.ResourcesStable(host, turns))
        found += received(channel, box, EventReceiver(RUN))
    one, other = (event.unchanged.implied[0] for event in found)
    assert one is other


def stable(**changed: Any) -> str:
    """A line about one resource, of the first text."""
    told = {"id": 1, "at": 2, "noop": False, "prediction": "", "rows": [[0, 5, "posix"]]}
    return "sweb1\t" + json.dumps({**told, "resources": [0], **changed})


STABLE = [
    stable(),  # there is no text
    stable(resources=[-1]),
    stable(resources=[]),
    stable(rows=[]),
    stable(rows=[[0, 5]]),
    stable(rows=[["0", 5, "posix"]]),
    stable(id="x"),
    "sweb1\t[]",
]


WRONG_PLAN_PARTS: list[Any] = [
    [],
    {},
    {"files": 5},
    {"files": [5]},
    {"files": [], "host": 1, "items": [], "secrets": []},
    {"files": [], "host": {}, "items": []},
    {"files": [], "host": {}, "items": [["file#/a", "00"]], "secrets": []},
    {"files": [], "host": {}, "items": [["file#/a", [], ""]], "secrets": []},
    {"files": [], "host": {}, "items": [["file#/a", "00", "no hex"]], "secrets": []},
    {"files": [], "host": {}, "items": [], "secrets": [{}]},
]
PLAN_PARTS = ["kweb1\t" + json.dumps(told) for told in WRONG_PLAN_PARTS]


@pytest.mark.parametrize(
    "line",
    [
        *("xweb1\t[]", "pweb1\tnull", "hweb1\t7", "sweb1\t[1]", 'eweb1\t{"', "i[]", "i{}"),
        *STABLE,
        *PLAN_PARTS,
    ],
)
def test_what_no_worker_tells_is_an_error(line: str) -> None:
    """A line that makes no sense is never passed over."""
    with pytest.raises((ValueError, LookupError, TypeError)):
        EventReceiver(RUN).event(line)


def test_what_acts_on_a_terminal_is_taken_out() -> None:
    """A worker may be anybody's: what it says of a host is held for what a host says itself."""
    reader = EventReceiver(RUN)
    notice = reader.event("tweb1\t" + json.dumps(["warning", "a\x1b[2Jb", False]))
    assert notice == run_events.HostNotice("web1", "warning", "ab")
    pairs = '["file#\\u009b1m/b",["file#\\u202e/c"]]'
    reader.event(f'n[["file#/a\\u001b[2J"],[{pairs}],[{pairs}],[{pairs}]]')
    planned = reader.event("hweb1\t0")
    plain = (("file#1m/b", ("file#/c",)),)
    assert planned == run_events.HostPlanned("web1", ("file#/a",), plain, plain, plain)
    reader.event("i" + file_text("/a"))
    found = reader.event(stable(rows=[[0, 5, "\x1b]0;a\x07b"]]))
    assert isinstance(found, run_events.ResourcesStable)
    assert found.unchanged.rows == [[0, 5, "b"]]
    with pytest.raises(ValueError, match="digits"):
        reader.event(f'tweb1\t["warning", "a", {"9" * 50}]')


def test_nothing_of_that_stays_in_an_event_or_a_plan() -> None:
    """Neither in the text of an event that is kept and printed, nor in resource names, also
    where the worker spells out the characters themselves."""
    reader = EventReceiver(RUN)
    told = make_event(status="failed", error=["\u202eno\x9b2J way \xe9"])
    event = reader.event("eweb1\t" + json.dumps(told, ensure_ascii=False))
    assert isinstance(event, run_events.ResourceEvent)
    assert event.event["error"] == ["no2J way \xe9"]
    assert json.loads(event.line) == event.event
    assert event.line.isascii()
    pairs = [["file#/\x9ba", []]]
    reader.event("n" + json.dumps([["file#/\x1b[2Ja"], pairs, pairs, pairs], ensure_ascii=False))
    planned = reader.event("hweb1\t0")
    plain = (("file#/a", ()),)
    assert planned == run_events.HostPlanned("web1", ("file#/a",), plain, plain, plain)


def test_what_is_kept_of_an_event_is_what_is_shown() -> None:
    """The run's directory has one line of it, without what acts on a terminal, as the event has."""
    made = make_event(status="failed", error=["a\x1b[2Jb"])
    text = event_sender._encode(made).replace('"error":', '\r"error":')
    told = EventReceiver(RUN).event(f"eweb1\t{text}")
    assert isinstance(told, run_events.ResourceEvent)
    assert (told.event["error"], "\r" in told.line) == (["ab"], False)
    assert json.loads(told.line) == told.event


def test_what_plans_have_ends_no_line_of_what_is_kept() -> None:
    """One more line would give the texts of all hosts behind it another number."""
    with pytest.raises(ValueError, match="on one line"):
        EventReceiver(RUN).event("i" + file_text("/a") + "\r{}")
