"""One host's run, from the connection to its result (controller)."""

import time

from orchestrator.fleet import events as happening
from orchestrator.fleet import outcome
from orchestrator.fleet.bus import Bus
from orchestrator.fleet.conversation import Conversation, Notices, greet
from orchestrator.fleet.framed_link import FramedLink
from orchestrator.fleet.host_task import InterruptedRunError, LinkTask
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.package_lore import PackageLore
from orchestrator.fleet.phases import Phase
from orchestrator.fleet.ports import Connector, Planner, Publisher, Target
from orchestrator.fleet.settings import RunSettings
from orchestrator.support.crash import DefectError
from orchestrator.support.plain_text import one_line, plain
from remote_runtime.errors import CcmError, ProtocolError, UnreachableError
from remote_runtime.masking import Mask

CANCEL_GRACE = 6.0
MAX_STDERR = 4_000
MAX_WARNING = 2_000  # characters


class HostRun(LinkTask[HostResult]):
    """One host; a run that is cancelled ends the command in flight and starts nothing more."""

    def __init__(
        self,
        host: Target,
        connector: Connector,
        *,
        planner: Planner,
        bus: Bus,
        settings: RunSettings,
        publisher: Publisher | None = None,
        lore: PackageLore | None = None,
    ) -> None:
        super().__init__(host, connector)
        self._planner = planner
        self._bus = bus
        self._settings = settings
        self._publisher = publisher
        self._lore = lore
        self._notices = Notices(host.name, bus)
        self._conversation: Conversation | None = None
        self._began = 0.0
        self._phase = Phase.WAITING
        self._phases: list[tuple[Phase, float]] = []

    def _during(self) -> str:
        return f"host {self.name}, {self._phase.words}"

    def _work(self) -> HostResult:
        self._began = time.monotonic()
        self._enter(Phase.CONNECTING)
        timeout = self._settings.options.timeout
        link = self._open(self._enter, self._began + timeout if timeout else None)
        gathered = greet(link, self._enter)
        self._enter(Phase.PLANNING)
        plan = self._planner.plan(self.host, gathered)
        self._secrets = tuple(plan.secrets)
        for text in plan.warnings:
            self._notices.say("warning", one_line(text, MAX_WARNING))
        self._conversation = Conversation(
            link,
            plan,
            settings=self._settings,
            notices=self._notices,
            publisher=self._publisher,
            lore=self._lore,
        )
        self._conversation.carry_out(self._enter)
        self._phase = Phase.DONE
        tally = self._conversation.tally  # an earlier command of a session may have failed it
        return self._result(outcome.FAILED if tally.failed or tally.unmet else outcome.OK)

    def _give_up(self, link: FramedLink) -> None:
        if not link.cancelling:
            link.cancel(CANCEL_GRACE)

    def _enter(self, phase: Phase) -> None:
        if phase == self._phase:
            return
        self._phase = phase
        now = time.time()
        self._phases.append((phase, round(now, 3)))
        self._bus.publish(happening.HostPhase(self.name, phase, now))

    def _ended(self, error: CcmError) -> HostResult:
        if isinstance(error, DefectError):
            return self._result(
                outcome.DEFECT, error.kind, message=error.message, report=error.report
            )
        if self._cancelled or isinstance(error, InterruptedRunError):
            error = InterruptedRunError()
            return self._result(outcome.INTERRUPTED, error.kind, message=error.message)
        lost = isinstance(error, (UnreachableError, ProtocolError))
        broke = "broke the protocol: " if isinstance(error, ProtocolError) else ""
        refused = error.kind.startswith(outcome.REFUSAL)
        failed = outcome.REFUSED if refused else outcome.FAILED
        return self._result(
            outcome.UNREACHABLE if lost else failed,
            error.kind,
            message=broke + plain(error.message),
            hint=plain(error.hint),
        )._replace(command=plain(error.command), only=error.only)

    def _result(
        self, how: str, kind: str = "", *, message: str = "", hint: str = "", report: str = ""
    ) -> HostResult:
        talk = self._conversation
        stderr = ""
        if self._link is not None and how != outcome.OK:
            tail = Mask(self._secrets).text(plain(self._link.stderr_tail()))
            stderr = tail[-MAX_STDERR:]
        return HostResult(
            host=self.name,
            outcome=how,
            kind=kind,
            message=message,
            hint=hint,
            stderr=stderr,
            phase=self._phase,
            planned=talk.planned if talk else 0,
            untried=talk.untried if talk else 0,
            seconds=time.monotonic() - self._began if self._began else 0.0,
            phases=tuple(self._phases),
            tally=talk.tally if talk else Tally(),
            report=report,
        )
