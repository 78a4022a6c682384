"""The progress of a rollout: its waves, gates and budget (controller)."""

from collections.abc import Iterator
from typing import NamedTuple

from orchestrator.fleet import events as run_events
from orchestrator.fleet import outcome
from orchestrator.fleet.host.stage_host import stage_in
from orchestrator.fleet.outcome import HostResult
from orchestrator.report.durations import duration_text
from orchestrator.report.host_names import named
from orchestrator.rollout.budget import BUDGET, CANARY, INTERRUPTED, UNTIL, Budget, is_failure
from orchestrator.rollout.rollout_options import clock_text

_TAKEN = frozenset((run_events.RunStarted, run_events.HostFinished, *run_events.ROLLOUT))


class WaveRow(NamedTuple):
    """A wave, counted from 1, and its progress; "" in a preview."""

    number: int
    hosts: list[str]
    told: str


class RolloutProgress:
    """Receives a run's events; without rollout options, there is no progress to show."""

    def __init__(self) -> None:
        self.planned: run_events.RolloutPlanned | None = None
        self.wave = 0
        self._asked: list[run_events.GateAsked] = []
        self.answers: list[run_events.GateAnswered] = []
        self.held: run_events.RolloutHeld | None = None
        self._noop = False
        self._budgets = {"": Budget(None)}  # by stage, that of the complete run under ""
        self._ended: set[str] = set()
        self._failed: dict[str, HostResult] = {}

    def handle(self, event: run_events.Event) -> None:
        """Process an event."""
        if event.__class__ not in _TAKEN:  # which most are not
            return
        if isinstance(event, run_events.RunStarted):
            self._noop = event.noop
        elif isinstance(event, run_events.RolloutPlanned):
            self.planned = event
            limits = {"": event.max_fail, **event.limits}
            self._budgets = {stage: Budget(limit) for stage, limit in limits.items()}
        elif isinstance(event, run_events.WaveStarted):
            self.wave = event.wave
        elif isinstance(event, run_events.GateAsked):
            self._asked.append(event)
        elif isinstance(event, run_events.GateAnswered):
            self.answers.append(event)
            answered = [one for one in self._asked if (one.wave, one.gate) == event[:2]]
            for one in answered[:1]:  # clusters may have asked the same at once
                self._asked.remove(one)
        elif isinstance(event, run_events.RolloutHeld):
            self.held = event
        elif isinstance(event, run_events.HostFinished):
            self._finished(event.result)

    def _finished(self, result: HostResult) -> None:
        for stage in {"", stage_in(result.host)} & self._budgets.keys():
            self._budgets[stage].count(result)
        if self.planned is not None and result.was_started:
            self._ended.add(result.host)
        if is_failure(result) and result.outcome != outcome.INTERRUPTED:
            self._failed[result.host] = result

    def now(self, at: float) -> str:
        """The current progress in one line; "" for none."""
        if self.planned is None or self._noop:
            return ""
        parts = [self._progress(), self._failures()]
        if self.waits:
            parts.append(self._wait(at))
        if self.held is not None:
            parts.append(f"stopped: {self.reason()}")
        return "   ".join(filter(None, parts))

    @property
    def waits(self) -> bool:
        """Whether a gate has not answered yet."""
        return bool(self._asked)

    def _wait(self, at: float) -> str:
        first = min(self._asked, key=lambda one: one.until)
        others = len(self._asked) - 1
        more = f" and {others:,} more gate{'s' if others > 1 else ''}" if others else ""
        duration = duration_text(max(0.0, first.until - at))
        return f"waiting for {first.gate}{more} (must pass within {duration})"

    def _progress(self) -> str:
        waves = self.planned.waves if self.planned else ()
        if len(waves) < 2 or not self.wave:
            return ""
        hosts = waves[self.wave - 1]
        done = sum(host in self._ended for host in hosts)
        stage = f" ({self.stage})" if self.stage else ""
        return f"wave {self.wave} of {len(waves)}{stage}: {done:,} of {_hosts(len(hosts))}"

    @property
    def stage(self) -> str:
        """The current stage of the rollout; "" without stages, or before the first."""
        stages = self.planned.stages if self.planned else ()
        return stages[self.wave - 1] if stages and self.wave else ""

    @property
    def _budget(self) -> Budget:
        """The budget of the stage, or that of the complete run if the run's is used up."""
        whole = self._budgets[""]
        of_stage = self._budgets.get(self.stage, whole)
        return whole if whole.spent or of_stage.limit is None else of_stage

    def _failures(self) -> str:
        budget = self._budget
        return (
            ""
            if budget.limit is None
            else f"{_hosts(budget.failed)} failed (limit {budget.limit:,})"
        )

    def line(self, event: run_events.Event) -> str:
        """The log line for an event of the rollout; "" for other events."""
        if isinstance(event, run_events.WaveStarted) and self.planned is not None:
            waves = self.planned.waves
            if len(waves) > 1:
                hosts = waves[event.wave - 1]
                return f"wave {event.wave} of {len(waves)}: {named(list(hosts), 60)}"
        elif isinstance(event, run_events.GateAsked):
            until = clock_text(event.until)
            return f"{_after(event.wave)}: {event.gate} started (must pass by {until})"
        elif isinstance(event, run_events.GateAnswered):
            return _answer(event)
        elif isinstance(event, run_events.RolloutHeld):
            return f"stopped: {self.reason()}{_left(event)}"
        return ""

    def reason(self) -> str:
        """The reason why no more hosts start."""
        held = self.held
        if held is None:
            return ""
        if held.why == BUDGET:
            return f"{_hosts(self._budget.failed)} failed (limit {self._budget.limit:,})"
        if held.why == CANARY:
            return f"failed canaries: {held.text}"
        if held.why == INTERRUPTED:
            return "the run was interrupted"
        if held.why == UNTIL:
            return f"no host starts after {clock_text(held.at)}"
        return held.text

    def summary(self, width: int) -> Iterator[tuple[str, str]]:
        """Yield the titles and values of a run's totals."""
        if self.planned is not None and self._noop:
            yield from self._preview(self.planned, width)
        yield from self.result_lines()

    def result_lines(self) -> Iterator[tuple[str, str]]:
        """The same without the waves of a preview."""
        if self.planned is None:
            return
        if self._noop:
            if told := self._foreseen(self.planned):
                yield "Rollout", told
            return
        for answer in self.answers:
            if not answer.passed or answer.hosts:
                yield "Gate", _answer(answer)
        failed = self._budget.failed
        waves = len(self.planned.waves) > 1
        failures = self._failures() or self._troubled(failed, waves)
        far = ": ".join(filter(None, [self._waves_done(), failures]))
        if far:
            yield "Rollout", far
        if self.held is not None:
            yield ("" if far else "Rollout"), f"stopped: {self.reason()}{_left(self.held)}"
            if self.held.hosts and self.planned.again:
                several = len(set(self.planned.stages)) > 1
                begin = f" --from {self.stage}" if several and self.stage else ""
                yield "", f"resume with: {self.planned.again}{begin}"

    def _troubled(self, failed: int, waves: bool) -> str:
        """The number of failed hosts without a limit, by whether they were reached."""
        lost = sum(one.outcome == outcome.UNREACHABLE for one in self._failed.values())
        word = "failed or unreachable" if lost else "failed"
        if failed == lost > 0:
            word = "unreachable"
        return f"{_hosts(failed)} {word}" if failed or waves else ""

    def _preview(self, planned: run_events.RolloutPlanned, width: int) -> Iterator[tuple[str, str]]:
        lines = [
            f"{number}: {named(list(hosts), width - 15)}"
            for number, hosts in enumerate(planned.waves, 1)
        ]
        if "canary" in planned.wishes:
            lines.insert(0, "one canary of each group with the same changes, then the others:")
        for line in lines:
            yield ("Waves" if line is lines[0] else ""), line

    def _foreseen(self, planned: run_events.RolloutPlanned) -> str:
        """Where a push with the same results as this preview would stop; "" for none."""
        if "canary" in planned.wishes:
            return ""
        budgets = {name: Budget(one.limit) for name, one in self._budgets.items()}
        stages = planned.stages or ("",) * len(planned.waves)
        for at, (hosts, stage) in enumerate(zip(planned.waves, stages, strict=True), 1):
            behind = sum(map(len, planned.waves[at:]))
            for budget in (budgets[stage], budgets[""]):
                for name in filter(self._failed.__contains__, hosts):
                    budget.count(self._failed[name])
                if budget.spent and behind:
                    where = f"wave {at}" + (f" ({stage})" if stage else "")
                    return (
                        f"a push would stop in {where}: {_hosts(budget.failed)} failed"
                        f" (limit {budget.limit:,});"
                        f" {_hosts(behind)} of later waves would not start"
                    )
        return ""

    def waves(self) -> list[WaveRow]:
        """Every wave, if there are several."""
        waves = self.planned.waves if self.planned else ()
        if len(waves) < 2:
            return []
        numbered = enumerate(waves, 1)
        return [
            WaveRow(number, list(hosts), self._far(number, hosts)) for number, hosts in numbered
        ]

    def _far(self, number: int, hosts: tuple[str, ...]) -> str:
        if self._noop:
            return ""
        if number > self.wave:
            return "not started"
        done = sum(host in self._ended for host in hosts)
        failed = sum(map(self._budgets[""].counts, hosts))
        return f"{done:,} of {len(hosts):,} finished" + (f", {failed:,} failed" if failed else "")

    def _waves_done(self) -> str:
        waves = self.planned.waves if self.planned else ()
        if len(waves) < 2:
            stopped = self.held or not all(one.passed for one in self.answers)
            return "" if stopped else "complete"
        if self.held is None and self.wave == len(waves):
            stages = len(set(self.planned.stages)) if self.planned else 0
            return ", ".join(filter(None, [_number(stages, "stage"), f"{len(waves)} waves"]))
        stage = f" ({self.stage})" if self.stage else ""
        return f"wave {self.wave} of {len(waves)}{stage}"


def _after(wave: int) -> str:
    return f"after wave {wave}"


def _answer(answer: run_events.GateAnswered) -> str:
    what = "passed" if answer.passed else "failed"
    wrong = f" on {named(list(answer.hosts), 60)}" if answer.hosts else ""
    text = answer.text.removeprefix(f"{answer.gate} ")
    return f"{_after(answer.wave)}: {answer.gate} {what}{wrong}{text and ': '}{text}"


def _left(held: run_events.RolloutHeld) -> str:
    """The remaining hosts of a rollout that stopped."""
    return f"; {_hosts(len(held.hosts))} not started" if held.hosts else ""


def _hosts(number: int) -> str:
    return _number(number, "host") or "no hosts"


def _number(number: int, what: str) -> str:
    """A count with its noun; "" for none."""
    return f"{number:,} {what}{'' if number == 1 else 's'}" if number else ""
