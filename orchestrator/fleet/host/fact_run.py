"""Gathers the facts of many hosts in parallel, without changing anything on them (controller)."""

from collections.abc import Callable, Iterable
from typing import Any

from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.fleet.host.host_task import LinkTask
from orchestrator.fleet.host.protocol import gather
from orchestrator.fleet.interfaces import Connector, Target
from orchestrator.fleet.sliding_window import Window, run_all
from remote_runtime.errors import CcmError

Answer = HostFacts | CcmError
Require = Callable[[Any, HostFacts], None]
CANCEL_GRACE = 2.0


def _nothing(host: Any, gathered: HostFacts) -> None:
    """Request nothing more than facts."""


class FactRun(LinkTask[Answer]):
    """The facts of one host: connect, receive the facts that the runtime sends first, send ``bye``.

    ``require`` raises NeedAnswersError for lookups without an answer.
    """

    def __init__(self, host: Target, connector: Connector, require: Require = _nothing) -> None:
        super().__init__(host, connector)
        self._require = require

    def _during(self) -> str:
        return f"facts of {self.name}"

    def _work(self) -> Answer:
        def require(gathered: HostFacts) -> None:
            """Check the facts of this host."""
            self._require(self.host, gathered)

        return gather(self._open(self._entered), self._entered, self.host.name, require)

    def _ended(self, error: CcmError) -> Answer:
        return error


def gather_facts(
    hosts: Iterable[Target],
    connector: Connector,
    *,
    forks: int,
    watch: Callable[[Window[Any]], None] = lambda window: None,
    require: Require = _nothing,
) -> dict[str, Answer]:
    """Return a map from host names to Gathered, or to the CcmError that prevented it.

    ``watch`` receives the window before it starts, so that a signal can interrupt it. ``require``
    raises NeedAnswersError for lookups that a host must answer.
    """
    runs = (FactRun(host, connector, require) for host in hosts)
    return run_all(runs, forks, watch, CANCEL_GRACE)
