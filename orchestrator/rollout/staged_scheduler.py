"""Schedules a rollout in stages: each starts when the previous one has passed (controller)."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.host_task import HostTask
from orchestrator.fleet.interfaces import Target
from orchestrator.fleet.outcome import HostResult
from orchestrator.rollout.budget import Budget
from orchestrator.rollout.rollout_options import RolloutOptions
from orchestrator.rollout.scheduler import RolloutScheduler, StagePosition


class StageRun(NamedTuple):
    """A stage of a rollout: its hosts, and the factory of its scheduler, which receives its
    position in the run.
    """

    name: str
    hosts: Sequence[Target]
    rollout: RolloutOptions
    make: Callable[[StagePosition], RolloutScheduler]


class StagedScheduler:
    """Runs the schedulers of the stages one after the other.

    A stage passes if its gates passed and at most the allowed number of its hosts failed, by
    default none. With a ``max_fail`` in the ``options`` of the complete run, this number may fail
    in all stages together, and a stage has its own limit only if it sets one.
    """

    def __init__(self, runs: Sequence[StageRun], options: RolloutOptions) -> None:
        self._names = [run.name for run in runs]
        self._options = options
        hosts = [list(run.hosts) for run in runs]
        total = sum(map(len, hosts))
        self._overall = Budget.of(options.max_fail, total, waves=False)
        self._schedulers: list[RolloutScheduler] = []
        before = 0
        for at, run in enumerate(runs):
            behind = [host for later in hosts[at + 1 :] for host in later]
            strict = options.max_fail is None
            budget = Budget.of(run.rollout.max_fail, len(run.hosts), strict)
            scheduler = run.make(StagePosition(before, behind, budget, self._overall))
            self._schedulers.append(scheduler)
            before += len(scheduler.waves())
        self._at = 0

    def planned(self, again: str) -> run_events.RolloutPlanned:
        """Return the hosts of each wave of each stage; ``again`` is the command that continues."""
        waves = [scheduler.waves() for scheduler in self._schedulers]
        return run_events.RolloutPlanned(
            waves=tuple(wave for of_stage in waves for wave in of_stage),
            max_fail=self._overall.limit,
            wishes=self._options.record(),
            again=again,
            stages=tuple(
                name for name, all_of in zip(self._names, waves, strict=True) for _ in all_of
            ),
            limits={
                name: scheduler.budget.limit
                for name, scheduler in zip(self._names, self._schedulers, strict=True)
            },
        )

    @property
    def _now(self) -> RolloutScheduler:
        return self._schedulers[self._at]

    @property
    def waits(self) -> bool:
        """Whether the gates are running."""
        return self._now.waits

    @property
    def spare(self) -> int | None:
        """The number of additional hosts that may fail."""
        return self._now.spare

    @property
    def held(self) -> bool:
        """Whether some hosts were not started, or a gate failed."""
        return self._now.held

    def next(self) -> HostTask[HostResult] | None:
        """The next host of the stage, or of the next stage once this one has passed."""
        task = self._now.next()
        while task is None and self._now.over and self._at < len(self._schedulers) - 1:
            self._at += 1
            task = self._now.next()
        return task

    def ended(self, name: str, answer: HostResult) -> None:
        """Count the host."""
        self._now.ended(name, answer)

    def rest(self) -> Iterator[HostTask[HostResult]]:
        """The hosts of this stage and of later ones that were not started."""
        for scheduler in self._schedulers[self._at :]:
            yield from scheduler.rest()

    def interrupt(self) -> None:
        """Stop waiting for the gates."""
        self._now.interrupt()
