"""The gates and the hooks of a push, put together as the command line says (controller)."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from orchestrator.fleet import outcome
from orchestrator.fleet.bus import Bus
from orchestrator.fleet.host_run import HostRun
from orchestrator.fleet.stage_host import StageHost, host_itself
from orchestrator.report.host_names import named
from orchestrator.rollout.course import Gates, NoGates
from orchestrator.rollout.gates import Gate, GateAnswer, GateKeeper, Patience

if TYPE_CHECKING:
    from orchestrator.cli.job import How, Push, Targets
    from orchestrator.cli.output import Output
    from orchestrator.fleet import events as happening
    from orchestrator.fleet.host_task import HostTask
    from orchestrator.fleet.outcome import HostResult
    from orchestrator.fleet.ports import Target

    Publish = Callable[[happening.Event], None]

VERIFY = "verify"


def gates_of(
    push: "Push", targets: "Targets", *, how: "How", output: "Output", publish: "Publish"
) -> "Callable[[], Gates]":
    """What makes what stands behind a wave."""
    options = how.rollout
    about = {"run_id": how.settings.run_id, "manifest": push.what}
    if stage := next((host.stage for host in targets.hosts if isinstance(host, StageHost)), ""):
        about["stage"] = stage
    gates: list[Gate] = []
    if options.soak:
        from orchestrator.rollout.soaking import Soak

        monitor = _monitor(push, targets, how)
        gates.append(Soak(options.soak, targets.hosts, targets.forks, monitor))
    for word in sorted(options.gate, key=lambda word: word != VERIFY):
        gates.append(_gate(word, push, targets=targets, seconds=options.gate_timeout, about=about))
    if options.confirm:
        gates.append(Confirmation(output, options.gate_timeout))
    return (lambda: GateKeeper(gates, publish)) if gates else NoGates


def _gate(
    word: str, push: "Push", *, targets: "Targets", seconds: float, about: dict[str, Any]
) -> Gate:
    if word != VERIFY:
        from orchestrator.rollout.asking import CommandGate

        return CommandGate(word, seconds, about)
    from orchestrator.verify.gating import VerifyGate
    from orchestrator.verify.members import Means

    hosts: dict[str, Any] = {host.name: host_itself(host) for host in targets.hosts}
    connector: Any = targets.connector
    planner: Any = push.planner
    means = Means(connector, planner)
    return VerifyGate(hosts, means, forks=targets.forks, seconds=seconds)


def _monitor(push: "Push", targets: "Targets", how: "How") -> Any:
    """What makes the task that runs a host's health checks and nothing else."""
    settings = how.settings
    settings = settings._replace(options=settings.options._replace(monitor_only=True))

    def make(host: "Target", heard: "Publish") -> HostRun:
        bus = Bus([_Heard(heard)])
        return HostRun(host, targets.connector, planner=push.planner, bus=bus, settings=settings)

    return make


class _Heard:
    def __init__(self, handle: "Publish") -> None:
        self.handle = handle

    def close(self) -> None:
        """Nothing to give back."""


class Confirmation:
    """Somebody at the terminal decides; without one the rollout stops."""

    name = "confirmation"
    hears_all = True

    def __init__(self, output: "Output", seconds: float) -> None:
        self.seconds = seconds
        self._output = output

    def ask(self, wave: int, results: "Sequence[HostResult]", patience: Patience) -> GateAnswer:
        """Show what the wave came to, and ask."""
        if not sys.stdin.isatty():
            return GateAnswer("there is no terminal to ask for a confirmation")
        said = self._output.ask_line(
            f"wave {wave}: {came_to(results)}. Go on? [y/N] ", lambda: patience.left
        )
        if said is None:
            return GateAnswer("nobody has confirmed it in time")
        return GateAnswer("" if said.strip().lower() in ("y", "yes") else "it was not confirmed")


def came_to(results: "Sequence[HostResult]") -> str:
    """What a wave came to: how many hosts are well, and which are not, or were changed."""
    wrong = [result.host for result in results if result.outcome != outcome.OK]
    changed = [result.host for result in results if result.changed]
    well = len(results) - len(wrong)
    parts = [f"{well:,} host{'' if well == 1 else 's'} well"]
    parts += [f"{len(wrong):,} not ({named(wrong, 60)})"] if wrong else []
    parts += [f"{len(changed):,} changed" + (f" ({named(changed, 60)})" if changed else "")]
    return ", ".join(parts)


def hooked(
    make: "Callable[[Target], HostTask[HostResult]]", how: "How"
) -> "Callable[[Target], HostTask[HostResult]]":
    """The same tasks between the commands that come before and after a host."""
    options = how.rollout
    if not options.before_host and not options.after_host:
        return make
    from orchestrator.rollout.hooks import Hooked

    def wrapped(host: "Target") -> "HostTask[HostResult]":
        told = {"run_id": how.settings.run_id, "host": described(host_itself(host))}
        if isinstance(host, StageHost):
            told["stage"] = host.stage
        return Hooked(make(host), options.before_host, options.after_host, told)

    return wrapped


def described(host: Any) -> dict[str, Any]:
    """A host of the inventory as a command is told of it."""
    names = ("name", "address", "port", "user", "groups", "vars")
    return {name: getattr(host, name) for name in names}
