"""Binds the plans of a push to a plan file (controller)."""

import hashlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.fleet.host.stage_host import StageHost
from orchestrator.fleet.outcome import REFUSAL
from orchestrator.plan_files.digests import desired_of, differing
from orchestrator.plan_files.host_identity import DIFFERS, identity_of
from orchestrator.plan_files.plan_file import PlanFile
from orchestrator.plan_files.prediction_mismatches import Predictions
from orchestrator.planning import Planner
from orchestrator.planning.host_plan import HostPlan
from remote_runtime.errors import PlanError
from remote_runtime.plans.shown_actions import shown_digests

_TOLD = 5  # resources that an error names
_ANEW = "use the options and files of the plan, or create a new plan"


class BoundPlanner:
    """Replaces the planner of a push, or of a ``stage`` of it; PlanError for a host that does not
    match the plan.
    """

    def __init__(
        self,
        planner: Planner,
        plan_file: PlanFile,
        *,
        stage: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._planner = planner
        self.plan_file = plan_file
        self._stage = stage
        self._clock = clock
        self._digests: dict[int, str] = {}

    def plan(self, host: Any, gathered: HostFacts) -> HostPlan:
        """The plan of one host, which the target checks against the plan file."""
        name = StageHost(self._stage, host).name if self._stage else host.name
        record, planned = self.plan_file.record, self.plan_file.hosts[name]
        if self._clock() >= record["expires"]:
            raise _refused("expired", "the plan expired during the push")
        identity = identity_of(host, gathered)
        for key, message in DIFFERS.items():
            if identity[key] != planned[key]:
                raise _refused("identity", message)
        plan = self._planner.plan(host, gathered)
        if plan.fail_on_error != planned["fail_on_error"]:
            raise _refused("differs", "fail_on_error has changed")
        items = [record["items"][place] for place in planned["items"]]
        differences = differing(items, desired_of(plan), record["salt"])
        if differences:
            raise _refused("differs", f"the push does not match the plan: {_some(differences)}")
        outcomes = self.plan_file.outcomes(name)
        observed = planned["observed"]
        if self._is_later(host):
            # The result of an earlier stage was unknown, too.
            observed = [
                one if _is_certain(of) else "" for one, of in zip(observed, outcomes, strict=True)
            ]
        plan.binding = {
            "salt": record["observed_key"],
            "serial": serial_of(record["serial"], self._stage),
            "observed": observed,
            "certain": [at for at, one in enumerate(outcomes) if _is_certain(one)],
            "shown": [self._shown(place) for place in planned["outcomes"]],
            "created": record["created"],
            "expires": record["expires"],
        }
        plan.compare = Predictions(outcomes).misprediction
        return plan

    def _shown(self, place: int) -> str:
        """The digests of an outcome in the plan file, which hosts share."""
        found = self._digests.get(place)
        if found is None:
            found = self._digests[place] = shown_digests(self.plan_file.record["outcomes"][place])
        return found

    def _is_later(self, host: Any) -> bool:
        """Whether an earlier stage of the plan runs on the host."""
        stages = self.plan_file.record.get("stages", [])
        earlier = stages[: stages.index(self._stage)] if self._stage in stages else []
        return any(StageHost(stage, host).name in self.plan_file.hosts for stage in earlier)


def serial_of(serial: str, stage: str) -> str:
    """The ID that a host stores when it has used the plan: once for each stage that it runs."""
    if not stage:
        return serial
    return hashlib.sha256(f"{serial} {stage}".encode()).hexdigest()[: len(serial)]


def _is_certain(record: dict[str, Any]) -> bool:
    """Whether a resource must end as predicted; a skipped one has no prediction."""
    return bool(record.get("prediction", "certain") == "certain")


def _some(names: Sequence[str]) -> str:
    more = len(names) - _TOLD
    return "; ".join([*names[:_TOLD], *([f"and {more} more"] if more > 0 else [])])


def _refused(kind: str, message: str) -> PlanError:
    return PlanError(message, kind=f"{REFUSAL}.{kind}", hint=_ANEW)
