"""Gates, one after the other."""

import threading
import time
from collections.abc import Sequence

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet import outcome
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.rollout.gates import GateRunner, GateTime, failed_result
from orchestrator.rollout.scheduler import GateAnswer

RESULTS = [HostResult("a", Tally()), HostResult("b", Tally()), HostResult("c", Tally(), "failed")]

WELL = GateAnswer()


class FakeGate:
    """Answers at once, and notes whom it was asked about."""

    seconds = 5.0

    def __init__(
        self, name: str, answer: GateAnswer | Exception = WELL, hears_all: bool = False
    ) -> None:
        self.name = name
        self.hears_all = hears_all
        self._answer = answer
        self.asked: list[str] = []
        self.results: Sequence[HostResult] = ()

    def ask(self, wave: int, results: Sequence[HostResult], time_left: GateTime) -> GateAnswer:
        self.asked = [result.host for result in results]
        self.results = results
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def verdict(
    *gates: FakeGate, results: Sequence[HostResult] = RESULTS
) -> tuple[GateAnswer, list[run_events.Event]]:
    told: list[run_events.Event] = []
    keeper = GateRunner(gates, told.append)
    keeper.ask(1, results)
    end = time.monotonic() + 10
    while keeper.verdict() is None and time.monotonic() < end:
        time.sleep(0.01)
    found = keeper.verdict()
    assert found is not None
    return found, told


def test_each_is_asked_about_those_that_are_well() -> None:
    """A host that has failed, or that an earlier gate has found wrong, is no question any more."""
    bad = failed_result(RESULTS[0], "rollout.soak", "unwell")
    first, second = FakeGate("first", GateAnswer(failed=[bad])), FakeGate("second")
    found, told = verdict(first, second)
    assert (first.asked, second.asked) == (["a", "b"], ["b"])
    assert found == GateAnswer("", [bad])
    assert (bad.outcome, bad.kind, bad.message) == (outcome.FAILED, "rollout.soak", "unwell")
    answers = [event for event in told if isinstance(event, run_events.GateAnswered)]
    assert [(one.gate, one.passed, one.hosts) for one in answers] == [
        ("first", False, ("a",)),
        ("second", True, ()),
    ]
    asked = next(event for event in told if isinstance(event, run_events.GateAsked))
    assert asked.until == pytest.approx(asked.at + 5.0)


def test_what_judges_the_wave_hears_of_all_its_hosts() -> None:
    """Those that have failed, and those that a gate before it has found wrong, as they are now."""
    bad = failed_result(RESULTS[0], "rollout.soak", "unwell")
    gates = FakeGate("first", GateAnswer(failed=[bad])), FakeGate("all", hears_all=True)
    verdict(*gates)
    assert gates[1].results == [bad, *RESULTS[1:]]


def test_a_wave_without_a_well_host_is_judged_all_the_same() -> None:
    """Nothing is looked at on its hosts, but who decides over the rollout is asked."""
    looks, judges = FakeGate("looks"), FakeGate("judges", GateAnswer("no"), hears_all=True)
    found, _ = verdict(looks, judges, results=RESULTS[2:])
    assert (looks.asked, judges.asked, found.stop) == ([], ["c"], "no")


def test_the_first_that_stops_is_the_last_that_is_asked() -> None:
    """Nobody asks for more once the rollout does not go on."""
    first, second = FakeGate("first", GateAnswer("no")), FakeGate("second")
    found, _ = verdict(first, second)
    assert found.stop == "no"
    assert second.asked == []


def test_a_defect_in_a_gate_stops(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ccm does wrong lets nobody through."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    found, _ = verdict(FakeGate("first", AttributeError("oops")))
    assert "internal error in ccm" in found.stop


def test_patience_ends() -> None:
    """With its time, or when the user ends the run."""
    cancelled = threading.Event()
    assert not GateTime(0.05, cancelled).sleep(1.0)
    time_left = GateTime(60.0, cancelled)
    assert time_left.sleep(0.01)
    threading.Timer(0.1, cancelled.set).start()
    assert not time_left.sleep(30.0)
    assert time_left.cancelled
