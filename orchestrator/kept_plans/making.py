"""Makes a plan of a preview while that runs (controller)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.fleet import events as happening
from orchestrator.fleet.bus import Subscriber
from orchestrator.fleet.gathered import Gathered
from orchestrator.fleet.stage_host import StageHost
from orchestrator.kept_plans.desired import Desired, desired_of, secret_digest
from orchestrator.kept_plans.identity import identity_of
from orchestrator.kept_plans.inputs import digests_of
from orchestrator.kept_plans.kept_plan import (
    FORMAT,
    KeptPlan,
    Record,
    canonical,
    id_of,
    rollout_of,
    told_of,
    work_of,
)
from orchestrator.kept_plans.recognising import PROTOCOL
from orchestrator.planning import HostPlan
from orchestrator.planning.behind import HostPlanner
from remote_runtime.events import secrets_of


class StagePlanMaker(NamedTuple):
    """Makes the plans of a stage."""

    plan: Callable[[Any, Gathered], HostPlan]


class PlanMaker(Subscriber):
    """In place of the planner of a preview and a subscriber of it; ``of_stage`` is in that of a
    stage's.

    What hosts have in common is held once.
    """

    def __init__(self, planner: HostPlanner) -> None:
        self._planner = planner
        self._key = os.urandom(16).hex()
        self._lock = threading.Lock()
        self._order: tuple[str, ...] = ()
        self._hosts: dict[str, Record] = {}
        self._left_out: dict[str, Record] = {}
        self._rollout: Record = {}
        self._items: dict[Desired, int] = {}
        self._outcomes: dict[bytes, int] = {}
        self._told: list[Record] = []
        self._secrets: set[str] = set()

    def plan(self, host: Any, gathered: Gathered) -> HostPlan:
        """The plan of one host, which is to say what it observes. PlanError."""
        return self._plan(self._planner, host, gathered, host.name)

    def of_stage(self, stage: str, planner: HostPlanner) -> StagePlanMaker:
        """The same for the hosts of a stage."""
        return StagePlanMaker(
            lambda host, gathered: self._plan(planner, host, gathered, StageHost(stage, host).name)
        )

    def _plan(self, planner: HostPlanner, host: Any, gathered: Gathered, name: str) -> HostPlan:
        identity = identity_of(host, gathered)
        plan = planner.plan(host, gathered)
        plan.binding = {"salt": self._key}
        desired = desired_of(plan)
        with self._lock:
            places = [self._items.setdefault(one, len(self._items)) for one in desired]
            self._secrets.update(plan.secrets)
            for item, _ in plan.desired():
                self._secrets.update(secrets_of(item))
        self._hosts[name] = {
            **identity,
            "fail_on_error": plan.fail_on_error,
            "items": places,
            "outcomes": [],
            "observed": [],
        }
        return plan

    def handle(self, event: happening.Event) -> None:
        """Keep what the preview says."""
        if isinstance(event, happening.ResourceEvent):
            self._keep(self._hosts[event.host], event.event)
        elif isinstance(event, happening.RunStarted):
            self._order = event.hosts
        elif isinstance(event, happening.RolloutPlanned):
            self._rollout = rollout_of(event)
        elif isinstance(event, happening.HostFinished):
            result = event.result
            if result.kind or result.host not in self._hosts:
                self._hosts.pop(result.host, None)
                self._left_out[result.host] = {
                    "outcome": result.outcome,
                    "kind": result.kind,
                    "message": result.message,
                }

    def _keep(self, planned: Record, event: Mapping[str, Any]) -> None:
        told = told_of(event)
        place = self._outcomes.setdefault(canonical(told), len(self._told))
        if place == len(self._told):
            self._told.append(told)
        planned["outcomes"].append(place)
        planned["observed"].append(event["observed"])

    def finish(self, about: Mapping[str, Any], files: Iterable[str | Path]) -> KeptPlan:
        """The plan; ``about`` are the members that the command knows, ``files`` were read."""
        record: Record = {
            "protocol": PROTOCOL,
            "format": FORMAT,
            "serial": os.urandom(16).hex(),
            **about,
            "observed_key": self._key,
            "hosts": {name: self._hosts[name] for name in self._order if name in self._hosts},
            "left_out": self._left_out,
            **({"rollout": self._rollout} if self._rollout else {}),
            "items": [{"resource": one.resource, "desired": one.digest} for one in self._items],
            "outcomes": self._told,
        }
        for item, one in zip(record["items"], self._items, strict=True):
            if one.secret:
                item["secret"] = ""
        record["salt"] = salt = work_of(record)
        record["files"] = digests_of(files, self._secrets, salt)
        for item, one in zip(record["items"], self._items, strict=True):
            if one.secret:
                item["secret"] = secret_digest(one.secret, salt)
        record["id"] = id_of(record)
        return KeptPlan(record)
