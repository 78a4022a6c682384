"""Soaking: runs the health checks of a wave's hosts again after a while (controller)."""

from collections.abc import Callable, Sequence
from typing import Any

from orchestrator.fleet import events as run_events
from orchestrator.fleet import outcome
from orchestrator.fleet.host.host_task import HostTask
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.ports import Target
from orchestrator.fleet.window import Window
from orchestrator.rollout.gates import GateTime, failed_result
from orchestrator.rollout.scheduler import GateAnswer

KIND = "rollout.soak"
CHECKING = 1800.0  # seconds that all checks of a wave may take together

Monitor = Callable[[Target, Callable[[run_events.Event], None]], HostTask[HostResult]]


class Soak:
    """Waits ``wait`` seconds, then runs the health checks of each host.

    ``monitor`` creates the task that does this on one host and publishes its events. A host with
    failed checks and an unreachable host fail the gate.
    """

    hears_all = False

    def __init__(self, wait: float, hosts: Sequence[Target], forks: int, monitor: Monitor) -> None:
        self.name = f"soak {wait:g} s"
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
                result, KIND, f"after {self.name}: {failures.get(result.host) or how.message}"
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
