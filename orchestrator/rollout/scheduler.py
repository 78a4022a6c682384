"""Schedules a rollout: wave after wave, within budget, gates and deadline (controller)."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from orchestrator.fleet import events as run_events
from orchestrator.fleet import outcome
from orchestrator.fleet.host.host_task import HostTask
from orchestrator.fleet.interfaces import Target
from orchestrator.fleet.outcome import HostResult
from orchestrator.rollout.budget import BUDGET, CANARY, GATE, INTERRUPTED, UNTIL, Budget, is_failure
from orchestrator.rollout.canaries import Canaries
from orchestrator.rollout.rollout_options import RolloutOptions
from orchestrator.rollout.shared_limits import SharedLimits
from orchestrator.rollout.wave_sizes import divide

KIND = "rollout.gate"  # of a canary that a gate did not let through


class GateAnswer(NamedTuple):
    """The result of a gate, or of all gates of a wave: ``stop`` is why the rollout stops, "" if it
    continues. ``failed`` has the hosts with problems, with their new results.
    """

    stop: str = ""
    failed: Sequence[HostResult] = ()


class Gates(Protocol):
    """The gates after a wave; they run in other threads, so that the window can keep
    updating its view.
    """

    def ask(self, wave: int, results: Sequence[HostResult]) -> None:
        """Start running the gates for the hosts of a wave."""

    def verdict(self) -> GateAnswer | None:
        """The result; None while it is unknown."""

    def cancel(self) -> None:
        """Cancel the gates."""


class NoGates:
    """Lets each wave pass."""

    def ask(self, wave: int, results: Sequence[HostResult]) -> None:
        """Do nothing, because there are no gates."""

    def verdict(self) -> GateAnswer | None:
        """Continue."""
        return GateAnswer()

    def cancel(self) -> None:
        """Do nothing, because there are no gates."""


class StagePosition(NamedTuple):
    """The position of a scheduler in a run: the number of earlier waves, and the hosts ``behind``
    it.

    ``budget`` replaces the budget in its options; ``overall`` is the budget of the run.
    """

    waves_before: int = 0
    behind: Sequence[Target] = ()
    budget: Budget | None = None
    overall: Budget | None = None


ALONE = StagePosition()


class RolloutScheduler:
    """Schedules hosts by wave; ``make`` creates the task of the next one.

    ``publish`` receives the progress of the rollout. A host that fails a gate finishes again, with
    a new result. The first host of each of the ``clusters`` is in the first wave; ``gates`` are run
    for each of these hosts separately, and if one fails, its cluster is skipped.
    """

    def __init__(
        self,
        hosts: Sequence[Target],
        options: RolloutOptions,
        *,
        make: Callable[[Target], HostTask[HostResult]],
        publish: Callable[[run_events.Event], None],
        gates: Callable[[], Gates] = NoGates,
        clusters: Sequence[Sequence[str]] = (),
        stage: StagePosition = ALONE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._canaries = Canaries(clusters)
        self._waves = divide(
            [host for host in hosts if host.name not in self._canaries], options.waves
        )
        if self._canaries:
            self._waves.insert(0, [host for host in hosts if host.name in self._canaries])
        self._make = make
        self._publish = publish
        self._gates = gates
        self._rounds: list[Gates] = []  # the gates that run
        self._clock = clock
        self._until = options.until
        self._sharing = SharedLimits(options.per)
        self._stage = stage
        self.budget = stage.budget or Budget.of(options.max_fail, len(hosts), bool(options.waves))
        self._wave = 0  # counted from 1 once it has begun
        self._waiting: list[Target] = []
        self._running: dict[str, Target] = {}
        self._results: list[HostResult] = []  # of the wave
        self._skipped: list[Target] = []  # whose canary has failed
        self._failed: list[str] = []  # canaries that have hosts behind them
        self._stopped = False
        self._interrupted = False
        self._options = options

    def planned(self, again: str) -> run_events.RolloutPlanned:
        """The hosts of each wave; ``again`` is the command that continues."""
        return run_events.RolloutPlanned(
            self.waves(), self.budget.limit, self._options.record(), again
        )

    def waves(self) -> tuple[tuple[str, ...], ...]:
        """The hosts of each wave."""
        return tuple(tuple(host.name for host in wave) for wave in self._waves)

    @property
    def waits(self) -> bool:
        """Whether the gates are running."""
        return bool(self._rounds) and not self._stopped

    @property
    def spare(self) -> int | None:
        """How many more hosts may fail, within the limits of the stage and the run."""
        left = [each.left for each in (self.budget, self._stage.overall) if each is not None]
        return min((one for one in left if one is not None), default=None)

    @property
    def over(self) -> bool:
        """Whether each host has run and the last wave has passed its gates."""
        begun = self._wave == len(self._waves) and not self._waiting
        return begun and not self._running and not self._rounds and not self._stopped

    @property
    def held(self) -> bool:
        """Whether some hosts were not started, or a gate failed."""
        return self._stopped or bool(self._skipped)

    def next(self) -> HostTask[HostResult] | None:
        """The next host of the wave that is within the limits of shared variables."""
        self._check_gates()
        if self._stopped or self._rounds:
            return None
        while not self._waiting and not self._running and self._wave < len(self._waves):
            self._open()
        for at, host in enumerate(self._waiting):
            if self._sharing.admits(host.vars):
                del self._waiting[at]
                self._sharing.begin(host.vars)
                self._running[host.name] = host
                return self._make(host)
        return None

    def ended(self, name: str, answer: HostResult) -> None:
        """Count the host; after the last host of a wave, run the gates."""
        self._sharing.end(self._running.pop(name).vars)
        self._results.append(answer)
        self._count(answer)
        if not (self._waiting or self._running or self._stopped or self._interrupted):
            self._start_gates()

    def rest(self) -> Iterator[HostTask[HostResult]]:
        """The hosts of this wave and of later ones that were not started."""
        if self._skipped and not self._stopped:
            lost = tuple(host.name for host in self._skipped)
            failed = ", ".join(self._failed)
            self._publish(run_events.RolloutHeld(CANARY, failed, lost, self._clock()))
        for host in self._left():
            yield self._make(host)

    def interrupt(self) -> None:
        """Ignore the gates, and start no more hosts."""
        self._interrupted = True
        for asked in self._rounds:
            asked.cancel()
        if self._stage.behind or any(self._left()):
            self._stop(INTERRUPTED, "")

    def _open(self) -> None:
        self._waiting = list(self._waves[self._wave])
        self._results = []
        self._wave += 1
        if not self._waiting:  # all of its hosts belong to a canary that failed
            return
        self._publish(run_events.WaveStarted(self._number, self._clock()))

    @property
    def _number(self) -> int:
        """The number of the wave in the complete run."""
        return self._stage.waves_before + self._wave

    @property
    def _first(self) -> bool:
        """Whether this is the wave with the canaries."""
        return self._wave == 1 and bool(self._canaries)

    def _start_gates(self) -> None:
        """Run the gates for the wave, or for each healthy canary separately."""
        groups = [[one] for one in self._results] if self._first else [self._results]
        lost = [self._first and is_failure(group[0]) for group in groups]
        self._rounds = [NoGates() if one else self._gates() for one in lost]
        for asked, group in zip(self._rounds, groups, strict=True):
            asked.ask(self._number, group)

    def _check_gates(self) -> None:
        """Collect the results of the gates once they are complete, and check the deadline."""
        verdicts = [asked.verdict() for asked in self._rounds] if not self._stopped else []
        known = [verdict for verdict in verdicts if verdict is not None]
        if known and len(known) == len(verdicts):
            self._rounds = []
            self._apply_verdicts(known)
        late = self._until is not None and self._clock() >= self._until
        if late and not self._stopped and not self._rounds and any(self._left()):
            self._stop(UNTIL, "")

    def _apply_verdicts(self, verdicts: Sequence[GateAnswer]) -> None:
        """Count the hosts that failed the gates, and continue as far as the gates allow."""
        wrong = {result.host for result in self._results if is_failure(result)}
        for verdict, result in zip(verdicts, self._results, strict=False):
            failed = list(verdict.failed)
            if verdict.stop and self._first:
                stopped = result._replace(outcome=outcome.FAILED, kind=KIND, message=verdict.stop)
                failed.append(stopped)
            for one in failed:
                wrong.add(one.host)
                self._publish(run_events.HostFinished(one))
                self._count(one)
            if verdict.stop and not self._first:
                self._stop(GATE, verdict.stop)
        if self._first:
            self._failed = sorted(name for name in wrong if self._canaries.behind({name}))
            self._skip(self._canaries.behind(wrong))

    def _skip(self, lost: set[str]) -> None:
        """Skip these hosts."""
        for wave in self._waves[self._wave :]:
            self._skipped += [host for host in wave if host.name in lost]
            wave[:] = [host for host in wave if host.name not in lost]

    def _count(self, result: HostResult) -> None:
        if self._first and self._options.max_fail is None:
            return  # a failed canary stops only its cluster
        for budget in filter(None, (self.budget, self._stage.overall)):
            budget.count(result)
            if budget.spent:
                self._stop(BUDGET, "")

    def _stop(self, reason: str, text: str) -> None:
        if not self._stopped:
            self._stopped = True
            left = tuple(host.name for host in (*self._left(), *self._stage.behind))
            self._publish(run_events.RolloutHeld(reason, text, left, self._clock()))

    def _left(self) -> Iterator[Target]:
        yield from self._skipped
        yield from self._waiting
        for wave in self._waves[self._wave :]:
            yield from wave
