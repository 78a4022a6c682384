"""Plans of hosts from which workers only gather facts (controller and worker)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.planning.facts import merge_host_facts
from orchestrator.planning.host_plan import HostPlan


class FactRequest:
    """A plan without resources that only records the host's facts."""

    def files(self) -> Sequence[Path]:
        """A fact request reads no files."""
        return ()

    def record(self) -> dict[str, Any]:
        """The record from which a worker creates the same request; a command has members."""
        return {}

    def plan(self, host: Any, gathered: HostFacts) -> HostPlan:
        """Store the facts of the host, including custom ones."""
        facts, _ = merge_host_facts(gathered)
        plan = HostPlan(
            [], [], declared=(), secrets=(), warnings=gathered.warnings, fail_on_error=False
        )
        records: chain[Mapping[str, Any] | None]
        records = chain([{"facts": dict(dict.items(facts))}], repeat(None))
        plan.keep = records.__next__
        return plan
