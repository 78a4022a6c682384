"""Secrets of a host that later stages of a push must mask (controller)."""

from __future__ import annotations

from orchestrator.planning.host_plan import HostPlan
from remote_runtime.reporting.events import secrets_of


class HostSecrets:
    """The secrets of a stage by host, and those of the stages ``before`` it.

    A later stage may see what an earlier one wrote, for example in a diff. A host receives only the
    secrets of its own plans.
    """

    def __init__(self, before: HostSecrets | None = None) -> None:
        self._before = before
        self._of: dict[str, tuple[str, ...]] = {}

    def before(self, host: str) -> tuple[str, ...]:
        """The secrets of a host in earlier stages."""
        return self._before.of(host) if self._before is not None else ()

    def share(self, host: str, plan: HostPlan) -> None:
        """Add the secrets of earlier stages to the host's plan, and store its own."""
        plan.secrets_before = self.before(host)
        masked = [item for item in plan.items if item.secrets and not item.sensitive]
        texts = [*plan.own_secrets, *(text for item in masked for text in secrets_of(item))]
        if texts:
            self._of[host] = tuple(dict.fromkeys(texts))

    def of(self, host: str) -> tuple[str, ...]:
        """The secrets of a host in this stage and earlier ones."""
        return (*self.before(host), *self._of.get(host, ()))
