"""A plan file: the result of a preview, which a push then applies, as data (controller).

It is one JSON object, see ``schemas/kept_plan.json``. Hosts share common parts: ``items`` are the
resources with their desired state, ``outcomes`` the events of the preview, and a host refers to
both by index. A plan is never executed: a push plans again and compares.
"""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from orchestrator.fleet import events as run_events
from orchestrator.fleet import outcome
from orchestrator.fleet.outcome import HostResult, Tally
from orchestrator.fleet.run_origin import Origin
from orchestrator.plan_files.content_limits import displayable
from remote_runtime.plan_item import SELECTION

FORMAT = 2  # operations count: in the ID and in the digests of observed states
# The members of an event that describe the action; the others are reasons, or differ by run.
_DONE = (
    "type", "name", "manifest", "requested_ensure", "status", "noop_message", "prediction",
    "changes", "refreshed", "unmet_requirements", "always_noop", "operations",
)  # fmt: skip
_KEPT = (
    "alias", "provider", "prediction_reason", "error", "changed", "failed", "skipped", "left_out",
    "left_as", "effects",
)  # fmt: skip
_IDENTITY = ("address", "port", "connection", "user", "host_id", "host_key", "fail_on_error")

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode

Record = dict[str, Any]


class PlanFile:
    """A plan with its preview, which reports show like a run."""

    kind = "plan"
    again = "ccm plan show FILE"

    def __init__(self, record: Record) -> None:
        self.record = record
        self.id: str = record["id"]
        self.hosts: Mapping[str, Record] = record["hosts"]
        self.run_id = self.id
        self.until = f"valid until {moment(record['expires'])}"
        self.shown = displayable(record)  # the part that people see
        self.about: Record = {
            "run_id": self.run_id,
            "command": "plan",
            "manifest": self.shown["manifest"],
            "noop": True,
            "hosts": [*self.shown["hosts"], *self.shown["left_out"]],
            "start": record["created"],
            "end": record["created"],
            "interrupted": False,
            "options": {name: self.shown[name] for name in SELECTION},
        }

    def outcomes(self, host: str) -> list[Record]:
        """The previewed outcome of each resource of a host, in order."""
        table = self.record["outcomes"]
        return [table[place] for place in self.hosts[host]["outcomes"]]

    def events(self) -> Iterator[tuple[Record, str]]:
        """Yield each outcome as a preview event, with "" in place of its JSON text."""
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.record["created"]))
        always = {
            "noop": True,
            "duration": 0,
            "timestamp": when,
            "final_ensure": "",
            "properties": {},
        }
        table = [{**always, **record} for record in self.shown["outcomes"]]
        for host, planned in self.shown["hosts"].items():
            for place in planned["outcomes"]:
                yield {**table[place], "host": host}, ""

    def results(self) -> list[HostResult]:
        """The previewed result of each host."""
        record = self.shown
        return [*map(self._result, record["hosts"]), *map(self._left_out, record["left_out"])]

    def _result(self, host: str) -> HostResult:
        tally, seen = Tally(), set()
        planned = self.shown["hosts"][host]
        for place in planned["outcomes"]:
            record = self.shown["outcomes"][place]
            name = record["type"], record["name"]
            tally.add({**record, "noop": True}, again=name in seen)
            seen.add(name)
        how = outcome.FAILED if tally.failed or tally.unmet else outcome.OK
        return HostResult(host, tally, how, planned=len(planned["items"]))

    def _left_out(self, host: str) -> HostResult:
        return HostResult(host, Tally(), **self.shown["left_out"][host])

    def _rollout(self) -> Iterator[run_events.RolloutPlanned]:
        """The hosts of each wave and stage."""
        rollout = self.shown.get("rollout")
        if rollout:
            waves = tuple(map(tuple, rollout["waves"]))
            stages = tuple(rollout["stages"])
            yield run_events.RolloutPlanned(
                waves, None, {}, stages=stages, limits=rollout["limits"]
            )

    @property
    def origin(self) -> Origin:
        """The user and machine that made the plan, and the version of ccm."""
        user, _, machine = self.shown["user"].partition("@")
        return Origin(user, machine, ccm=self.shown["ccm"])

    def verified(self) -> None:
        """None, because a preview does not verify."""

    def replay(self, *, whole: bool = False) -> Iterator[run_events.Event]:
        """The stored preview as messages of the event bus, with one message for each event."""
        about = self.about
        at, hosts = about["start"], tuple(about["hosts"])
        yield run_events.RunStarted(self.run_id, at, hosts, True, about["manifest"], "plan")
        yield from self._rollout()
        for event, line in self.events():
            yield run_events.ResourceEvent(event["host"], event, line)
        for result in self.results():
            yield run_events.HostFinished(result)
        yield run_events.RunFinished(at, False)


def moment(seconds: float) -> str:
    """A time in a readable form."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))


def event_members(event: Mapping[str, Any]) -> Record:
    """The members of an event that a plan stores: no times, no properties, nothing specific to a
    run.
    """
    return {key: event[key] for key in (*_DONE, *_KEPT) if key in event}


def rollout_of(event: run_events.RolloutPlanned) -> Record:
    """The division of the hosts that a plan stores."""
    waves = list(map(list, event.waves))
    return {"waves": waves, "stages": list(event.stages), "limits": dict(event.limits)}


def action_members(record: Mapping[str, Any]) -> Record:
    """The members that describe the action."""
    return {key: record[key] for key in _DONE if key in record}


def canonical(value: Any) -> bytes:
    """The canonical JSON text of a value."""
    return _encode(value).encode("ascii")


def digest_of(value: Any) -> str:
    """The SHA-256 of the canonical text."""
    return _sha256(_encode(value))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def work_of(record: Record) -> str:
    """The digest of a plan's actions, without the values of secrets."""
    items = [_sha256(f"{item['desired']} {item['resource']}") for item in record["items"]]
    done = [digest_of(action_members(told)) for told in record["outcomes"]]
    hosts = {
        name: [
            *(planned[key] for key in _IDENTITY),
            _sha256("".join([items[place] for place in planned["items"]])),
            _sha256("".join([done[place] for place in planned["outcomes"]])),
        ]
        for name, planned in record["hosts"].items()
    }
    return digest_of([record["runtime"], hosts])


def id_of(record: Record) -> str:
    """The plan ID, which is equal for plans with the same actions and secrets, regardless of when
    they were made.
    """
    items = record["items"]
    secrets = {
        name: [items[place]["secret"] for place in planned["items"] if "secret" in items[place]]
        for name, planned in record["hosts"].items()
    }
    return digest_of([work_of(record), secrets])
