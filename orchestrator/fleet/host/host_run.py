"""One host's run, from the connection to its result (controller)."""

import time
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.fleet import events as run_events
from orchestrator.fleet import outcome as outcomes
from orchestrator.fleet.event_bus import Bus, Notices
from orchestrator.fleet.host.host_task import InterruptedRunError, LinkTask, NotStartedError
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.host.stage_host import host_itself
from orchestrator.fleet.outcome import OK, HostResult, Tally
from orchestrator.support.crash_report import DefectError
from orchestrator.support.plain_text import one_line, plain
from remote_runtime.errors import CcmError, ProtocolError
from remote_runtime.reporting.masking import Mask

if TYPE_CHECKING:
    from orchestrator.fleet.host.framed_link import FramedLink
    from orchestrator.fleet.host.host_facts import HostFacts
    from orchestrator.fleet.host.protocol import Conversation
    from orchestrator.fleet.host.reboot_wait import Reboot
    from orchestrator.fleet.interfaces import Connector, Plan, Planner, Publisher, Target
    from orchestrator.fleet.package_cache import PackageMetadataCache
    from orchestrator.fleet.run_settings import RunSettings

CANCEL_GRACE = 6.0
MAX_STDERR = 4_000
MAX_WARNING = 2_000  # characters
TICK = 0.1  # seconds; how late a cancel may be noticed between two attempts


class RunProgress(NamedTuple):
    """The state of a run, as shown in its result."""

    planned: int
    untried: int
    tally: Tally
    confirmed: bool


class HostRun(LinkTask[HostResult]):
    """The run of one host. If it is cancelled, it ends the running command and starts
    nothing more.
    """

    def __init__(
        self,
        host: "Target",
        connector: "Connector",
        *,
        planner: "Planner",
        bus: Bus,
        settings: "RunSettings",
        publisher: "Publisher | None" = None,
        package_metadata: "PackageMetadataCache | None" = None,
    ) -> None:
        super().__init__(host_itself(host), connector, host.name)
        self._planner = planner
        self._bus = bus
        self._settings = settings
        self._publisher = publisher
        self._packages = package_metadata
        self._notices = Notices(host.name, bus)
        self._conversation: Conversation | None = None
        self._reached: RunProgress | None = None
        self._began = 0.0
        self._phase = Phase.WAITING
        self._phases: list[tuple[Phase, float]] = []

    def _during(self) -> str:
        return f"host {self.name}, {self._phase.words}"

    def _work(self) -> HostResult:
        self._began = time.monotonic()
        self._enter(Phase.CONNECTING)
        link = self._open(self._enter, self._until)
        from orchestrator.fleet.host.protocol import Conversation, greet_then

        plan, boot = greet_then(link, self._enter, self._plan)
        self._secrets = tuple(plan.secrets)
        self._keep(plan)
        for text in plan.warnings:
            self._notices.say("warning", one_line(text, MAX_WARNING))
        talk = self._conversation = Conversation(
            link,
            plan,
            settings=self._settings,
            notices=self._notices,
            publisher=self._publisher,
            package_metadata=self._packages,
        )
        reboot = talk.carry_out(self._enter)
        if reboot is not None:
            link = self._return(reboot, boot)
            talk.go_on(link, reboot, self._enter)
        self._keep(plan)
        self._phase = Phase.DONE
        tally = talk.tally  # an earlier command of a session may have failed it
        return self._result(outcomes.FAILED if tally.failed or tally.unmet else OK)

    def _plan(self, gathered: "HostFacts") -> "tuple[Plan, str]":
        """The host's plan, and its boot ID."""
        self._enter(Phase.PLANNING)
        return self._planner.plan(self.host, gathered), str(gathered.hello["boot"])

    def _keep(self, plan: "Plan") -> None:
        content = plan.kept()
        if content is not None:
            self._bus.publish(run_events.HostPlanPart(self.name, content))

    @property
    def _until(self) -> float | None:
        """The time at which the host's time limit expires."""
        timeout = self._settings.options.timeout
        return self._began + timeout if timeout else None

    def _return(self, reboot: "Reboot", boot: str) -> "FramedLink":
        """The link to the host after it was rebooted."""
        self._enter(Phase.REBOOTING)
        self.abandon()

        def call() -> "tuple[FramedLink, HostFacts]":
            """Connect again and read the greeting."""
            link = self._open(lambda phase: None, self._until)
            try:
                return link, greet(link, lambda phase: None)
            except BaseException:
                self.abandon()  # the next attempt has its own link
                raise

        from orchestrator.fleet.host.protocol import greet
        from orchestrator.fleet.host.reboot_wait import RebootWait

        return RebootWait(boot, call=call, pause=self._pause, until=self._until).wait(
            reboot.timeout
        )

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._cancelled:
                raise InterruptedRunError
            time.sleep(TICK)

    def _give_up(self, link: "FramedLink") -> None:
        if not link.cancelling:
            link.cancel(CANCEL_GRACE)

    def _enter(self, phase: Phase, *events: run_events.Event) -> None:
        """Enter a phase, and publish the ``events`` with it."""
        if phase == self._phase:
            if events:
                self._bus.publish(*events)
            return
        self._phase = phase
        self._entered(phase)
        now = time.time()
        self._phases.append((phase, round(now, 3)))
        self._bus.publish(*events, run_events.HostPhase(self.name, phase, now))

    def _ended(self, error: CcmError) -> HostResult:
        return self._result(**ending_of(error, self._cancelled))

    def _result(self, outcome: str, **reason: str) -> HostResult:
        reached, link = self._so_far(), self._link
        stderr = ""
        if link is not None and outcome != OK:
            tail = Mask(self._secrets).text(plain(link.stderr_tail()))
            stderr = tail[-MAX_STDERR:]
        return HostResult(
            host=self.name,
            outcome=outcome,
            stderr=stderr,
            phase=self._phase,
            planned=reached.planned,
            untried=reached.untried,
            seconds=time.monotonic() - self._began if self._began else 0.0,
            phases=tuple(self._phases),
            tally=reached.tally,
            confirmed=reached.confirmed,
            **reason,
        )

    def _so_far(self) -> RunProgress:
        talk = self._conversation
        if talk is not None:
            return RunProgress(talk.planned, talk.untried, talk.tally, talk.confirmed)
        return self._reached or RunProgress(0, 0, Tally(), False)

    def _leave(self) -> None:
        super()._leave()
        self._reached, self._conversation = self._so_far(), None


def ending_of(error: CcmError, cancelled: bool) -> dict[str, str]:
    """The fields of a host's result for the error that ended its run.

    ``cancelled``: the user had cancelled it, regardless of the result.
    """
    if isinstance(error, DefectError):
        return {
            "outcome": outcomes.DEFECT,
            "kind": error.kind,
            "message": error.message,
            "report": error.report,
        }
    if cancelled or isinstance(error, InterruptedRunError):
        error = InterruptedRunError()
        return {"outcome": outcomes.INTERRUPTED, "kind": error.kind, "message": error.message}
    if isinstance(error, NotStartedError):
        return {"outcome": outcomes.NOT_STARTED, "kind": error.kind, "message": error.message}
    lost = outcomes.is_loss(error)
    broke = "violated the protocol: " if isinstance(error, ProtocolError) else ""
    refused = error.kind.startswith(outcomes.REFUSAL)
    failed = outcomes.REFUSED if refused else outcomes.FAILED
    return {
        "outcome": outcomes.UNREACHABLE if lost else failed,
        "kind": error.kind,
        "message": broke + plain(error.message),
        "hint": plain(error.hint),
        "command": plain(error.command),
        "only": error.only,
    }
