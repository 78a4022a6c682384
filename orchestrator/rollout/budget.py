"""How many hosts may fail before no more hosts start, and why a rollout stops (controller)."""

from typing import TYPE_CHECKING

from orchestrator.fleet import outcome
from orchestrator.fleet.outcome import HostResult

if TYPE_CHECKING:
    from orchestrator.rollout.wave_sizes import Amount

BUDGET = "budget"  # more hosts failed than may
GATE = "gate"  # a gate failed, or did not answer in time
CANARY = "canary"  # the canary of these hosts has failed
INTERRUPTED = "interrupted"  # the user has ended the run
UNTIL = "until"  # the time after which no host begins has come


class Budget:
    """``limit`` hosts may fail, None for any number; each host counts once."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self._failed: set[str] = set()

    @classmethod
    def of(cls, max_fail: "Amount | None", hosts: int, waves: bool) -> "Budget":
        """The budget of a rollout over this many hosts; with ``waves``, none may fail."""
        if max_fail is not None:
            return cls(max_fail.down(hosts))
        return cls(0 if waves else None)

    def count(self, result: HostResult) -> None:
        """Record how a host ended; an interrupted one did not fail."""
        if is_failure(result) and result.outcome != outcome.INTERRUPTED:
            self._failed.add(result.host)

    def counts(self, host: str) -> bool:
        """Whether a host has failed."""
        return host in self._failed

    @property
    def failed(self) -> int:
        """The number of hosts that have failed."""
        return len(self._failed)

    @property
    def left(self) -> int | None:
        """How many more may fail, None for any number."""
        return None if self.limit is None else max(0, self.limit - len(self._failed))

    @property
    def spent(self) -> bool:
        """Whether more hosts have failed than allowed."""
        return self.limit is not None and len(self._failed) > self.limit


def is_failure(result: HostResult) -> bool:
    """Whether a host that ran failed or has an unknown state."""
    return result.was_started and result.outcome != outcome.OK
