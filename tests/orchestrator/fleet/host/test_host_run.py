"""One host's run against honest and hostile runtimes."""

import contextlib
import gc
import json
import threading
import time
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host import framed_link
from orchestrator.fleet.host import protocol as conversation_module
from orchestrator.fleet.host.host_run import HostRun
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.run_settings import RunSettings
from remote_runtime.errors import PlanError, UnreachableError
from remote_runtime.options import RunOptions
from remote_runtime.protocol import wire
from remote_runtime.reporting.events import EventIds
from tests.orchestrator.fleet.fakes import (
    SETTINGS,
    FakeBlob,
    FakeConnector,
    FakeHost,
    FakePlanner,
    FarEnd,
    Recorder,
    make_event,
    recorded_bus,
    sha_of,
)
from tests.texts import expect_text

NAMES = ["/etc/a", "/etc/b", "/etc/c"]


def run_against(
    script: Callable[[FarEnd], Any], settings: RunSettings = SETTINGS, **planner: Any
) -> tuple[HostResult, Recorder]:
    bus, recorder = recorded_bus()
    names = planner.pop("names", NAMES)
    connector = FakeConnector(script)
    run = HostRun(
        FakeHost("web1"),
        connector,
        planner=FakePlanner(names, **planner),
        bus=bus,
        settings=settings,
    )
    return run.run(), recorder


def test_an_honest_host_is_ok_and_every_event_is_told() -> None:
    """A host that carries its plan out ends ok, with its events in order and its counts."""
    result, recorder = run_against(FarEnd.carry_out_plan)
    assert (result.outcome, result.message, result.planned) == ("ok", "", 3)
    assert (result.tally.total, result.tally.unique, result.tally.stable) == (3, 3, 3)
    told = recorder.of(run_events.ResourceEvent)
    assert [event.event["name"] for event in told] == NAMES
    assert json.loads(told[0].line)["host"] == "web1"
    assert json.loads(told[0].line)["run_id"] == "run-1"
    phases = [event.phase for event in recorder.of(run_events.HostPhase)]
    assert phases == ["connecting", "authenticating", "gathering", "planning", "running"]
    kept = HostResult.from_record(result.record()).phases
    assert [name for name, _ in kept] == phases
    assert list(kept) == sorted(kept, key=lambda phase: phase[1])


@contextlib.contextmanager
def no_turn_left() -> Iterator[None]:
    """Others have all the turns meanwhile."""
    with contextlib.ExitStack() as taken:
        for _ in range(conversation_module.MAX_CONCURRENT):
            taken.enter_context(conversation_module._turns)
        yield


def test_facts_are_read_in_turns() -> None:
    """What hundreds of hosts say at once is held as they said it, until a plan is made of it."""
    said = threading.Event()

    def script(far: FarEnd) -> None:
        far.greet_as({})
        far.raw(wire.encode_json(b"no JSON"))
        said.set()

    found: list[HostResult] = []
    running = threading.Thread(target=lambda: found.append(run_against(script)[0]))
    with no_turn_left():
        running.start()
        assert said.wait(30)
        running.join(0.2)
        assert not found
    running.join(30)
    assert (found[0].outcome, found[0].kind) == ("unreachable", "protocol.json")


def test_a_wait_for_a_turn_is_none_for_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its facts may be there all the time, behind a heartbeat."""
    monkeypatch.setattr(conversation_module, "GREETING", 0.5)
    said = threading.Event()

    def script(far: FarEnd) -> None:
        far.greet_as({})
        far.say("ping")
        time.sleep(0.1)  # until that is read
        far.say("facts", facts={"host": {"info": {"os": "linux"}}})
        said.set()
        far.finish(far.await_message("plan"))

    found: list[HostResult] = []
    running = threading.Thread(target=lambda: found.append(run_against(script)[0]))
    with no_turn_left():
        running.start()
        assert said.wait(30)
        running.join(1.0)
    running.join(30)
    assert (found[0].outcome, found[0].message) == ("ok", "")


def test_hosts_that_only_seem_to_have_facts_hold_nobody_up() -> None:
    """Neither half of them nor a heartbeat takes a turn."""
    facts = wire.encode({"t": "facts", "facts": {}})
    over = threading.Event()

    def hang(far: FarEnd) -> None:
        far.greet_as({})
        far.say("ping")
        far.raw(facts[:-1])
        assert over.wait(30)
        far.end()

    hanging = [
        threading.Thread(target=run_against, args=(hang,))
        for _ in range(2 * conversation_module.MAX_CONCURRENT)
    ]
    for thread in hanging:
        thread.start()
    try:
        assert run_against(FarEnd.carry_out_plan)[0].outcome == "ok"
    finally:
        over.set()
        for thread in hanging:
            thread.join(30)


def test_a_host_that_has_ended_holds_nothing() -> None:
    """Its answer may wait for its turn to be taken, and those of many hosts with it."""
    held: list[weakref.ref[Any]] = []

    class Planner(FakePlanner):
        def plan(self, host: Any, gathered: Any) -> Any:
            plan = super().plan(host, gathered)
            held.append(weakref.ref(plan))
            return plan

    run = HostRun(
        FakeHost("web1"),
        FakeConnector(FarEnd.carry_out_plan),
        planner=Planner(NAMES),
        bus=recorded_bus()[0],
        settings=SETTINGS,
    )
    gc.disable()
    try:
        assert run.run().outcome == "ok"
        assert [ref() for ref in held] == [None]
    finally:
        gc.enable()
    assert run._link is None
    assert run.interrupted().tally.stable == len(NAMES)  # that is known still


def say_stable(far: FarEnd) -> None:
    """A host on which the first two files are as desired, and the third was changed."""
    far.greet()
    far.await_message("plan")
    told = {"noop": False, "prediction": "", "rows": [[0, 5, "posix"], [1, 7, "posix"]]}
    far.say("stable", seq=1, id=1, at=1795390122775418, **told)
    event = make_event(name=NAMES[2], status="changed", event_id=f"{3:026d}")
    far.say("event", seq=3, event=event)
    far.say("done", events=3, cancelled=False)


def test_what_is_as_desired_may_be_told_together() -> None:
    """One message of several turns counts as their events, which are there for who asks."""
    result, recorder = run_against(say_stable)
    assert (result.outcome, result.message) == ("ok", "")
    assert (result.tally.total, result.tally.unique, result.tally.stable) == (3, 3, 2)
    told = [e for one in recorder.events for e, _ in run_events.transaction_events(one)]
    assert [(e["name"], e["status"]) for e in told] == [
        ("/etc/a", "stable"),
        ("/etc/b", "stable"),
        ("/etc/c", "changed"),
    ]
    assert {(e["host"], e["run_id"]) for e in told} == {("web1", "run-1")}


@pytest.mark.parametrize(
    ("options", "plan"),
    [
        ({"monitor_only": True}, {}),
        ({"status_only": True}, {}),
        ({"adhoc": True}, {}),
        ({}, {"rounds": 2}),
    ],
)
def test_where_each_event_is_asked_for_none_is_told_short(
    options: dict[str, Any], plan: dict[str, Any]
) -> None:
    """A host that was to look, to run a command or to keep to a plan has to say what it found."""
    settings = SETTINGS._replace(options=RunOptions(**options))
    result, _ = run_against(say_stable, settings, **plan)
    assert (result.outcome, result.kind) == ("unreachable", "protocol")
    expect_text(result.message)


def test_stable_resources_are_registered() -> None:
    """What was told with others is announced as what has an event of its own; never in noop."""

    class Announced:
        def __init__(self) -> None:
            self.found: list[Any] = []

        def add(self, host: str, registrations: Any) -> None:
            self.found += [(host, one["of"]) for one in registrations]

    class Registering(FakePlanner):
        def plan(self, host: Any, gathered: Any) -> Any:
            plan: Any = super().plan(host, gathered)
            plan.registrations = lambda identity: [{"of": identity}]
            return plan

    announced = Announced()
    bus, _ = recorded_bus()
    HostRun(
        FakeHost("web1"),
        FakeConnector(say_stable),
        planner=Registering(NAMES),
        bus=bus,
        settings=SETTINGS,
        publisher=announced,
    ).run()
    assert announced.found == [("web1", f"file#{name}") for name in NAMES]


def test_a_failed_resource_makes_the_host_failed() -> None:
    """One failed resource is enough for the host to be failed."""

    def script(far: FarEnd) -> None:
        far.greet()
        far.await_message("plan")
        far.say("event", seq=1, event=make_event(name="/etc/a", status="failed", error=["no"]))
        far.say("done", events=1, cancelled=False)

    result, _ = run_against(script)
    assert (result.outcome, result.tally.failed, result.tally.total_errors) == ("failed", 1, 1)


@pytest.mark.parametrize(("fail_on_error", "untried"), [(True, 2), (False, 0)])
def test_what_fail_on_error_left_out_is_counted(fail_on_error: bool, untried: int) -> None:
    """A run that fail_on_error ended says how many resources never had their turn."""

    def script(far: FarEnd) -> None:
        far.greet()
        far.await_message("plan")
        far.say("event", seq=1, event=make_event(name="/etc/a", status="failed", error=["no"]))
        far.say("done", events=1, cancelled=False)

    result, _ = run_against(script, fail_on_error=fail_on_error)
    assert (result.outcome, result.untried) == ("failed", untried)
    assert HostResult.from_record(result.record()).untried == untried


def _after_plan(play: Callable[[FarEnd], None]) -> Callable[[FarEnd], None]:
    def script(far: FarEnd) -> None:
        far.greet()
        far.await_message("plan")
        play(far)

    return script


def _flood_pings(far: FarEnd) -> None:
    burst = wire.encode({"t": "ping"}) * 10_000
    while True:
        far.raw(burst)


def _replayed(far: FarEnd) -> None:
    event = make_event(name="/etc/a")
    far.say("event", seq=1, event=event)
    far.say("event", seq=1, event=event)


def _replayed_with_new_seq(far: FarEnd) -> None:
    far.say("event", seq=1, event=make_event(name="/etc/a"))
    far.say("event", seq=2, event=make_event(name="/etc/b"))


def _too_many(far: FarEnd) -> None:
    far.say("event", seq=1, event=make_event(name="/etc/a", event_id="0" * 25 + "1"))
    far.say("event", seq=2, event=make_event(name="/etc/a", event_id="0" * 25 + "2"))


def _foreign(far: FarEnd) -> None:
    far.say("event", seq=1, event=make_event(name="/etc/a", host="db1", run_id="run-0"))


def _facts(value: bytes) -> Callable[[FarEnd], None]:
    def script(far: FarEnd) -> None:
        far.greet_as({})
        far.raw(wire.encode_json(b'{"t":"facts","facts":{"a":' + value + b"}}"))

    return script


HOSTILE: dict[str, tuple[Callable[[FarEnd], None], str]] = {
    "floods with noise": (lambda far: far.raw(b"y\n" * 100_000), "protocol.frame"),
    "floods with pings": (_after_plan(_flood_pings), "protocol.flood"),
    "a frame too large": (lambda far: far.raw(b"\x7f\xff\xff\xffJ{"), "protocol.size"),
    "malformed JSON": (lambda far: far.raw(wire.encode_json(b'{"t": "hel')), "protocol.json"),
    "no object": (lambda far: far.raw(wire.encode_json(b"[1]")), "protocol.json"),
    "nests deeply": (lambda far: far.raw(wire.encode_json(b"[" * 500_000)), "protocol.json"),
    "nests in facts": (_facts(b"[" * 25 + b"]" * 25), "protocol.value"),
    "nests to the end in facts": (_facts(b"[" * 900 + b"]" * 900), "protocol.value"),
    "NaN in facts": (_facts(b"[NaN]"), "protocol.value"),
    "Infinity in facts": (_facts(b"[-Infinity]"), "protocol.value"),
    "more than a float holds in facts": (_facts(b"[1e999]"), "protocol.value"),
    "a number without end in facts": (_facts(b"[" + b"9" * 4000 + b"]"), "protocol.value"),
    "a number that Python refuses": (_facts(b"[" + b"9" * 5000 + b"]"), "protocol.json"),
    "a number without end in an event": (
        _after_plan(
            lambda far: far.say(
                "event", seq=1, event=make_event(name="/etc/a", properties={"x": 10**4000})
            )
        ),
        "protocol.event",
    ),
    "a process id that is a text": (lambda far: far.greet(pid="1"), "protocol.hello"),
    "a user that is a tree": (lambda far: far.greet(user=[["root"]]), "protocol.hello"),
    "another nonce": (lambda far: far.greet(nonce="other"), "protocol.nonce"),
    "another protocol": (lambda far: far.greet(protocol="ccm9"), "protocol.version"),
    "a different runtime": (lambda far: far.greet(runtime="cd" * 32), "protocol.runtime"),
    "hangs up": (lambda far: far.greet(), "transport.lost"),
    "replays an event": (_after_plan(_replayed), "protocol.sequence"),
    "replays an event as new": (_after_plan(_replayed_with_new_seq), "protocol.replay"),
    "sends more than planned": (_after_plan(_too_many), "protocol.event"),
    "sends another run's event": (_after_plan(_foreign), "protocol.event"),
    "a resource not planned": (
        _after_plan(lambda far: far.say("event", seq=1, event=make_event(name="/etc/shadow"))),
        "protocol.event",
    ),
    "leaves resources out": (
        _after_plan(lambda far: far.say("done", events=0, cancelled=False)),
        "protocol.sequence",
    ),
    "counts wrongly": (_after_plan(lambda far: far.say("done", events=3)), "protocol.sequence"),
    "progress out of range": (
        _after_plan(lambda far: far.say("progress", index=99, action="x")),
        "protocol",
    ),
    "bytes out of the blue": (
        _after_plan(lambda far: far.raw(wire.encode_binary(b"x"))),
        "protocol",
    ),
    "wants again and again": (
        _after_plan(lambda far: far.say("want", shas=["f" * 64] * 10_000)),
        "protocol.flood",
    ),
    "wants what is no hash": (_after_plan(lambda far: far.say("want", shas=[{}])), "protocol"),
    "wants what only looks like one": (
        _after_plan(lambda far: far.say("want", shas=["F" * 64])),
        "protocol",
    ),
    "wants ever others": (
        _after_plan(lambda far: far.say("want", shas=[f"{n:064x}" for n in range(10)])),
        "protocol.flood",
    ),
    "renders out of range": (
        _after_plan(lambda far: far.say("render", id=1, index=-1)),
        "protocol",
    ),
}


@pytest.mark.parametrize(("script", "kind"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_host_gets_one_clear_result(script: Callable[[FarEnd], None], kind: str) -> None:
    """Whatever a host sends against the protocol ends its own run, as unreachable, with a kind."""
    result, _ = run_against(script)
    assert (result.outcome, result.kind) == ("unreachable", kind)
    assert result.message
    assert result.stderr == "last words"


def test_a_host_that_goes_away_may_have_rebooted() -> None:
    """The end of the connection says what to do, and that nothing is lost by it."""
    result, _ = run_against(lambda far: far.greet())
    expect_text(result.advice)


@pytest.mark.parametrize("previewed", [{"rounds": 2}, {"previews": True}])
def test_what_a_push_previews_looks_into_packages(previewed: dict[str, Any]) -> None:
    """A push held to a plan, or with a child that is to be previewed, asks for what is known of
    packages and tells what it found, as a preview."""

    def script(far: FarEnd) -> None:
        far.greet()
        plan = far.await_message("plan")
        far.say("packages", shas=["a" * 64])
        assert far.await_message("packages")["known"] == {}
        far.say("package", sha="a" * 64, contents=None)
        far.finish(plan)

    result, _ = run_against(script, **previewed)
    assert (result.outcome, result.message) == ("ok", "")
    result, _ = run_against(script)
    assert (result.outcome, result.kind) == ("unreachable", "protocol")


def test_a_template_reads_a_file_that_is_planned() -> None:
    """In a preview the host may need the content itself before it can send it back."""

    def script(far: FarEnd) -> None:
        far.greet()
        plan = far.await_message("plan")
        far.say("render", id=1, index=1)
        asked = far.await_message("read")["id"]
        far.say("want", shas=[sha_of("a")])
        assert far.await_message("blob")["size"] == 1
        assert far.hear() == bytes(1)
        far.say("content", id=asked, size=1)
        far.raw(wire.encode_binary(b"x"))
        assert far.await_message("rendered")["properties"] == {"content": "x1"}
        far.finish(plan)

    result, _ = run_against(script, blobs={sha_of("a"): FakeBlob(1)})
    assert (result.outcome, result.message) == ("ok", "")


def test_a_preview_behind_other_plans() -> None:
    """Their resources may be rendered and are passed by, each once, and are nobody's events."""

    def script(passed: int, index: int) -> Callable[[FarEnd], None]:
        def play(far: FarEnd) -> None:
            far.greet()
            plan = far.await_message("plan")
            far.say("render", id=index, index=index)
            far.say("content", id=far.await_message("read")["id"], size=1)
            far.raw(wire.encode_binary(b"x"))
            assert far.await_message("rendered")["properties"] == {"content": f"x{index}"}
            for _ in range(passed):
                far.say("passed")
            far.finish(plan)

        return play

    result, recorder = run_against(script(2, 4), before=2)
    assert (result.outcome, result.message, result.planned) == ("ok", "", 3)
    assert len(recorder.of(run_events.ResourceEvent)) == 3
    for passed, index in ((3, 4), (2, 5)):
        result, _ = run_against(script(passed, index), before=2)
        assert (result.outcome, result.kind) == ("unreachable", "protocol")


def test_what_comes_after_done_is_not_read() -> None:
    """A host that goes on after its last frame is done all the same, and nothing more is told."""

    def script(far: FarEnd) -> None:
        far.carry_out_plan()
        far.say("event", seq=4, event=make_event(name="/etc/a"))
        far.raw(b"y\n" * 100_000)

    result, recorder = run_against(script)
    assert result.outcome == "ok"
    assert len(recorder.of(run_events.ResourceEvent)) == 3


def test_a_flood_is_taken_in_bounded_memory() -> None:
    """A host that sends notices without end costs no more memory than a few frames."""

    def script(far: FarEnd) -> None:
        far.greet()
        plan = far.await_message("plan")
        notice = wire.encode({"t": "notice", "level": "warning", "text": "x" * 200_000})
        for _ in range(300):
            far.raw(notice)
        far.finish(plan)

    tracemalloc.start()
    try:
        result, recorder = run_against(script)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.outcome == "ok"
    assert len(recorder.of(run_events.HostNotice)) == 200
    assert peak < 24 << 20


def test_what_arrives_together_is_told_before_what_is_wrong_behind_it() -> None:
    """Of events and an end that is none, in one piece, nothing is lost and nothing told late."""

    def script(far: FarEnd) -> None:
        far.greet()
        far.await_message("plan")
        ids = EventIds()
        events = [make_event(name=name, event_id=ids.next()) for name in NAMES[:2]]
        told = [{"t": "event", "seq": seq, "event": one} for seq, one in enumerate(events, 1)]
        pieces = map(wire.encode, told)
        far.raw(b"".join([*pieces, wire.encode({"t": "nonsense"})]))

    result, recorder = run_against(script)
    assert (result.outcome, result.tally.total) == ("unreachable", 2)
    assert [told.event["name"] for told in recorder.of(run_events.ResourceEvent)] == NAMES[:2]


def test_a_silent_host_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that never answers is lost once the silence has lasted long enough."""
    monkeypatch.setattr(framed_link.FramedLink.message, "__defaults__", (0.3,))

    def script(far: FarEnd) -> None:
        while True:
            far.hear()

    result, _ = run_against(script)
    assert (result.outcome, result.kind) == ("unreachable", "transport.silent")


def test_a_host_that_only_pings_runs_into_its_timeout() -> None:
    """Heartbeats do not extend the time that one host may take."""

    def script(far: FarEnd) -> None:
        far.greet()
        while True:
            far.say("ping")
            time.sleep(0.02)

    result, _ = run_against(script, RunSettings("run-1", "alice", RunOptions(timeout=0.5)))
    assert (result.outcome, result.kind) == ("unreachable", "host.timeout")


def test_a_host_whose_time_is_up_says_what_was_interrupted() -> None:
    """At the end of the time the host is told, and the event that it sends then still counts."""

    def script(far: FarEnd) -> None:
        far.greet()
        far.await_message("plan")
        reason = far.await_message("cancel")["reason"]
        far.say("event", seq=1, event=make_event(name="/etc/a", status="failed", error=[reason]))
        far.say("done", events=1, cancelled=True)

    result, recorder = run_against(script, RunSettings("run-1", "alice", RunOptions(timeout=0.2)))
    assert (result.outcome, result.kind, result.tally.failed) == ("unreachable", "host.timeout", 1)
    (told,) = recorder.of(run_events.ResourceEvent)
    assert told.event["error"] == ["timed out (--timeout)"]


def _only_seems_busy(far: FarEnd) -> None:
    far.greet()
    far.await_message("plan")
    while True:
        far.say("ping")
        far.say("progress", index=0, action="working")
        far.say("notice", level="info", text="still working")
        time.sleep(0.01)


def test_a_host_that_only_seems_busy_is_ended() -> None:
    """Heartbeats, progress and notices alone hold a host's place for a bounded time."""
    settings = RunSettings("run-1", "alice", RunOptions(stall_timeout=0.2, lock_timeout=0))
    result, _ = run_against(_only_seems_busy, settings)
    assert (result.outcome, result.kind) == ("unreachable", "host.stalled")
    expect_text(result.message)
    assert "--stall-timeout" in result.hint


@pytest.mark.parametrize("shas", [[], [sha_of("a")], ["0" * 64]])
def test_a_host_that_only_asks_for_what_it_has_is_ended(shas: list[str]) -> None:
    """So do requests for nothing, for the same content again, and for content of no plan."""

    def script(far: FarEnd) -> None:
        far.greet()
        far.await_message("plan")
        while True:
            far.say("want", shas=shas)
            for _ in shas:
                far.await_message("blob")
            time.sleep(0.02)

    settings = RunSettings("run-1", "alice", RunOptions(stall_timeout=0.2, lock_timeout=0))
    names = [f"/etc/{number}" for number in range(1000)]
    result, _ = run_against(script, settings, names=names, blobs={sha_of("a"): FakeBlob(0)})
    assert (result.outcome, result.kind) == ("unreachable", "host.stalled")


def test_a_host_that_stalls_is_told() -> None:
    """An honest host learns why it is ended, and its last event counts."""

    def script(far: FarEnd) -> None:
        far.greet()
        far.await_message("plan")
        reason = far.await_message("cancel")["reason"]
        far.say("event", seq=1, event=make_event(name="/etc/a", status="failed", error=[reason]))
        far.say("done", events=1, cancelled=True)

    settings = RunSettings("run-1", "alice", RunOptions(stall_timeout=0.2, lock_timeout=0))
    result, recorder = run_against(script, settings)
    assert (result.kind, result.tally.failed) == ("host.stalled", 1)
    (told,) = recorder.of(run_events.ResourceEvent)
    expect_text(told.event["error"])


def test_the_bound_on_a_stall_is_never_below_the_timeouts_of_the_plan() -> None:
    """A resource may be at work for as long as its own timeouts allow."""

    def script(far: FarEnd) -> None:
        far.greet()
        plan = far.await_message("plan")
        for _ in range(30):
            far.say("ping")
            time.sleep(0.02)
        far.finish(plan)

    settings = RunSettings("run-1", "alice", RunOptions(stall_timeout=0.1, lock_timeout=0))
    result, _ = run_against(script, settings, longest=300)
    assert (result.outcome, result.tally.total) == ("ok", 3)
    result, _ = run_against(_only_seems_busy, settings, longest=0.3)
    expect_text(result.message)


def test_what_a_host_says_without_progress_is_bounded() -> None:
    """Notices beyond the budget of bytes end the host's run, in whatever member the bulk is."""

    def script(far: FarEnd) -> None:
        far.greet()
        far.await_message("plan")
        notice = wire.encode({"t": "notice", "level": "info", "text": "", "more": "x" * 900_000})
        while True:
            far.raw(notice)

    result, _ = run_against(script)
    assert (result.outcome, result.kind) == ("unreachable", "protocol.flood")


@pytest.mark.parametrize("hello", [True, False])
def test_a_host_that_only_pings_never_gets_past_the_greeting(
    monkeypatch: pytest.MonkeyPatch, hello: bool
) -> None:
    """Without a timeout of the user's, too, heartbeats do not stand in for hello and facts."""
    monkeypatch.setattr(conversation_module, "GREETING", 0.3)

    def script(far: FarEnd) -> None:
        if hello:
            far.greet_as({})
        while True:
            far.say("ping")
            time.sleep(0.02)

    result, _ = run_against(script)
    assert (result.outcome, result.kind) == ("unreachable", "transport.silent")
    expect_text(result.message)


def test_blobs_are_streamed_in_bounded_pieces() -> None:
    """A wanted blob arrives whole, in pieces of bounded size, an unknown one as an error."""
    sizes: list[int] = []
    big, small = sha_of("big"), sha_of("small")

    def script(far: FarEnd) -> None:
        far.greet()
        plan = far.await_message("plan")
        far.say("want", shas=[big, small, "0" * 64])
        for size in (20_000_000, 5):
            message = far.await_message("blob")
            assert message["size"] == size
            got = 0
            while got < size:
                frame = far.hear()
                assert isinstance(frame, bytes)
                got += len(frame)
            sizes.append(got)
        assert "error" in far.await_message("blob")
        far.finish(plan)

    blobs = {big: FakeBlob(20_000_000), small: FakeBlob(5)}
    bus, _ = recorded_bus()
    connector = FakeConnector(script)
    run = HostRun(
        FakeHost("web1"), connector, planner=FakePlanner(NAMES, blobs), bus=bus, settings=SETTINGS
    )
    assert run.run().outcome == "ok"
    assert sizes == [20_000_000, 5]
    assert connector.links["web1"].largest_send <= 2 * wire.CHUNK


def test_a_source_that_shrinks_ends_the_host_s_run() -> None:
    """A blob that has fewer bytes than announced fails the host, with what to do."""

    class Shrunk(FakeBlob):
        def chunks(self) -> Any:
            yield b"abc"

    def want(far: FarEnd) -> None:
        far.say("want", shas=["a" * 64])
        far.hear()

    result, _ = run_against(_after_plan(want), blobs={"a" * 64: Shrunk(10)})
    assert (result.outcome, result.kind) == ("failed", "plan.blob")
    assert "push again" in result.hint


def test_a_deferred_template_reads_a_file_of_the_target() -> None:
    """Rendering at a resource's turn asks the target for the file and answers with the values."""
    answers: list[dict[str, Any]] = []

    def script(far: FarEnd) -> None:
        far.greet()
        plan = far.await_message("plan")
        far.say("render", id=7, index=2)
        read = far.await_message("read")
        far.say("progress", index=2, action="waiting")
        far.say("content", id=read["id"], size=6)
        far.raw(wire.encode_binary(b"abc") + wire.encode({"t": "ping"}))
        far.raw(wire.encode_binary(b"def"))
        answers.append(far.await_message("rendered"))
        far.finish(plan)

    result, recorder = run_against(script)
    assert result.outcome == "ok"
    assert answers == [{"t": "rendered", "id": 7, "properties": {"content": "abcdef2"}}]
    assert recorder.of(run_events.ResourceProgress)[0].action == "waiting"


def test_a_file_that_the_target_cannot_read_fails_the_template() -> None:
    """What the target says about a file that it cannot read becomes the error of the rendering."""
    answers: list[dict[str, Any]] = []

    def script(far: FarEnd) -> None:
        far.greet()
        plan = far.await_message("plan")
        far.say("render", id=7, index=2)
        far.say("content", id=far.await_message("read")["id"], error="no such file\x1b[2J")
        answers.append(far.await_message("rendered"))
        far.finish(plan)

    assert run_against(script)[0].outcome == "ok"
    expect_text(answers[0]["error"])


def test_a_secret_in_a_name_is_masked_in_what_is_told_while_it_runs() -> None:
    """The live view names a resource as its event does, with the run's secrets masked."""

    def script(far: FarEnd) -> None:
        far.say("progress", index=0, action="writing")
        far.say("done", events=0, cancelled=False)

    bus, recorder = recorded_bus()
    planner = FakePlanner(["/etc/hunter2-hunter2"], secrets=["hunter2-hunter2"])
    HostRun(
        FakeHost("web1"),
        FakeConnector(_after_plan(script)),
        planner=planner,
        bus=bus,
        settings=SETTINGS,
    ).run()
    told = [event.resource for event in recorder.of(run_events.ResourceProgress)]
    assert told == ["file#/etc/[masked]"]


def test_a_secret_in_what_a_lost_host_said_last_is_masked() -> None:
    """The end of a host's standard error is kept without the run's secrets."""
    bus, _ = recorded_bus()
    connector = FakeConnector(_after_plan(lambda far: None))
    planner = FakePlanner(["/etc/a"], secrets=["last words"])
    result = HostRun(FakeHost("web1"), connector, planner=planner, bus=bus, settings=SETTINGS).run()
    assert (result.kind, result.stderr[:8]) == ("transport.lost", "[masked]")


def test_texts_of_a_host_lose_their_control_characters() -> None:
    """Events, notices and facts reach subscribers without anything that steers a terminal."""

    def script(far: FarEnd) -> None:
        far.greet()
        far.await_message("plan")
        far.say("notice", level="info", text="\x1b]0;owned\x07hello\u202eworld\r\nagain")
        event = make_event(name="/etc/a", status="failed", error=["one\x1b[31m\ntwo\x9b2J"])
        far.say("event", seq=1, event=event)
        far.say("done", events=1, cancelled=False)

    _, recorder = run_against(script)
    assert recorder.of(run_events.HostNotice)[0].text == "helloworld again"
    told = recorder.of(run_events.ResourceEvent)[0]
    assert told.event["error"] == ["one\ntwo2J"]
    assert "u001b" not in told.line


def test_secrets_are_masked_once_control_characters_are_gone() -> None:
    """A secret with a colour or a NUL in its midst, as a command prints it, is shown nowhere."""
    split = "hunter2-\x1b[0mhun\0ter2"

    def script(far: FarEnd) -> None:
        far.greet()
        far.await_message("plan")
        far.say("notice", level="info", text=split)
        far.say("progress", index=0, action=split)
        changes = [{"what": "a", "from": split, "to": None, "diff": split}]
        far.say("event", seq=1, event=make_event(name="/etc/a", output=split, changes=changes))
        far.say("done", events=1, cancelled=False)

    _, recorder = run_against(script, secrets=["hunter2-hunter2"])
    assert recorder.of(run_events.HostNotice)[0].text == "[masked]"
    assert recorder.of(run_events.ResourceProgress)[0].action == "[masked]"
    told = recorder.of(run_events.ResourceEvent)[0]
    assert told.event["output"] == "[masked]"
    assert "hunter2" not in told.line


def test_done_with_an_error_is_the_host_s_failure() -> None:
    """A run that the target could not begin fails with the target's reason."""
    error = {"kind": "runtime.lock", "message": "bob has been pushing since 09:15"}
    script = _after_plan(lambda far: far.say("done", events=0, cancelled=False, error=error))
    result, _ = run_against(script)
    assert (result.outcome, result.kind) == ("failed", "runtime.lock")
    expect_text(result.message)


@pytest.mark.parametrize(
    "kind", ["transport.auth", "usage", "run.cancelled", "x" * 61, "host.\x1b[2J", "", None, [1]]
)
def test_a_host_names_its_errors_within_its_own_families(kind: Any) -> None:
    """What a host calls its error is never one that the controller gives."""
    error = {"kind": kind, "message": "trust me"}
    script = _after_plan(lambda far: far.say("done", events=0, cancelled=False, error=error))
    result, _ = run_against(script)
    assert (result.outcome, result.kind, result.message) == ("failed", "target", "trust me")


class _Refusing:
    def open(self, host: Any, on_phase: Any, until: Any = None) -> Any:
        raise UnreachableError("connection refused", kind="transport.refused", hint="start sshd")

    def patience(self, host: Any) -> float:
        return 600.0


class _Broken:
    def plan(self, host: Any, gathered: Any) -> Any:
        raise KeyError(f"a value of {host.name}")


class _NoPlan:
    def plan(self, host: Any, gathered: Any) -> Any:
        raise PlanError("data.x is missing", kind="plan.lookup")


def test_a_host_that_cannot_be_reached_says_why() -> None:
    """An error of the transport is the host's result, with its hint."""
    bus, _ = recorded_bus()
    result = HostRun(
        FakeHost("web1"), _Refusing(), planner=FakePlanner([]), bus=bus, settings=SETTINGS
    ).run()
    assert (result.outcome, result.kind, result.hint) == (
        "unreachable",
        "transport.refused",
        "start sshd",
    )
    assert result.phase == "connecting"


def test_a_plan_that_cannot_be_made_fails_the_host() -> None:
    """A planning error is a failure of this host, before anything on it was changed."""
    bus, _ = recorded_bus()
    result = HostRun(
        FakeHost("web1"), FakeConnector(), planner=_NoPlan(), bus=bus, settings=SETTINGS
    ).run()
    assert (result.outcome, result.kind, result.phase) == ("failed", "plan.lookup", "planning")


def test_a_defect_is_that_host_s_result_with_a_report(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug met on one host writes a report without values and ends that host only."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    bus, _ = recorded_bus()
    result = HostRun(
        FakeHost("web1"), FakeConnector(), planner=_Broken(), bus=bus, settings=SETTINGS
    ).run()
    assert (result.outcome, result.kind) == ("defect", "defect")
    with open(result.report) as report:
        text = report.read()
    assert "KeyError" in text
    assert "in plan" in text
    assert "a value of web1" not in text


class KeepingPlanner(FakePlanner):
    """Its plans have something to keep when they are made, and at the end."""

    def plan(self, host: Any, gathered: Any) -> Any:
        plan = super().plan(host, gathered)
        plan.to_keep = [{"when": "planned"}, {"when": "done"}]
        return plan


def test_what_is_to_be_kept_is_told() -> None:
    """Before the first event of the host and behind the last; of one that is lost, no end."""

    def lost(far: FarEnd) -> None:
        far.greet()
        far.await_message("plan")

    kept = []
    for script in (FarEnd.carry_out_plan, lost):
        bus, recorder = recorded_bus()
        planner = KeepingPlanner(NAMES)
        host, connector = FakeHost("web1"), FakeConnector(script)
        HostRun(host, connector, planner=planner, bus=bus, settings=SETTINGS).run()
        kinds = (run_events.HostPlanPart, run_events.ResourceEvent)
        kept.append([event for event in recorder.events if isinstance(event, kinds)])
    ways = [
        [e.record["when"] for e in told if isinstance(e, run_events.HostPlanPart)] for told in kept
    ]
    assert ways == [["planned", "done"], ["planned"]]
    assert [type(event).__name__ for event in kept[0]] == [
        "HostPlanPart",
        *["ResourceEvent"] * len(NAMES),
        "HostPlanPart",
    ]
