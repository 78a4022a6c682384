"""Plans of a stage whose preview includes the results of earlier stages (controller)."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, NamedTuple, Protocol

from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.planning.host_plan import EarlierPlan, HostPlan
from remote_runtime.errors import PlanError


class HostPlanner(Protocol):
    """Creates the plans for a manifest's hosts; thread-safe."""

    def plan(self, host: Any, gathered: HostFacts) -> HostPlan:
        """The plan of one host (an inventory's ``Host``). PlanError."""


class EarlierStage(NamedTuple):
    """A stage that runs earlier on the ``hosts`` with these names; ``manifest`` is the identity
    that the hosts store.
    """

    name: str
    hosts: Container[str]
    planner: HostPlanner
    manifest: str


class StagedPlanner:
    """Replaces the ``planner`` of a stage's preview; ``before`` are the earlier stages."""

    def __init__(self, planner: HostPlanner, before: Sequence[EarlierStage]) -> None:
        self._planner = planner
        self._before = before

    def plan(self, host: Any, gathered: HostFacts) -> HostPlan:
        """The plan of one host, after its plans of earlier stages.

        PlanError, also if one of these is missing, because its results are then unknown.
        """
        before = [
            EarlierPlan(_plan_of(stage, host, gathered), stage.manifest, stage.name)
            for stage in self._before
            if host.name in stage.hosts
        ]
        plan = self._planner.plan(host, gathered)  # this masks the secrets of earlier stages
        plan.before = before
        return plan


def _plan_of(stage: EarlierStage, host: Any, gathered: HostFacts) -> HostPlan:
    try:
        return stage.planner.plan(host, gathered)
    except PlanError as error:
        message = f"the earlier stage {stage.name} has no plan for this host: {error.message}"
        raise PlanError(message, kind=error.kind, hint=error.hint) from error
