"""One host's run, from the connection to its result (controller)."""

import threading
import time

from orchestrator.fleet import events as happening
from orchestrator.fleet import outcome
from orchestrator.fleet.bus import Bus
from orchestrator.fleet.conversation import Conversation, Notices, greet
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.phases import Phase
from orchestrator.fleet.ports import Connector, Planner, Publisher, Target
from orchestrator.fleet.session import Session
from orchestrator.fleet.settings import Settings
from orchestrator.support.crash import describe_crash
from orchestrator.support.plain_text import one_line, plain
from remote_runtime.errors import CcmError, ProtocolError, UnreachableError
from remote_runtime.masking import Mask

CANCEL_GRACE = 6.0
MAX_STDERR = 4_000
MAX_WARNING = 2_000  # characters


class HostRun:
    """One host: ``run`` is called once, in its own thread, the other methods from any thread."""

    def __init__(
        self,
        host: Target,
        connector: Connector,
        planner: Planner,
        bus: Bus,
        settings: Settings,
        publisher: Publisher | None = None,
    ) -> None:
        self.host = host
        self.name = host.name
        self.phase = Phase.WAITING
        self._connector = connector
        self._planner = planner
        self._bus = bus
        self._settings = settings
        self._publisher = publisher
        self._notices = Notices(host.name, bus)
        self._session: Session | None = None
        self._switch = threading.Lock()
        self._cancelled = False
        self._result = HostResult(host.name)
        self._secrets: tuple[str, ...] = ()

    def run(self) -> HostResult:
        """Carry the run out. Never raises: whatever happens becomes the result."""
        began = time.monotonic()
        try:
            self._converse(began)
        except CcmError as error:
            self._end_with(error)
        except Exception as error:
            self._crashed(error)
        finally:
            self._close()
        self._result.seconds = time.monotonic() - began
        self._result.phase = self.phase
        return self._result

    def cancel(self, grace: float = CANCEL_GRACE) -> None:
        """End the run: the command in flight is ended, nothing more starts. Does not wait."""
        with self._switch:
            self._cancelled = True
            if self._session is not None and not self._session.cancelling:
                self._session.cancel(grace)

    def abandon(self) -> None:
        """Close the link at once; the runtime on the host ends with it."""
        session = self._session
        if session is not None:
            session.link.close()

    def tend(self, now: float) -> None:
        """Keep the link alive; called every second or so."""
        session = self._session
        if session is not None:
            session.tend(now)

    def interrupted_result(self) -> HostResult:
        """What to report for a run that is left behind, or was never begun."""
        self._interrupted()
        self._result.phase = self.phase
        return self._result

    def _converse(self, began: float) -> None:
        self._enter(Phase.CONNECTING)
        timeout = self._settings.options.timeout
        until = began + timeout if timeout else None
        link = self._connector.open(self.host, self._enter)
        with self._switch:
            session = self._session = Session(link, until)
            if self._cancelled:
                raise UnreachableError("interrupted", kind="run.interrupted")
        gathered = greet(session, self._enter)
        self._enter(Phase.PLANNING)
        plan = self._planner.plan(self.host, gathered)
        self._secrets = tuple(plan.secrets)
        for text in plan.warnings:
            self._notices.say("warning", one_line(text, MAX_WARNING))
        conversation = Conversation(
            self._result, session, plan, self._bus, self._notices, self._publisher
        )
        if conversation.carry_out(self._settings, self._enter):
            self.phase = Phase.DONE
        else:
            self._interrupted()

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        now = time.time()
        self._result.phases.append((phase, round(now, 3)))
        self._bus.publish(happening.HostPhase(self.name, phase, now))

    def _end_with(self, error: CcmError) -> None:
        if self._cancelled:
            self._interrupted()
            return
        lost = isinstance(error, (UnreachableError, ProtocolError))
        result = self._result
        result.outcome = outcome.UNREACHABLE if lost else outcome.FAILED
        result.kind, result.hint = error.kind, plain(error.hint)
        result.message = plain(error.message)
        if isinstance(error, ProtocolError):
            result.message = f"broke the protocol: {result.message}"

    def _interrupted(self) -> None:
        self._result.outcome = outcome.INTERRUPTED
        self._result.kind = "run.interrupted"
        self._result.message = "interrupted"

    def _crashed(self, error: Exception) -> None:
        result = self._result
        result.outcome, result.kind = outcome.DEFECT, "defect"
        result.message = f"a defect in ccm: {type(error).__name__}"
        during = f"host {self.name}, {self.phase.words}"
        result.report = describe_crash(error, during, self._secrets)

    def _close(self) -> None:
        session = self._session
        if session is None:
            return
        try:
            if self._result.outcome != outcome.OK:
                tail = Mask(self._secrets).text(plain(session.link.stderr_tail()))
                self._result.stderr = tail[-MAX_STDERR:]
            session.link.close()
        except (CcmError, OSError) as error:
            self._notices.say("warning", f"closing the connection: {one_line(str(error))}")
