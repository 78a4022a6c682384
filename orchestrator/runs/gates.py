"""Creates the gates between waves, and the hooks around hosts, of a rollout (controller)."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from orchestrator.fleet import outcome
from orchestrator.fleet.event_bus import Bus, EventCallback
from orchestrator.fleet.host.host_run import HostRun
from orchestrator.fleet.host.stage_host import StageHost, host_itself
from orchestrator.report.host_names import named
from orchestrator.rollout.gates import Gate, GateRunner, GateTime, Soak
from orchestrator.rollout.scheduler import GateAnswer, Gates, NoGates

if TYPE_CHECKING:
    from orchestrator.fleet import events as run_events
    from orchestrator.fleet.host.host_task import HostTask
    from orchestrator.fleet.interfaces import Target
    from orchestrator.fleet.outcome import HostResult
    from orchestrator.runs.push_job import PushConfig, PushJob, Targets
    from orchestrator.runs.reporter import Reporter

    Publish = Callable[[run_events.Event], None]

VERIFY = "verify"


def gates_of(
    push: "PushJob",
    targets: "Targets",
    *,
    config: "PushConfig",
    reporter: "Reporter",
    publish: "Publish",
) -> "Callable[[], Gates]":
    """Create the gates that follow a wave."""
    options = config.rollout
    about = {"run_id": config.settings.run_id, "manifest": push.what}
    if stage := next((host.stage for host in targets.hosts if isinstance(host, StageHost)), ""):
        about["stage"] = stage
    gates: list[Gate] = []
    if options.soak:
        monitor = _monitor(push, targets, config)
        gates.append(Soak(options.soak, targets.hosts, targets.forks, monitor))
    for word in sorted(options.gate, key=lambda word: word != VERIFY):
        gates.append(_gate(word, push, targets=targets, seconds=options.gate_timeout, about=about))
    if options.confirm:
        gates.append(Confirmation(reporter, options.gate_timeout))
    return (lambda: GateRunner(gates, publish)) if gates else NoGates


def _gate(
    word: str, push: "PushJob", *, targets: "Targets", seconds: float, about: dict[str, Any]
) -> Gate:
    if word != VERIFY:
        from orchestrator.rollout.local_command import CommandGate

        return CommandGate(word, seconds, about)
    from orchestrator.verify.gate import VerifyGate
    from orchestrator.verify.verify_hosts import VerifyContext

    hosts: dict[str, Any] = {host.name: host_itself(host) for host in targets.hosts}
    connector: Any = targets.connector
    planner: Any = push.planner
    context = VerifyContext(connector, planner)
    return VerifyGate(hosts, context, forks=targets.forks, seconds=seconds)


def _monitor(push: "PushJob", targets: "Targets", config: "PushConfig") -> Any:
    """Create the task that only runs a host's health checks."""
    settings = config.settings
    settings = settings._replace(options=settings.options._replace(monitor_only=True))

    def make(host: "Target", publish: "Publish") -> HostRun:
        """The run of a host whose events go only to ``publish``."""
        bus = Bus([EventCallback(publish)])
        return HostRun(host, targets.connector, planner=push.planner, bus=bus, settings=settings)

    return make


class Confirmation:
    """A person decides whether the rollout continues."""

    name = "confirmation"
    hears_all = True

    def __init__(self, reporter: "Reporter", seconds: float) -> None:
        self.seconds = seconds
        self._reporter = reporter

    def ask(self, wave: int, results: "Sequence[HostResult]", time_left: GateTime) -> GateAnswer:
        """Show the outcome of the wave, and prompt."""
        question = f"wave {wave}: {outcome_of_wave(results)}. Continue?"
        confirmed = self._reporter.confirm(question, lambda: time_left.left)
        if confirmed is None:
            return GateAnswer("no confirmation within the time limit")
        return GateAnswer("" if confirmed else "not confirmed")


def outcome_of_wave(results: "Sequence[HostResult]") -> str:
    """The number of healthy hosts in a wave, and the hosts that are not healthy or were changed."""
    wrong = [result.host for result in results if result.outcome != outcome.OK]
    changed = [result.host for result in results if result.changed]
    well = len(results) - len(wrong)
    parts = [f"{well:,} host{'' if well == 1 else 's'} healthy"]
    parts += [f"{len(wrong):,} not ({named(wrong, 60)})"] if wrong else []
    parts += [f"{len(changed):,} changed" + (f" ({named(changed, 60)})" if changed else "")]
    return ", ".join(parts)


def with_hooks(
    make: "Callable[[Target], HostTask[HostResult]]", config: "PushConfig"
) -> "Callable[[Target], HostTask[HostResult]]":
    """The same tasks, each wrapped in the commands of --before-host and --after-host."""
    options = config.rollout
    if not options.before_host and not options.after_host:
        return make
    from orchestrator.rollout.hooks import HookedTask

    def wrapped(host: "Target") -> "HostTask[HostResult]":
        """The task of a host between its hooks."""
        hook_input = {"run_id": config.settings.run_id, "host": host_input(host_itself(host))}
        if isinstance(host, StageHost):
            hook_input["stage"] = host.stage
        return HookedTask(make(host), options.before_host, options.after_host, hook_input)

    return wrapped


def host_input(host: Any) -> dict[str, Any]:
    """A host of the inventory, as the input of a command."""
    names = ("name", "address", "port", "user", "groups", "vars")
    return {name: getattr(host, name) for name in names}
