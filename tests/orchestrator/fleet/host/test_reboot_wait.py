"""Hosts that are rebooted in the middle of a run, by scripted runtimes."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.host_run import HostRun
from orchestrator.fleet.host.host_task import InterruptedRunError
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.host.reboot_wait import RebootWait, read_reboot
from orchestrator.fleet.interfaces import OnPhase
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.run_settings import RunSettings
from remote_runtime.errors import ProtocolError, UnreachableError
from remote_runtime.options import RunOptions
from tests.orchestrator.fleet.fakes import (
    SETTINGS,
    FakeConnector,
    FakeHost,
    FakeLink,
    FakePlanner,
    FarEnd,
    Recorder,
    make_event,
    recorded_bus,
)
from tests.texts import expect_text

NAMES = ["/etc/a", "/etc/b", "/etc/c"]
EARLIER = {"resources": {}, "reboot": {"index": 1, "done": {"0": "stable"}}}
Script = Callable[[FarEnd], Any]


class Calls(FakeConnector):
    """Opens a link with the next script each time; an error of the list is raised."""

    def __init__(self, *scripts: Script | UnreachableError) -> None:
        super().__init__()
        self._left = list(scripts)
        self.calls = 0
        self.opened: list[FakeLink] = []

    def open(self, host: FakeHost, on_phase: OnPhase, until: float | None = None) -> FakeLink:
        self.calls += 1
        script = self._left.pop(0) if self._left else FarEnd.carry_out_plan
        if isinstance(script, UnreachableError):
            raise script
        self.opened.append(FakeLink(script))
        return self.opened[-1]


class Quick(HostRun):
    """Does not pause between two attempts."""

    def _pause(self, seconds: float) -> None:
        if self._cancelled:
            raise InterruptedRunError


def run(
    connector: Calls, settings: RunSettings = SETTINGS, kind: type[HostRun] = Quick
) -> tuple[HostResult, Recorder]:
    bus, recorder = recorded_bus()
    planner = FakePlanner(NAMES, longest=600.0)
    task = kind(FakeHost("web1"), connector, planner=planner, bus=bus, settings=settings)
    return task.run(), recorder


def goes_down(far: FarEnd, timeout: float = 60.0, **last: Any) -> None:
    """The first resource has its turn, the second reboots the host."""
    far.greet(boot="one")
    far.await_message("plan")
    far.say("event", seq=1, event=make_event(name="/etc/a", event_id="7" + "Z" * 25))
    far.say("rebooting", index=1, timeout=timeout, earlier=EARLIER)
    far.await_message("reboot")
    if last:
        far.say("done", **last)


def comes_back(far: FarEnd) -> None:
    """Another start of the host, whose clock was set back."""
    far.greet(boot="two")
    plan = far.await_message("plan")
    assert plan["earlier"] == EARLIER
    assert plan["run_id"] == "run-1"
    for seq, name in enumerate(NAMES[1:], 1):
        event = make_event(name=name, event_id=f"0{seq:025}", status="changed")
        far.say("event", seq=seq, event=event)
    far.say("done", events=2, cancelled=False)


@pytest.mark.parametrize("last", [{}, {"events": 1, "cancelled": True}])
def test_the_run_goes_on_once_the_host_is_back(last: dict[str, Any]) -> None:
    """Both conversations make one result; what answers meanwhile is not taken for the host."""
    refused = UnreachableError("Connection refused", "transport.connect")

    def still_up(far: FarEnd) -> None:
        far.greet(boot="one")
        far.await_message("bye")

    calls = Calls(lambda far: goes_down(far, **last), refused, still_up, refused, comes_back)
    result, recorder = run(calls)
    assert (result.outcome, result.message, result.planned) == ("ok", "", 3)
    assert (result.tally.total, result.tally.stable, result.tally.changed) == (3, 1, 2)
    assert [one.event["name"] for one in recorder.of(run_events.ResourceEvent)] == NAMES
    assert len(recorder.of(run_events.HostPlanned)) == 1
    assert [phase for phase, _ in result.phases][-3:] == ["running", "rebooting", "running"]
    assert calls.calls == 5


def test_a_link_that_brings_no_facts_is_closed() -> None:
    """A host that is on its way down or up lets ccm in, and hangs up or says what it should not."""

    def hangs_up(far: FarEnd) -> None:
        pass

    def confused(far: FarEnd) -> None:
        far.say("facts")

    calls = Calls(goes_down, hangs_up, confused, comes_back)
    result, _ = run(calls)
    assert result.outcome == "ok"
    assert [link.closed.is_set() for link in calls.opened] == [True] * 4


def test_a_host_that_stays_away_is_lost() -> None:
    """It is told for how long it was waited, and what was in the way last."""
    refused = [UnreachableError("Connection refused", "transport.connect") for _ in range(10**5)]
    result, _ = run(Calls(lambda far: goes_down(far, 0.2), *refused))
    assert (result.outcome, result.kind) == ("unreachable", "host.rebooted")
    expect_text(result.message)
    assert result.phase == Phase.REBOOTING
    assert result.tally.total == 1


def test_another_host_in_its_place_is_not_waited_for() -> None:
    """A host key that has changed is told at once."""
    changed = UnreachableError("the key of web1 has changed", "transport.host_key.changed")
    calls = Calls(goes_down, changed)
    result, _ = run(calls)
    assert (result.kind, calls.calls) == ("transport.host_key.changed", 2)


def test_the_time_of_the_run_holds_for_the_reboot() -> None:
    """At the end of --timeout nobody waits any more."""
    refused = [UnreachableError("Connection refused", "transport.connect") for _ in range(10**5)]
    settings = SETTINGS._replace(options=RunOptions(timeout=0.5))
    result, _ = run(Calls(goes_down, *refused), settings)
    assert (result.outcome, result.kind) == ("unreachable", "host.timeout")


def test_an_interrupt_ends_the_wait() -> None:
    """A run that is cancelled while its host is rebooted is interrupted."""
    waiting = threading.Event()

    class Waiting(HostRun):
        def _pause(self, seconds: float) -> None:
            waiting.set()
            super()._pause(600.0)

    bus, _ = recorded_bus()
    planner = FakePlanner(NAMES, longest=600.0)
    task = Waiting(FakeHost("web1"), Calls(goes_down), planner=planner, bus=bus, settings=SETTINGS)
    results: list[HostResult] = []
    thread = threading.Thread(target=lambda: results.append(task.run()))
    thread.start()
    assert waiting.wait(60)
    task.cancel()
    thread.join(60)
    assert [one.outcome for one in results] == ["interrupted"]


def test_a_host_that_does_not_go_goes_on() -> None:
    """One that tells of another resource is there still; its end is the end of the run."""

    def stays(far: FarEnd) -> None:
        goes_down(far)
        failed = make_event(name="/etc/b", event_id="7" + "Z" * 24 + "0", status="failed")
        failed["event_id"], failed["error"] = "8" + "0" * 25, ["it did not go"]
        far.say("event", seq=2, event=failed)
        far.say("done", events=2, cancelled=False)

    result, _ = run(Calls(stays))
    assert (result.outcome, result.tally.failed) == ("failed", 1)


def test_a_host_reboots_once() -> None:
    """Another reboot in the same run is a breach, as is one in a preview."""
    result, _ = run(Calls(goes_down, lambda far: _again(far)))
    assert result.kind == "protocol"
    settings = SETTINGS._replace(options=RunOptions(noop=True))
    result, _ = run(Calls(goes_down), settings)
    assert result.kind == "protocol"


def _again(far: FarEnd) -> None:
    far.greet(boot="two")
    far.await_message("plan")
    far.say("rebooting", index=1, timeout=60, earlier=EARLIER)


@pytest.mark.parametrize(
    "wrong", [{"index": 3}, {"index": "1"}, {"timeout": "1"}, {"timeout": None}, {"earlier": []}]
)
def test_what_a_host_says_of_its_reboot_is_checked(wrong: dict[str, Any]) -> None:
    """Nonsense breaks the protocol, and nobody waits longer than the plan allows."""
    message = {"t": "rebooting", "index": 1, "timeout": 60, "earlier": {}}
    assert read_reboot(message, 3, 600.0).timeout == 60.0
    for much in (1e12, 10**400, float("inf")):
        assert read_reboot({**message, "timeout": much}, 3, 600.0).timeout == 600.0
    for nothing in (0, -(10**400), float("-inf"), float("nan")):
        assert read_reboot({**message, "timeout": nothing}, 3, 600.0).timeout == 0.0
    with pytest.raises(ProtocolError):
        read_reboot({**message, **wrong}, 3, 600.0)


def test_a_return_is_told_apart_by_its_boot() -> None:
    """A host that names no start was not started anew as far as anybody knows."""
    looks = iter(["", "one", "two"])
    links: list[Any] = []

    class Answering:
        def send(self, message: Any) -> None:
            links.append(message["t"])

        def close(self) -> None:
            links.append("closed")

    def call() -> Any:
        gathered = type("Gathered", (), {"hello": {"boot": next(looks)}})
        return Answering(), gathered

    found = RebootWait("one", call=call, pause=lambda seconds: None, until=None).wait(60.0)
    assert isinstance(found, Answering)
    assert links == ["bye", "closed", "bye", "closed"]
