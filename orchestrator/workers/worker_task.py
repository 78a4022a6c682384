"""A host that a worker runs, as a task of the window (controller)."""

import queue
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from orchestrator.fleet import events as run_events
from orchestrator.fleet.event_bus import MAX_LINES, MAX_NOTICES
from orchestrator.fleet.host.host_run import ending_of
from orchestrator.fleet.host.host_task import NEVER, HostTask, InterruptedRunError
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.interfaces import Target
from orchestrator.fleet.outcome import HostResult, Tally
from remote_runtime.errors import CcmError, UnreachableError

Done = Callable[[str, HostResult], None]
MAX_PHASES = 1_000  # a host enters about ten, and a few more if it reboots
MAX_PLAN_PARTS = 2  # for a plan file: the plan, and files that were read later


class WorkerLostError(UnreachableError):
    """The worker of the host ended before the host did."""

    default_kind = "worker.lost"

    def __init__(self, how: str) -> None:
        super().__init__(
            f"the worker process of this host ended ({how})",
            hint="push again: completed resources are not repeated",
        )
        self.how = how

    def of(self, worker: str) -> "WorkerLostError":
        """The same error with the name of the worker."""
        return WorkerLostError(f"{worker}: {self.how}")


class WorkerProtocolError(WorkerLostError):
    """The worker of the host violated its protocol."""

    default_kind = "worker.protocol"

    def __init__(self, worker: str, problem: str) -> None:
        super().__init__(f"protocol error: {problem}")
        self.message = f"protocol error of worker {worker}: {problem}"
        self.hint = (
            "find out who started that worker and stop it, then push again: "
            "completed resources are not repeated"
        )

    def of(self, worker: str) -> "WorkerLostError":
        """Return the error itself, which already names its worker."""
        return self


class WorkerPool(Protocol):
    """The workers."""

    def begin(self, task: "RemoteTask") -> None:
        """Make a worker start a host; the task receives its results."""

    def finished(self, task: "RemoteTask") -> None:
        """Record that a host has ended."""

    def tell(self, task: "RemoteTask", word: str) -> None:
        """Order the worker of a host to ``cancel`` or to ``abandon`` it."""


class RemoteTask(HostTask[HostResult]):
    """One host of a ``job``; it stores the host's events while the host is running."""

    def __init__(
        self, host: Target, job: int, pool: WorkerPool, *, patience: float = NEVER
    ) -> None:
        super().__init__(host.name, patience)
        self.host = host
        self.job = job
        self._pool = pool
        self._done: Done | None = None
        self._switch = threading.Lock()
        self._cancelled = False
        self._began = 0.0
        self._limits = ReportLimits()
        self._phases: list[tuple[Phase, float]] = []
        self._told: list[run_events.Event] = []

    def begin(self, done: Done) -> None:
        """Make a worker run it; no thread waits for that."""
        with self._switch:
            self._done = done
            self._began = time.monotonic()
            cancelled = self._cancelled
        if cancelled:
            self.finish(self.interrupted())
            return
        self._pool.begin(self)
        with self._switch:
            cancelled = self._cancelled
        if cancelled:  # in the meantime, possibly before any worker had it
            self._pool.tell(self, "cancel")

    def record(self, event: run_events.Event) -> None:
        """Store an event of the host; ValueError if there are too many."""
        self._limits.take(event)
        if isinstance(event, run_events.HostPhase):
            for phase, at in event.entered:
                self._entered(phase)
                self._phases.append((phase, round(at, 3)))
        elif isinstance(event, (run_events.ResourceEvent, run_events.ResourcesStable)):
            self._told.append(event)

    def finish(self, result: HostResult) -> None:
        """Set the host's result; only the first call counts."""
        with self._switch:
            done, self._done = self._done, None
        if done is not None:
            self._told.clear()
            self._pool.finished(self)
            done(self.name, result)

    def lose(self, loss: WorkerLostError) -> None:
        """Handle the loss of its worker."""
        self.finish(self._ended(loss))

    def refuse(self, error: CcmError) -> None:
        """Fail the task: no worker can run it."""
        self.finish(self._ended(error))

    def begin_again(self) -> bool:
        """Discard its events, because another worker will start it; False if the task is ending."""
        with self._switch:
            if self._cancelled or self._done is None:
                return False
            self._told.clear()
            self._phases.clear()
            self._limits = ReportLimits()
            self._unresponsive_from = NEVER
            return True

    def cancel(self) -> None:
        """Cancel it; a task that has not started never starts."""
        with self._switch:
            self._cancelled = True
        self._pool.tell(self, "cancel")

    def abandon(self) -> None:
        """Make the worker close its connection immediately."""
        self._pool.tell(self, "abandon")

    def _work(self) -> HostResult:
        answer: queue.SimpleQueue[HostResult] = queue.SimpleQueue()
        self.begin(lambda _, result: answer.put(result))
        return answer.get()

    def _during(self) -> str:
        return f"host {self.name}"

    def _leave(self) -> None:
        """Do nothing, because its worker releases the connection."""

    def _ended(self, error: CcmError) -> HostResult:
        known = HostResult(
            host=self.name,
            tally=self._tally(),
            phase=self._phases[-1][0] if self._phases else Phase.WAITING,
            planned=self._limits.planned,
            seconds=time.monotonic() - self._began if self._began else 0.0,
            phases=tuple(self._phases),
            confirmed=False,
        )
        reason: dict[str, Any] = ending_of(error, isinstance(error, InterruptedRunError))
        return known._replace(**reason)

    def _tally(self) -> Tally:
        """The total of the events so far."""
        tally, seen = Tally(), set[tuple[str, str]]()
        for told in self._told:
            for event, _ in run_events.transaction_events(told):
                identity = event["type"], event["name"]
                tally.add(event, identity in seen)
                seen.add(identity)
        return tally


class ReportLimits:
    """Limits of the reports of a worker about one host: workers are not trusted.

    A plan of ``planned`` resources has at most as many reports as a host itself would send.
    """

    def __init__(self) -> None:
        self.planned = 0
        self._is_planned = False
        self._resources = 0
        self._phases = MAX_PHASES
        self._notices = MAX_NOTICES + MAX_LINES
        self._plan_parts = MAX_PLAN_PARTS

    def take(self, event: run_events.Event) -> None:
        """Count an event; ValueError beyond the limits."""
        if isinstance(event, run_events.HostPlanned):
            if self._is_planned:
                raise ValueError("a second plan of the same host")
            self._is_planned = True
            self.planned = self._resources = len(event.resources)
        elif isinstance(event, run_events.HostPhase):
            self._phases -= len(event.entered)
        elif isinstance(event, run_events.HostNotice):
            self._notices -= 1
        elif isinstance(event, run_events.HostPlanPart):
            self._plan_parts -= 1
        elif isinstance(event, run_events.ResourceEvent):
            self._resources -= 1
        elif isinstance(event, run_events.ResourcesStable):
            self._resources -= event.unchanged.total
        if self._resources < 0:
            raise ValueError(f"more resources than the {self.planned:,} of its plan")
        if min(self._phases, self._notices, self._plan_parts) < 0:
            raise ValueError("too many phases, notices or plan parts of the same host")
