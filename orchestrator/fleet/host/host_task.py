"""The task of one host among many, for any command (controller)."""

from __future__ import annotations

import contextlib
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Generic, TypeVar

from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import TIMED_OUT
from orchestrator.support.crash_report import DefectError
from orchestrator.support.thread_pool import run_in_background
from remote_runtime.errors import CcmError, UnreachableError

if TYPE_CHECKING:
    from orchestrator.fleet.host.framed_link import FramedLink
    from orchestrator.fleet.interfaces import Connector, Target

NEVER = float("inf")
EARLY = 0.05  # seconds by which a wait may end before its bound

R = TypeVar("R")


class InterruptedRunError(UnreachableError):
    """The user ended the run before this host had finished."""

    default_kind = "run.interrupted"

    def __init__(self) -> None:
        super().__init__("interrupted")


class NotStartedError(CcmError):
    """The rollout ended before this host was started."""

    default_kind = "rollout.held"

    def __init__(self) -> None:
        super().__init__("the rollout ended before this host started")


class HostTask(ABC, Generic[R]):
    """``begin`` or ``run`` is called once; the other methods may be called from any thread.

    ``patience`` is the number of seconds after which a host without facts is unresponsive.
    """

    def __init__(self, name: str, patience: float = NEVER) -> None:
        self.name = name
        self._patience = patience
        self._unresponsive_from = NEVER
        self._secrets: Iterable[str] = ()
        """Strings that this report must not contain."""

    def begin(self, done: Callable[[str, R], None]) -> None:
        """Run in another thread; ``done`` receives the name and the answer."""

        def carry() -> None:
            """Run the task and report its answer."""
            done(self.name, self.run())

        run_in_background(carry, f"host {self.name}")

    def run(self) -> R:
        """Run the task. Never raises an error: an error becomes the answer."""
        try:
            return self._work()
        except CcmError as error:
            return self._ended(error)
        except Exception as error:  # a defect fails its host, not the run
            return self._ended(DefectError(error, self._during(), self._secrets))
        finally:
            self._leave()

    def interrupted(self) -> R:
        """The result of a host that was abandoned or not started."""
        return self._ended(InterruptedRunError())

    def held(self) -> R:
        """The answer for a host that a rollout does not start."""
        return self._ended(NotStartedError())

    def cancel(self) -> None:
        """Stop the task, without waiting."""
        self.abandon()

    def tend(self, now: float) -> None:
        """Keep the connection alive; called about once a second."""

    def is_unresponsive(self, now: float) -> bool:
        """Whether the host should have sent its facts by now."""
        return now >= self._unresponsive_from

    def _entered(self, phase: Phase) -> None:
        """Record the phase: whether the host's facts are awaited, and since when."""
        if not phase.is_opening:
            self._unresponsive_from = NEVER
        elif self._unresponsive_from == NEVER:
            self._unresponsive_from = time.monotonic() + self._patience

    @abstractmethod
    def abandon(self) -> None:
        """Close the connection immediately."""

    @abstractmethod
    def _during(self) -> str:
        """The activity, for the report of a crash."""

    @abstractmethod
    def _work(self) -> R:
        """The answer of a host that completed its run; CcmError."""

    @abstractmethod
    def _ended(self, error: CcmError) -> R:
        """The answer of a host that did not complete its run."""

    def _leave(self) -> None:
        """Release the connection after the result."""
        self._unresponsive_from = NEVER
        self.abandon()


class LinkTask(HostTask[R]):
    """A task over the link to one runtime; ``name`` is the name of the host in the run, if it
    differs.
    """

    def __init__(self, host: Target, connector: Connector, name: str = "") -> None:
        super().__init__(name or host.name, connector.patience(host))
        self.host = host
        self._connector = connector
        self._link: FramedLink | None = None
        self._switch = threading.Lock()
        self._cancelled = False

    def _open(self, on_phase: Callable[[Phase], None], until: float | None = None) -> FramedLink:
        """The link, with a limit as in ``FramedLink``; CcmError."""
        began, phases = time.monotonic(), [Phase.CONNECTING]

        def entered(phase: Phase) -> None:
            """Record the phase and report it."""
            phases.append(phase)
            on_phase(phase)

        try:
            link = self._connector.open(self.host, entered, until)
        except UnreachableError as error:
            if until is None or time.monotonic() < until - EARLY:
                raise
            raise UnreachableError(
                f"timed out after {until - began:.3g} s while {phases[-1].words}",
                kind=TIMED_OUT,
                hint="find out what the login is waiting for, or raise --timeout",
            ) from error
        from orchestrator.fleet.host.framed_link import FramedLink

        with self._switch:
            self._link = FramedLink(link, until)
            if self._cancelled:
                raise InterruptedRunError
        return self._link

    def cancel(self) -> None:
        """Stop the task; a link that is still being opened is closed once it is open."""
        with self._switch:
            self._cancelled = True
            if self._link is not None:
                self._give_up(self._link)

    def _give_up(self, link: FramedLink) -> None:
        """Cancel the activity of the link."""
        link.close()

    def abandon(self) -> None:
        """Close the link immediately; this also ends the runtime on the host."""
        link = self._link
        if link is not None:
            with contextlib.suppress(CcmError, OSError):
                link.close()

    def tend(self, now: float) -> None:
        """Keep the link alive, and detect one that accepts no bytes."""
        link = self._link
        if link is not None:
            link.tend(now)

    def _leave(self) -> None:
        """Close the connection and release all data of the run, because many answers may be waiting
        to be processed.
        """
        super()._leave()
        with self._switch:
            self._link = None
