"""Gates: checks between waves (controller)."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from orchestrator.fleet import events as run_events
from orchestrator.fleet import outcome
from orchestrator.fleet.host.host_task import HostTask
from orchestrator.fleet.interfaces import Target
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.sliding_window import Window
from orchestrator.rollout.scheduler import GateAnswer
from orchestrator.support.crash_report import describe_crash

_TICK = 0.2  # seconds
SOAK_KIND = "rollout.soak"
CHECKING = 1800.0  # seconds that all checks of a wave may take together
Monitor = Callable[[Target, Callable[[run_events.Event], None]], HostTask[HostResult]]


class GateTime:
    """The time that a gate has left, and whether its result is still needed."""

    def __init__(self, seconds: float, cancelled: threading.Event) -> None:
        self._end = time.monotonic() + seconds
        self._cancelled = cancelled

    @property
    def left(self) -> float:
        """The remaining seconds; 0 if the time is up or the result is not needed."""
        return 0.0 if self._cancelled.is_set() else max(0.0, self._end - time.monotonic())

    @property
    def cancelled(self) -> bool:
        """Whether the user has ended the run."""
        return self._cancelled.is_set()

    def sleep(self, seconds: float) -> bool:
        """Wait; return whether there is time left afterwards."""
        self._cancelled.wait(min(seconds, self.left))
        return self.left > 0

    @contextmanager
    def bounds(self, window: Window[Any]) -> Iterator[None]:
        """Interrupt the window that runs in the block when the time is up."""
        done = threading.Event()

        def guard() -> None:
            """Interrupt the window when the time is up."""
            while not done.wait(min(_TICK, self.left)):
                if not self.left:
                    window.interrupt()
                    return

        threading.Thread(target=guard, name="patience", daemon=True).start()
        try:
            yield
        finally:
            done.set()


class Gate(Protocol):
    """Runs in its own thread; ``name`` is for people, ``seconds`` is its timeout.

    ``hears_all``: it checks the complete wave, including failed hosts; otherwise only the hosts
    that are healthy so far, if there are any.
    """

    name: str
    seconds: float
    hears_all: bool

    def ask(self, wave: int, results: Sequence[HostResult], time_left: GateTime) -> GateAnswer:
        """Whether the rollout may continue after these hosts."""


class GateRunner:
    """Runs one gate after the other, until one stops the rollout."""

    def __init__(self, gates: Sequence[Gate], publish: Callable[[run_events.Event], None]) -> None:
        self.gates = gates
        self._publish = publish
        self._cancelled = threading.Event()
        self._verdict: GateAnswer | None = None

    def ask(self, wave: int, results: Sequence[HostResult]) -> None:
        """Start running the gates for the hosts of a wave."""
        self._verdict = None
        asked = (wave, list(results))
        threading.Thread(target=self._ask, args=asked, name="gates", daemon=True).start()

    def verdict(self) -> GateAnswer | None:
        """The result; None while it is unknown."""
        return self._verdict

    def cancel(self) -> None:
        """Cancel the gate."""
        self._cancelled.set()

    def _ask(self, wave: int, results: list[HostResult]) -> None:
        failed: list[HostResult] = []
        stop = ""
        for gate in self.gates:
            well = [result for result in results if result.outcome == outcome.OK]
            asked = results if gate.hears_all else well
            if not asked:
                continue
            answer = self._one(gate, wave, asked)
            failed += answer.failed
            wrong = {result.host: result for result in answer.failed}
            results = [wrong.get(result.host, result) for result in results]
            if stop := answer.stop:
                break
        self._verdict = GateAnswer(stop, failed)

    def _one(self, gate: Gate, wave: int, results: list[HostResult]) -> GateAnswer:
        now = time.time()
        self._publish(run_events.GateAsked(wave, gate.name, now, now + gate.seconds))
        try:
            answer = gate.ask(wave, results, GateTime(gate.seconds, self._cancelled))
        except Exception as error:  # a defect: a gate without an answer is not passed
            path = describe_crash(error, f"the gate {gate.name}")
            answer = GateAnswer(f"{gate.name}: internal error in ccm, see {path}")
        hosts = tuple(result.host for result in answer.failed)
        self._publish(
            run_events.GateAnswered(
                wave=wave,
                gate=gate.name,
                passed=not answer.stop and not hosts,
                text=answer.stop,
                hosts=hosts,
                at=time.time(),
            )
        )
        return answer


def failed_result(result: HostResult, kind: str, message: str) -> HostResult:
    """The new result of a host that failed a gate."""
    return result._replace(outcome=outcome.FAILED, kind=kind, message=message)


class Soak:
    """Waits ``wait`` seconds, then runs the health checks of each host.

    ``monitor`` creates the task that does this on one host and publishes its events. A host with
    failed checks and an unreachable host fail the gate.
    """

    hears_all = False

    def __init__(self, wait: float, hosts: Sequence[Target], forks: int, monitor: Monitor) -> None:
        self.name = f"the soak of {wait:g} s"
        self.seconds = wait + CHECKING
        self._wait = wait
        self._hosts = {host.name: host for host in hosts}
        self._forks = forks
        self._monitor = monitor

    def ask(self, wave: int, results: Sequence[HostResult], time_left: GateTime) -> GateAnswer:
        """Wait, run the checks, and return the resources whose checks fail."""
        if not time_left.sleep(self._wait):
            return GateAnswer("did not complete")
        failures: dict[str, str] = {}

        def record(event: run_events.Event) -> None:
            """Record the first failure of each host."""
            if isinstance(event, run_events.ResourceEvent) and event.event["failed"]:
                failures.setdefault(event.host, _reason(event.event))

        tasks = (self._monitor(self._hosts[result.host], record) for result in results)
        ended: dict[str, HostResult] = {}
        window = Window(tasks, self._forks, finished=ended.__setitem__)
        with time_left.bounds(window):
            window.run()
        if time_left.cancelled:
            return GateAnswer("the run was interrupted")
        wrong = [
            failed_result(
                result, SOAK_KIND, f"after {self.name}: {failures.get(result.host) or how.message}"
            )
            for result in results
            if (how := ended[result.host]).outcome != outcome.OK
        ]
        return GateAnswer(failed=wrong)


def _reason(event: dict[str, Any]) -> str:
    """A resource with a failed check, and the results."""
    bad = [
        f"{check['name']}: {check['output']}"
        for check in event.get("health_check", ())
        if check["status"] not in ("OK", "WARNING")
    ]
    reasons = "; ".join(bad) or "; ".join(event["error"]) or "failed"
    return f"{event['type']}#{event['name']}: {reasons}"
