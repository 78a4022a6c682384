"""Rollouts in waves, over fleets that are none."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet import outcome
from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.host.host_run import HostRun
from orchestrator.fleet.interfaces import OnPhase, Target
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.sliding_window import Window
from orchestrator.rollout.rollout_options import RolloutOptions
from orchestrator.rollout.scheduler import GateAnswer, RolloutScheduler
from orchestrator.rollout.shared_limits import parse_per
from orchestrator.rollout.wave_sizes import parse_amount, parse_waves
from remote_runtime.errors import UnreachableError
from tests.orchestrator.fleet.fakes import (
    SETTINGS,
    FakeConnector,
    FakeHost,
    FakeLink,
    FakePlanner,
    FarEnd,
    Recorder,
)


class Touched(FakeConnector):
    """Notes in which order hosts are reached; those in ``down`` are not."""

    def __init__(
        self, down: Sequence[str] = (), script: Callable[[FarEnd], Any] = FarEnd.carry_out_plan
    ) -> None:
        super().__init__(script)
        self.down = down
        self.order: list[str] = []
        self._lock = threading.Lock()

    def open(self, host: FakeHost, on_phase: OnPhase, until: float | None = None) -> FakeLink:
        with self._lock:
            self.order.append(host.name)
        if host.name in self.down:
            raise UnreachableError("no route to host")
        return super().open(host, on_phase, until)


class Rolled(NamedTuple):
    """What came of a rollout."""

    results: dict[str, HostResult]
    recorder: Recorder
    scheduler: RolloutScheduler

    def outcomes(self) -> dict[str, str]:
        return {host: result.outcome for host, result in self.results.items()}

    def steps(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.recorder.events if isinstance(event, kind)]


def roll_out(
    hosts: Sequence[FakeHost],
    connector: FakeConnector,
    options: RolloutOptions,
    *,
    forks: int = 8,
    tick: Callable[[], None] = lambda: None,
    **more: Any,
) -> Rolled:
    recorder = Recorder()
    bus = Bus([recorder])
    results: dict[str, HostResult] = {}

    def make(host: Target) -> HostRun:
        planner = FakePlanner(["/etc/a"])
        return HostRun(host, connector, planner=planner, bus=bus, settings=SETTINGS)

    def publish(event: run_events.Event) -> None:
        if isinstance(event, run_events.HostFinished):
            results[event.result.host] = event.result
        bus.publish(event)

    scheduler = RolloutScheduler(hosts, options, make=make, publish=publish, **more)

    def finished(_: Any, result: HostResult) -> None:
        publish(run_events.HostFinished(result))

    Window(scheduler, forks, finished=finished, tick=tick).run()
    return Rolled(results, recorder, scheduler)


HOSTS = [FakeHost(f"h{number:02}") for number in range(20)]


def test_a_wave_begins_when_the_one_before_it_has_ended() -> None:
    """No host of a wave is touched before each host of the wave before it has its result."""
    running, lock, seen = [0], threading.Lock(), list[tuple[int, int]]()

    def script(far: FarEnd) -> None:
        with lock:
            running[0] += 1
        time.sleep(0.01)
        far.carry_out_plan()
        with lock:
            running[0] -= 1

    connector = Touched(script=script)
    rolled = roll_out(HOSTS, connector, RolloutOptions(waves=parse_waves("1,5,50%")))
    begun = 0
    for event in rolled.recorder.events:
        if isinstance(event, run_events.WaveStarted):
            seen.append((event.wave, begun))
        begun += isinstance(event, run_events.HostFinished)
    assert seen == [(1, 0), (2, 1), (3, 5), (4, 10)]
    assert set(rolled.outcomes().values()) == {outcome.OK}
    assert sorted(connector.order) == [host.name for host in HOSTS]


@pytest.mark.parametrize(("limit", "touched"), [(None, 5), ("0", 5), ("1", 10), ("10%", 20)])
def test_the_budget_ends_a_rollout(limit: str | None, touched: int) -> None:
    """More failures than may be: no host of a later wave is touched, and each is told as held."""
    max_fail = None if limit is None else parse_amount(limit)
    options = RolloutOptions(waves=parse_waves("5,10,100%"), max_fail=max_fail)
    connector = Touched(down=["h03", "h07"])
    rolled = roll_out(HOSTS, connector, options, forks=20)
    assert len(connector.order) == touched
    held = {host for host, how in rolled.outcomes().items() if how == outcome.NOT_STARTED}
    assert held == {host.name for host in HOSTS} - set(connector.order)
    assert rolled.scheduler.held == bool(held)
    for step in rolled.steps(run_events.RolloutHeld):
        assert (step.why, set(step.hosts)) == ("budget", held)
    assert not any(rolled.results[host].was_started for host in held)


def test_within_a_wave_only_those_that_run_end() -> None:
    """One after the other, the first failure beyond the budget is the last host that is touched."""
    connector = Touched(down=["h02", "h04"])
    rolled = roll_out(HOSTS, connector, RolloutOptions(max_fail=parse_amount("1")), forks=1)
    assert connector.order == ["h00", "h01", "h02", "h03", "h04"]
    assert rolled.outcomes()["h05"] == outcome.NOT_STARTED


def test_no_host_begins_after_the_time() -> None:
    """The clock holds a rollout; what runs goes on to its end."""
    now = [100.0]

    def script(far: FarEnd) -> None:
        far.carry_out_plan()
        now[0] += 10

    connector = Touched(script=script)
    options = RolloutOptions(until=130.0)
    rolled = roll_out(HOSTS, connector, options, forks=1, clock=lambda: now[0])
    assert connector.order == ["h00", "h01", "h02"]
    (step,) = rolled.steps(run_events.RolloutHeld)
    assert (step.why, len(step.hosts)) == ("until", 17)


def test_hosts_that_share_a_rack_come_one_after_the_other() -> None:
    """Never two hosts of a rack at once, and hosts of other racks do not wait for them."""
    hosts = [FakeHost(f"h{number:02}", {"rack": number // 5}) for number in range(20)]
    rack_of = {host.name: host.vars["rack"] for host in hosts}
    lock, running, maximum, widest = threading.Lock(), list[int](), [0], [0]

    class Racks(Touched):
        def open(self, host: FakeHost, on_phase: OnPhase, until: float | None = None) -> FakeLink:
            rack = rack_of[host.name]
            with lock:
                running.append(rack)
                maximum[0] = max(maximum[0], running.count(rack))
                widest[0] = max(widest[0], len(running))
            time.sleep(0.02)
            with lock:
                running.remove(rack)
            return super().open(host, on_phase, until)

    rolled = roll_out(hosts, Racks(), RolloutOptions(per=(parse_per("rack=1"),)))
    assert set(rolled.outcomes().values()) == {outcome.OK}
    assert maximum == [1]
    assert widest[0] > 1


class Scripted:
    """Gates with an answer per wave, after some looks; ``None`` never answers."""

    def __init__(self, *answers: GateAnswer | None, looks: int = 2) -> None:
        self._answers = list(answers)
        self._looks = looks
        self._left = 0
        self.asked: list[tuple[int, list[str]]] = []
        self.cancelled = False

    def ask(self, wave: int, results: Sequence[HostResult]) -> None:
        self.asked.append((wave, sorted(result.host for result in results)))
        self._left = self._looks

    def verdict(self) -> GateAnswer | None:
        self._left -= 1
        return self._answers.pop(0) if self._left < 0 and self._answers[0] is not None else None

    def cancel(self) -> None:
        self.cancelled = True


def test_a_gate_stands_after_each_wave() -> None:
    """The next wave begins once the gates have let this one through."""
    gates = Scripted(GateAnswer(), GateAnswer())
    connector = Touched()
    rolled = roll_out(HOSTS[:4], connector, RolloutOptions(parse_waves("1")), gates=lambda: gates)
    assert gates.asked == [(1, ["h00"]), (2, ["h01", "h02", "h03"])]
    assert set(rolled.outcomes().values()) == {outcome.OK}


def test_a_gate_that_says_no_holds_the_rollout() -> None:
    """No host of the next wave is touched, though all were well."""
    gates = Scripted(GateAnswer("deploy.sh exited with 1"))
    connector = Touched()
    rolled = roll_out(HOSTS[:4], connector, RolloutOptions(parse_waves("1")), gates=lambda: gates)
    assert connector.order == ["h00"]
    (step,) = rolled.steps(run_events.RolloutHeld)
    assert (step.why, step.text, len(step.hosts)) == ("gate", "deploy.sh exited with 1", 3)


def test_a_host_that_a_gate_finds_wrong_has_failed() -> None:
    """Its result is told again, and it counts in the budget."""
    bad = HostResult("h00", roll_out(HOSTS[:1], Touched(), RolloutOptions()).results["h00"].tally)
    bad = bad._replace(outcome=outcome.FAILED, message="unwell")
    gates = Scripted(GateAnswer(failed=[bad]))
    connector = Touched()
    rolled = roll_out(HOSTS[:4], connector, RolloutOptions(parse_waves("1")), gates=lambda: gates)
    assert rolled.outcomes() == {"h00": "failed", "h01": "held", "h02": "held", "h03": "held"}
    (step,) = rolled.steps(run_events.RolloutHeld)
    assert step.why == "budget"


CLUSTERS = [["h03", "h04", "h05", "h06"], ["h10", "h11"], ["h19"]]


def test_a_canary_of_each_cluster_goes_first() -> None:
    """Then all others, those without changes among them, in the waves that were asked for."""
    connector = Touched()
    options = RolloutOptions(waves=parse_waves("5"), canary="auto")
    rolled = roll_out(HOSTS, connector, options, clusters=CLUSTERS, forks=1)
    assert connector.order[:3] == ["h03", "h10", "h19"]
    assert connector.order[3:] == [h.name for h in HOSTS if h.name not in ("h03", "h10", "h19")]
    planned = rolled.scheduler.planned("")
    assert [len(wave) for wave in planned.waves] == [3, 5, 12]
    assert set(rolled.outcomes().values()) == {outcome.OK}


def test_a_canary_that_fails_stops_its_cluster_only() -> None:
    """The hosts behind it have no turn; all others have, and the rollout is no whole one."""
    connector = Touched(down=["h03"])
    options = RolloutOptions(waves=parse_waves("5"), canary="auto")
    rolled = roll_out(HOSTS, connector, options, clusters=CLUSTERS)
    held = {host for host, how in rolled.outcomes().items() if how == outcome.NOT_STARTED}
    assert held == {"h04", "h05", "h06"}
    assert set(connector.order) == {host.name for host in HOSTS} - held
    (step,) = rolled.steps(run_events.RolloutHeld)
    assert (step.why, step.text, set(step.hosts)) == ("canary", "h03", held)
    assert rolled.scheduler.held


def test_a_canary_that_has_failed_is_no_question_for_the_gates() -> None:
    """Its cluster stays out whatever they would say; and a wave that only had that is no wave."""
    gates: list[Scripted] = []

    def make() -> Scripted:
        gates.append(Scripted(GateAnswer(), looks=0))
        return gates[-1]

    options = RolloutOptions(waves=parse_waves("3"), canary="auto")
    hosts = [FakeHost(name) for name in ("a", "a2", "a3", "a4", "b", "c")]
    clusters = [["a", "a2", "a3", "a4"], ["b", "c"]]
    rolled = roll_out(hosts, Touched(down=["a"]), options, clusters=clusters, gates=make)
    assert [one.asked for one in gates] == [[(1, ["b"])], [(3, ["c"])]]
    assert [step.wave for step in rolled.steps(run_events.WaveStarted)] == [1, 3]


def test_with_a_budget_a_canary_counts() -> None:
    """As any other host does."""
    connector = Touched(down=["h03"])
    options = RolloutOptions(max_fail=parse_amount("0"), canary="auto")
    rolled = roll_out(HOSTS, connector, options, clusters=CLUSTERS, forks=1)
    assert connector.order == ["h03"]
    (step,) = rolled.steps(run_events.RolloutHeld)
    assert step.why == "budget"
    assert len(step.hosts) == 19


def test_each_canary_has_its_own_gate() -> None:
    """Where one is not let through it has failed, and its cluster stays out."""
    asked: list[list[str]] = []

    class Picky:
        """Lets nobody through but h10, and each wave behind the canaries."""

        def ask(self, wave: int, results: Sequence[HostResult]) -> None:
            names = sorted(result.host for result in results)
            asked.append(names)
            self._told = GateAnswer("" if wave > 1 or names == ["h10"] else "the rate is high")

        def verdict(self) -> GateAnswer | None:
            return self._told

        def cancel(self) -> None:
            """Nobody waits."""

    rolled = roll_out(
        HOSTS, Touched(), RolloutOptions(canary="auto"), clusters=CLUSTERS, gates=Picky
    )
    assert sorted(asked[:3]) == [["h03"], ["h10"], ["h19"]]
    bad = {host: how.kind for host, how in rolled.results.items() if how.outcome == "failed"}
    assert bad == {"h03": "rollout.gate", "h19": "rollout.gate"}
    assert rolled.outcomes()["h11"] == outcome.OK
    assert rolled.outcomes()["h04"] == outcome.NOT_STARTED
