"""Rollouts in stages, over fleets that are none."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet import outcome
from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.host.host_run import HostRun
from orchestrator.fleet.host.stage_host import StageHost
from orchestrator.fleet.interfaces import Target
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.sliding_window import Window
from orchestrator.rollout.budget import BUDGET, GATE, INTERRUPTED
from orchestrator.rollout.rollout_options import RolloutOptions
from orchestrator.rollout.scheduler import GateAnswer, RolloutScheduler, StagePosition
from orchestrator.rollout.staged_scheduler import StagedScheduler, StageRun
from orchestrator.rollout.wave_sizes import parse_amount, parse_waves
from tests.orchestrator.fleet.fakes import SETTINGS, FakeHost, FakePlanner, Recorder
from tests.orchestrator.rollout.test_scheduler import Touched

FEW = [FakeHost("db1"), FakeHost("db2")]
MANY = [FakeHost(f"web{number}") for number in range(6)]

ALIKE = RolloutOptions()


class StagedRun:
    """A run of stages, each with its hosts and options."""

    def __init__(
        self,
        stages: Mapping[str, tuple[Sequence[FakeHost], RolloutOptions]],
        connector: Touched,
        options: RolloutOptions = ALIKE,
        **more: Any,
    ) -> None:
        self.recorder = Recorder()
        self.results: dict[str, HostResult] = {}
        self._bus = Bus([self.recorder])
        self._connector = connector
        self._more = more
        legs = [self._leg(name, hosts, rollout) for name, (hosts, rollout) in stages.items()]
        self.scheduler = StagedScheduler(legs, options)
        self.planned = self.scheduler.planned("ccm push")
        Window(
            self.scheduler, 4, finished=lambda _, one: self._tell(run_events.HostFinished(one))
        ).run()

    def _leg(self, name: str, hosts: Sequence[FakeHost], rollout: RolloutOptions) -> StageRun:
        there = [StageHost(name, host) for host in hosts]

        def host_run(host: Target) -> HostRun:
            planner = FakePlanner(["/etc/a"])
            return HostRun(host, self._connector, planner=planner, bus=self._bus, settings=SETTINGS)

        def make(place: StagePosition) -> RolloutScheduler:
            return RolloutScheduler(
                there,
                rollout,
                make=host_run,
                publish=self._tell,
                stage=place,
                **self._more,
            )

        return StageRun(name, there, rollout, make)

    def _tell(self, event: run_events.Event) -> None:
        if isinstance(event, run_events.HostFinished):
            self.results[event.result.host] = event.result
        self._bus.publish(event)

    def outcomes(self) -> dict[str, str]:
        return {host: result.outcome for host, result in sorted(self.results.items())}

    def held(self) -> list[run_events.RolloutHeld]:
        return [e for e in self.recorder.events if isinstance(e, run_events.RolloutHeld)]


def test_a_stage_begins_when_the_one_before_it_has_passed() -> None:
    """The hosts of one are through before the first of the next; one may stand in both."""
    connector = Touched()
    stages = {
        "db": (FEW, RolloutOptions()),
        "web": ([*MANY, FEW[0]], RolloutOptions(waves=parse_waves("1,50%"))),
    }
    run = StagedRun(stages, connector)
    assert sorted(connector.order[:2]) == ["db1", "db2"]
    assert connector.order[2] == "web0"
    assert set(run.outcomes().values()) == {outcome.OK}
    assert {"db/db1", "web/db1"} <= run.results.keys()
    assert run.planned.stages == ("db", "web", "web", "web")
    assert [len(wave) for wave in run.planned.waves] == [2, 1, 3, 3]
    begun = [e.wave for e in run.recorder.events if isinstance(e, run_events.WaveStarted)]
    assert begun == [1, 2, 3, 4]
    assert not run.scheduler.held


def test_a_failure_in_a_stage_keeps_all_later_ones_untouched() -> None:
    """Without a number of failures that are allowed none are, and each host left out is told."""
    connector = Touched(down=["db2"])
    stages = {"db": (FEW, RolloutOptions()), "web": (MANY, RolloutOptions())}
    run = StagedRun(stages, connector)
    assert sorted(connector.order) == ["db1", "db2"]
    assert run.outcomes()["db/db2"] == outcome.UNREACHABLE
    assert {run.outcomes()[f"web/{host.name}"] for host in MANY} == {outcome.NOT_STARTED}
    (held,) = run.held()
    assert held.why == BUDGET
    assert held.hosts == tuple(f"web/{host.name}" for host in MANY)
    assert run.scheduler.held


def test_a_stage_may_allow_failures() -> None:
    """Its own number of them is of its own hosts."""
    connector = Touched(down=["db2", "web0"])
    allowing = RolloutOptions(max_fail=parse_amount("50%"))
    stages = {"db": (FEW, allowing), "web": (MANY, RolloutOptions(waves=parse_waves("1")))}
    run = StagedRun(stages, connector)
    assert connector.order[-1] == "web0"
    assert run.planned.limits == {"db": 1, "web": 0}
    assert run.held()[0].hosts == tuple(f"web/{host.name}" for host in MANY[1:])


def test_the_budget_of_the_run_is_of_all_stages() -> None:
    """With one, a stage without one of its own may fail on as many hosts as are left of it."""
    connector = Touched(down=["db1", "web2"])
    stages = {
        "db": (FEW, RolloutOptions()),
        "web": (MANY, RolloutOptions(waves=parse_waves("3"))),
        "last": (FEW, RolloutOptions()),
    }
    whole = RolloutOptions(max_fail=parse_amount("1"))
    run = StagedRun(stages, connector, whole)
    assert run.planned.max_fail == 1
    assert run.outcomes()["web/web2"] == outcome.UNREACHABLE
    assert {run.outcomes()[f"web/web{n}"] for n in (3, 4, 5)} == {outcome.NOT_STARTED}
    assert run.outcomes()["last/db1"] == outcome.NOT_STARTED


@pytest.mark.parametrize("ended", [0, 2])
def test_hosts_of_later_stages_are_told_when_the_user_ends_the_run(ended: int) -> None:
    """Though every host of the stage itself has begun, or its gates are being asked."""
    told: list[run_events.Event] = []

    def leg(name: str, hosts: Sequence[FakeHost]) -> StageRun:
        there = [StageHost(name, host) for host in hosts]

        def make(place: StagePosition) -> RolloutScheduler:
            return RolloutScheduler(
                there, ALIKE, make=one_host, publish=told.append, gates=Never, stage=place
            )

        return StageRun(name, there, ALIKE, make)

    scheduler = StagedScheduler([leg("db", FEW), leg("web", MANY)], ALIKE)
    for task in [scheduler.next(), scheduler.next()][:ended]:
        assert task is not None
        scheduler.ended(task.name, HostResult(task.name, Tally(), outcome.OK))
    scheduler.interrupt()
    (held,) = [event for event in told if isinstance(event, run_events.RolloutHeld)]
    assert held.why == INTERRUPTED
    assert held.hosts == tuple(f"web/{host.name}" for host in MANY)
    assert [task.name for task in scheduler.rest()] == list(held.hosts)


def one_host(host: Target) -> HostRun:
    planner = FakePlanner(["/etc/a"])
    return HostRun(host, Touched(), planner=planner, bus=Bus([]), settings=SETTINGS)


class Never:
    """Gates that have not answered yet."""

    asked: list[int] = []

    def ask(self, wave: int, results: Sequence[HostResult]) -> None:
        self.asked.append(wave)

    def verdict(self) -> GateAnswer | None:
        return None

    def cancel(self) -> None:
        """They do not answer any more."""


def test_no_gate_is_asked_once_the_user_has_ended_the_run() -> None:
    """Of the last wave, whose hosts end after that."""
    Never.asked = []
    scheduler = RolloutScheduler(
        FEW, ALIKE, make=one_host, publish=lambda event: None, gates=Never, stage=StagePosition()
    )
    begun = [scheduler.next(), scheduler.next()]
    scheduler.interrupt()
    for task in begun:
        assert task is not None
        scheduler.ended(task.name, HostResult(task.name, Tally(), outcome.INTERRUPTED))
    assert Never.asked == []


class No:
    """Gates that let the hosts of one wave through and no others."""

    asked: list[int] = []

    def ask(self, wave: int, results: Sequence[HostResult]) -> None:
        self.asked.append(wave)

    def verdict(self) -> GateAnswer | None:
        return GateAnswer("" if self.asked[-1] == 1 else "the pool is degraded")

    def cancel(self) -> None:
        """Nobody was asked."""


def test_gates_stand_behind_each_stage() -> None:
    """Also behind the last wave of one: no host of the next begins before they have answered."""
    connector = Touched()
    No.asked = []
    stages = {
        "db": (FEW, RolloutOptions()),
        "web": (MANY, RolloutOptions()),
        "last": (FEW, RolloutOptions()),
    }
    run = StagedRun(stages, connector, gates=No)
    assert No.asked == [1, 2]
    assert len(connector.order) == 8
    (held,) = run.held()
    assert (held.why, held.text) == (GATE, "the pool is degraded")
    assert held.hosts == ("last/db1", "last/db2")
