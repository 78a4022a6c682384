"""Gathers the facts of many hosts side by side, and changes nothing on them (controller)."""

from collections.abc import Callable, Iterable
from typing import Any

from orchestrator.fleet.host.conversation import gather
from orchestrator.fleet.host.host_facts import Gathered
from orchestrator.fleet.host.host_task import LinkTask
from orchestrator.fleet.ports import Connector, Target
from orchestrator.fleet.window import Window, run_all
from remote_runtime.errors import CcmError

Answer = Gathered | CcmError
CANCEL_GRACE = 2.0


class FactRun(LinkTask[Answer]):
    """One host's facts: connect, take what the runtime says unasked, say ``bye``."""

    def _during(self) -> str:
        return f"facts of {self.name}"

    def _work(self) -> Answer:
        return gather(self._open(self._entered), self._entered, self.host.name)

    def _ended(self, error: CcmError) -> Answer:
        return error


def gather_facts(
    hosts: Iterable[Target],
    connector: Connector,
    forks: int,
    watch: Callable[[Window[Any]], None] = lambda window: None,
) -> dict[str, Answer]:
    """Return host name → Gathered, or the CcmError that kept that host's facts away.

    ``watch`` gets the window before it starts, so that a signal can interrupt it.
    """
    return run_all((FactRun(host, connector) for host in hosts), forks, watch, CANCEL_GRACE)
