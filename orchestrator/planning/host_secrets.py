"""What the stages of a push know of a host that nobody may read (controller)."""

from __future__ import annotations

from orchestrator.planning.host_plan import HostPlan
from remote_runtime.reporting.events import secrets_of


class HostSecrets:
    """The secrets of a stage by host, and those of the stages ``before`` it.

    What one stage writes a later one may come upon, as in a diff. A host is told those of its own
    plans only.
    """

    def __init__(self, before: HostSecrets | None = None) -> None:
        self._before = before
        self._of: dict[str, tuple[str, ...]] = {}

    def before(self, host: str) -> tuple[str, ...]:
        """Those of a host in the stages before this one."""
        return self._before.of(host) if self._before is not None else ()

    def share(self, host: str, plan: HostPlan) -> None:
        """Have the host's plan mask what those before it have, and remember its own."""
        plan.secrets_before = self.before(host)
        masked = [item for item in plan.items if item.secrets and not item.sensitive]
        texts = [*plan.own_secrets, *(text for item in masked for text in secrets_of(item))]
        if texts:
            self._of[host] = tuple(dict.fromkeys(texts))

    def of(self, host: str) -> tuple[str, ...]:
        """Those of a host in this stage and before it."""
        return (*self.before(host), *self._of.get(host, ()))
