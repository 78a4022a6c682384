"""Builds a plan file while its preview runs (controller)."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from orchestrator.fleet import events as run_events
from orchestrator.fleet.event_bus import Subscriber
from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.fleet.host.stage_host import StageHost
from orchestrator.fleet.outcome import FAILED
from orchestrator.plan_files.digests import Desired, desired_of, secret_digest
from orchestrator.plan_files.host_identity import identity_of
from orchestrator.plan_files.input_files import digests_of
from orchestrator.plan_files.plan_detection import PROTOCOL
from orchestrator.plan_files.plan_file import (
    FORMAT,
    PlanFile,
    Record,
    canonical,
    event_members,
    id_of,
    rollout_of,
    work_of,
)
from orchestrator.planning.host_plan import HostPlan
from orchestrator.planning.staged_preview import HostPlanner
from remote_runtime.reporting.events import secrets_of

TOO_LARGE = "plan.size"
MAX_REPORTED = 64 << 20  # of one host, approximate bytes of memory: a plan is read up to 512 MiB
_EACH_VALUE = 64  # approximate overhead of a list or an object, in bytes


class Reader(Protocol):
    """A planner that lists the files it has read."""

    def files(self) -> Iterable[Path]:
        """The files read so far."""

    @property
    def file_count(self) -> int:
        """A number that increases with each file read."""


class StagePlanMaker(NamedTuple):
    """Creates the plans of a stage."""

    plan: Callable[[Any, HostFacts], HostPlan]


class PlanWriter(Subscriber):
    """Replaces the planner of a preview and subscribes to it; ``of_stage`` replaces the planner of
    a stage.

    Hosts may be planned by a copy in another process. Common parts of hosts are stored once.
    ``readers`` are the planners of all stages. They all share the ``key`` of the run, a salt for
    digests of observed values.
    """

    def __init__(self, planner: HostPlanner, readers: Sequence[Reader] = (), key: str = "") -> None:
        self._planner = planner
        self._readers = readers
        self.key = key or os.urandom(16).hex()
        self._order: tuple[str, ...] = ()
        self._hosts: dict[str, Record] = {}
        self._left_out: dict[str, Record] = {}
        self._rollout: Record = {}
        self._items: dict[Desired, int] = {}
        self._outcomes: dict[bytes, int] = {}
        self._told: list[Record] = []
        self._remaining_space: dict[str, int] = {}
        self._secrets: set[str] = set()
        self._files: set[str] = set()
        self._lock = threading.Lock()
        self._files_told: set[str] = set()
        self._count_told = -1

    def plan(self, host: Any, gathered: HostFacts) -> HostPlan:
        """The plan of one host, which requires the target to report observed state. PlanError."""
        return self._plan(self._planner, host, gathered, host.name)

    def of_stage(self, stage: str, planner: HostPlanner) -> StagePlanMaker:
        """The same for the hosts of a stage."""
        return StagePlanMaker(
            lambda host, gathered: self._plan(planner, host, gathered, StageHost(stage, host).name)
        )

    def _plan(self, planner: HostPlanner, host: Any, gathered: HostFacts, name: str) -> HostPlan:
        identity = identity_of(host, gathered)
        plan = planner.plan(host, gathered)
        plan.binding = {"salt": self.key}
        desired = desired_of(plan)
        hidden = {text for item, _ in plan.desired() for text in secrets_of(item)}
        whole: Record = {
            "host": {**identity, "fail_on_error": plan.fail_on_error},
            "items": [(one.resource, one.digest, one.secret.hex()) for one in desired],
            "secrets": sorted(hidden.union(plan.secrets)),
        }
        plan.keep = self._telling(whole).__next__
        return plan

    def _telling(self, whole: Record) -> Iterator[Record | None]:
        """The record to store for a host: complete at first, later only the newly read files."""
        yield {**whole, "files": self._files_read()}
        while True:
            files = self._files_read()
            yield {"files": files} if files else None

    def _files_read(self) -> list[str]:
        """The files that are not in a record yet."""
        with self._lock:
            count = sum(reader.file_count for reader in self._readers)
            if count == self._count_told:
                return []
            self._count_told = count
            read = {str(path) for reader in self._readers for path in reader.files()}
            new = read - self._files_told
            self._files_told |= new
        return sorted(new)

    def handle(self, event: run_events.Event) -> None:
        """Store a message of the preview."""
        if isinstance(event, run_events.ResourceEvent):
            self._hear(event.host, event.event)
        elif isinstance(event, run_events.HostPlanPart):
            self._keep(event.host, event.record)
        elif isinstance(event, run_events.RunStarted):
            self._order = event.hosts
        elif isinstance(event, run_events.RolloutPlanned):
            self._rollout = rollout_of(event)
        elif isinstance(event, run_events.HostFinished):
            result = event.result
            if self._remaining_space.pop(result.host, 0) < 0:
                return  # its host is left out of the plan for that reason
            if result.kind or result.host not in self._hosts:
                self._hosts.pop(result.host, None)
                self._left_out[result.host] = {
                    "outcome": result.outcome,
                    "kind": result.kind,
                    "message": result.message,
                }

    def _hear(self, host: str, event: Mapping[str, Any]) -> None:
        planned = self._hosts.get(host)
        if planned is None:
            return  # it sent too much, or is from a worker that made no plan
        members = event_members(event)
        text = canonical(members)
        space = self._remaining_space.get(host, MAX_REPORTED) - len(text)
        self._remaining_space[host] = space = space - _EACH_VALUE * (
            text.count(b"[") + text.count(b"{")
        )
        if space < 0:
            del self._hosts[host]
            self._left_out[host] = {
                "outcome": FAILED,
                "kind": TOO_LARGE,
                "message": f"its preview is larger than {MAX_REPORTED >> 20} MiB",
            }
            return
        place = self._outcomes.setdefault(text, len(self._told))
        if place == len(self._told):
            self._told.append(members)
        planned["outcomes"].append(place)
        planned["observed"].append(event["observed"])

    def _keep(self, host: str, record: Mapping[str, Any]) -> None:
        self._files.update(record["files"])
        if "host" not in record:
            return
        desired = (Desired(name, digest, bytes.fromhex(s)) for name, digest, s in record["items"])
        places = [self._items.setdefault(one, len(self._items)) for one in desired]
        self._remaining_space.pop(host, None)
        self._left_out.pop(host, None)
        self._hosts[host] = {**record["host"], "items": places, "outcomes": [], "observed": []}
        self._secrets.update(record["secrets"])

    def too_large(self) -> dict[str, str]:
        """Hosts that were previewed but left out, with the reason, by name."""
        left_out = self._left_out.items()
        return {host: reason["message"] for host, reason in left_out if reason["kind"] == TOO_LARGE}

    def finish(
        self,
        about: Mapping[str, Any],
        files: Iterable[str | Path],
        texts: Mapping[str, str] | None = None,
    ) -> PlanFile:
        """The plan; ``about`` has the members that the command supplies, ``files`` were read, and
        ``texts`` is the content of URLs.
        """
        record: Record = {
            "protocol": PROTOCOL,
            "format": FORMAT,
            "serial": os.urandom(16).hex(),
            **about,
            "observed_key": self.key,
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
        record["files"] = digests_of([*files, *self._files], self._secrets, salt, texts)
        for item, one in zip(record["items"], self._items, strict=True):
            if one.secret:
                item["secret"] = secret_digest(one.secret, salt)
        record["id"] = id_of(record)
        return PlanFile(record)
