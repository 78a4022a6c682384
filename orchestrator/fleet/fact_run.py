"""Gathers the facts of many hosts side by side, and changes nothing on them (controller)."""

from collections.abc import Callable, Iterable
from typing import Any

from orchestrator.fleet.conversation import greet
from orchestrator.fleet.gathered import Gathered
from orchestrator.fleet.ports import Connector, Target
from orchestrator.fleet.rollout import Rollout
from orchestrator.fleet.session import Session
from orchestrator.support.crash import describe_crash
from orchestrator.support.plain_text import one_line
from remote_runtime.errors import CcmError, UnreachableError

Answer = Gathered | CcmError
CANCEL_GRACE = 2.0


class FactRun:
    """One host's facts: connect, take what the runtime says unasked, say ``bye``."""

    def __init__(self, host: Target, connector: Connector) -> None:
        self.host = host
        self.name = host.name
        self._connector = connector
        self._session: Session | None = None

    def run(self) -> tuple[str, Answer]:
        """Return the host's name with its facts, or with the error that kept them away."""
        try:
            return self.name, self._gather()
        except CcmError as error:
            return self.name, error
        except Exception as error:
            path = describe_crash(error, f"facts of {self.name}")
            text = f"a defect in ccm: {type(error).__name__}: {one_line(str(error))}"
            return self.name, CcmError(text, kind="defect", hint=path and f"see {path}")
        finally:
            self.abandon()

    def _gather(self) -> Gathered:
        link = self._connector.open(self.host, lambda phase: None)
        session = self._session = Session(link)
        gathered = greet(session, lambda phase: None)
        session.send({"t": "bye"})
        return gathered

    def cancel(self) -> None:
        """Give up on this host."""
        self.abandon()

    def abandon(self) -> None:
        """Close the link, if there is one."""
        session = self._session
        if session is not None:
            session.link.close()

    def tend(self, now: float) -> None:
        """Notice a link that takes no bytes."""
        session = self._session
        if session is not None:
            session.tend(now)

    def interrupted_result(self) -> tuple[str, Answer]:
        """What to report for a host that is left behind."""
        return self.name, UnreachableError("interrupted", kind="run.interrupted")


def gather_facts(
    hosts: Iterable[Target],
    connector: Connector,
    forks: int,
    watch: Callable[[Rollout[Any]], None] = lambda rollout: None,
) -> dict[str, Answer]:
    """Return host name → Gathered, or the CcmError that kept that host's facts away.

    ``watch`` gets the rollout before it starts, so that a signal can interrupt it.
    """
    answers: dict[str, Answer] = {}

    def keep(answer: tuple[str, Answer]) -> None:
        answers[answer[0]] = answer[1]

    rollout = Rollout((FactRun(host, connector) for host in hosts), forks, keep, grace=CANCEL_GRACE)
    watch(rollout)
    rollout.run()
    return answers
