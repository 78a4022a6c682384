"""Plans of a stage whose preview sees what the stages before it would leave (controller)."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, NamedTuple, Protocol

from orchestrator.planning.facts import Gathered
from orchestrator.planning.host_plan import Before, HostPlan
from remote_runtime.errors import PlanError


class HostPlanner(Protocol):
    """Makes the plans of a manifest's hosts; thread-safe."""

    def plan(self, host: Any, gathered: Gathered) -> HostPlan:
        """The plan of one host (an inventory's ``Host``). PlanError."""
        ...


class EarlierStage(NamedTuple):
    """A stage that comes first on the ``hosts`` of these names; ``manifest`` is by what they
    remember it."""

    name: str
    hosts: Container[str]
    planner: HostPlanner
    manifest: str


class StagedPlanner:
    """In place of the ``planner`` of a stage's preview; ``before`` are the stages before it."""

    def __init__(self, planner: HostPlanner, before: Sequence[EarlierStage]) -> None:
        self._planner = planner
        self._before = before

    def plan(self, host: Any, gathered: Gathered) -> HostPlan:
        """The plan of one host, behind those that it has in the earlier stages.

        PlanError also where one of these has none: nobody knows what it would leave.
        """
        before = [
            Before(_plan_of(stage, host, gathered), stage.manifest)
            for stage in self._before
            if host.name in stage.hosts
        ]
        plan = self._planner.plan(host, gathered)  # which hides what those call secret
        plan.before = before
        return plan


def _plan_of(stage: EarlierStage, host: Any, gathered: Gathered) -> HostPlan:
    try:
        return stage.planner.plan(host, gathered)
    except PlanError as error:
        message = f"the earlier stage {stage.name} has no plan for it: {error.message}"
        raise PlanError(message, kind=error.kind, hint=error.hint) from error
