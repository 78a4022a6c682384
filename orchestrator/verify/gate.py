"""A verify as the gate of a rollout (controller)."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from orchestrator.rollout.gates import GateTime, failed_result
from orchestrator.rollout.scheduler import GateAnswer

if TYPE_CHECKING:
    from inventory import Host
    from orchestrator.fleet.outcome import HostResult
    from orchestrator.verify.host_check import HostOutcome
    from orchestrator.verify.verify_hosts import VerifyContext

KIND = "rollout.verify"


class VerifyGate:
    """Checks the hosts of a wave like ``ccm verify``; a host fails if it differs from its plan or
    cannot be checked."""

    name = "verify"
    hears_all = False

    def __init__(
        self, hosts: Mapping[str, Host], context: VerifyContext, *, forks: int, seconds: float
    ) -> None:
        self.seconds = seconds
        self._hosts = hosts
        self._context = context
        self._forks = forks

    def ask(self, wave: int, results: Sequence[HostResult], time_left: GateTime) -> GateAnswer:
        """Check every host in the wave that is healthy so far."""
        from orchestrator.verify.host_check import verify_all
        from orchestrator.verify.verify_hosts import Member

        members = [Member(self._hosts[result.host], self._context) for result in results]
        with contextlib.ExitStack() as stack:
            try:
                outcomes = verify_all(
                    members,
                    self._forks,
                    keep=False,
                    watch=lambda window: stack.enter_context(time_left.bounds(window)),
                )
            except KeyboardInterrupt:  # the window was interrupted, not this thread
                if time_left.cancelled:
                    return GateAnswer("the run was interrupted")
                return GateAnswer(f"verify timed out after {self.seconds:g} s")
        wrong = [
            failed_result(result, KIND, f"verify: {told}")
            for result in results
            if (told := _wrong(outcomes[self._hosts[result.host].name]))
        ]
        return GateAnswer(failed=wrong)


def _wrong(visited: HostOutcome) -> str:
    """The failures of a host, or the reason why they are unknown; "" if it has none."""
    if visited.error is not None:
        return visited.error.message
    bad = [f"{one.label}: {line}" for one in visited.verdicts for line in one.lines]
    more = f" (and {len(bad) - 1:,} more)" if len(bad) > 1 else ""
    return bad[0] + more if bad else ""
