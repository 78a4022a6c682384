"""Runs with lost connections, and the later reports of their hosts (controller).

Any later contact with a host, as the user that its runtime ran as, requests its records of the runs
that ``receipts`` has marked.

Reports are checked like frames: no unknown members, limited in size, only about resources of the
host's own plan. Known outcomes are not changed.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.fleet import events as run_events
from orchestrator.fleet.checks.event_check import PROTOCOL, finished, refuse, shape_problem
from orchestrator.fleet.host.stage_host import host_in
from orchestrator.fleet.outcome import CUT_OFF
from orchestrator.fleet.store.later_reports import append
from orchestrator.fleet.store.receipts import forget, key_of, mark_of, marked_runs, receipt_of
from orchestrator.fleet.store.run_directory import RUN_ID
from remote_runtime.errors import CcmError
from remote_runtime.reporting.events import EventIds, timestamp, timestamp_of

if TYPE_CHECKING:
    from orchestrator.fleet.store.stored_runs import SavedRun

GRACE = 60.0  # seconds after which a runtime without its controller has surely ended
MAX_RUNS = 8  # that are requested from a host
_STATES = ("", "running", "ended", "cut", "none", "unusable")
_LAST = 253402300799 * 10**6
_CUT = "interrupted: the run ended on the host during this resource; its effect is not known"
_KEYS = frozenset(
    (
        "index", "status", "at", "duration", "provider", "requested", "final", "changed",
        "refreshed", "failed", "skipped", "health_only", "noop", "exit_code", "left_out", "unmet",
        "error", "health",
    )
)  # fmt: skip


class LostHost(NamedTuple):
    """A host of a run, under its name in the run, with unknown outcomes.

    ``unknown`` has the indexes of these resources in its plan, ``names`` all names in the plan,
    ``until`` the time at which the host was lost, in seconds since the epoch, and ``uid`` the user
    that its runtime ran as, None if that was not recorded.
    """

    run_id: str
    host: str
    names: tuple[str, ...]
    unknown: frozenset[int]
    until: float
    uid: int | None = None


def lost_runs_on(host: str, uid: int | None = None, current: str = "") -> dict[str, LostHost]:
    """The runs to request from this host of the inventory, by receipt, newest first.

    ``uid`` is the user of its runtime, None for any. ``current`` is the current run, which is not
    requested.
    """
    run_ids = sorted(filter(re.compile(RUN_ID).fullmatch, marked_runs(current)), reverse=True)
    lost: dict[str, LostHost] = {}
    for run_id in run_ids[:MAX_RUNS]:
        for each in _lost(run_id, str(mark_of(run_id))):
            another = None not in (uid, each.uid) and each.uid != uid
            if host_in(each.host) == host and not another:
                lost[receipt_of(key_of(run_id), each.host)] = each
    return lost


@lru_cache(MAX_RUNS)
def _lost(run_id: str, _: str) -> tuple[LostHost, ...]:
    """The hosts of a run with missing outcomes; none while it is active. Cached after the first
    call.
    """
    from orchestrator.fleet.store.stored_runs import saved_run

    try:
        run = saved_run(run_id)
        if run.running:
            return ()
        users = _users(run_id)
        hosts = tuple(one._replace(uid=users.get(one.host)) for one in lost_hosts(run))
    except (CcmError, OSError):
        hosts = ()
    if not hosts:
        forget(run_id)
    return hosts


def _users(run_id: str) -> dict[str, int]:
    """The user that received the plan on each host of a run, if known."""
    users = {}
    with contextlib.suppress(OSError, ValueError):
        for line in mark_of(run_id).read_text(encoding="utf-8").splitlines():
            host, uid = json.loads(line)
            users[str(host)] = int(uid)
    return users


def lost_hosts(run: SavedRun) -> list[LostHost]:
    """The hosts of a run with missing outcomes that the hosts may know."""
    cut = {one.host: one for one in run.results() if one.planned and not one.is_end_known}
    if not cut:
        return []
    plans = {
        planned.host: planned.resources
        for planned in run.host_progress()
        if isinstance(planned, run_events.HostPlanned) and planned.host in cut
    }
    open_resources = {host: _OpenResources(names) for host, names in plans.items()}
    for event, _ in run.events():
        if event["host"] in open_resources:
            open_resources[event["host"]].take(f"{event['type']}#{event['name']}")
    ended = max(path.stat().st_mtime for path in run.path.glob("*.jsonl"))
    return [
        LostHost(
            run_id=run.run_id,
            host=host,
            names=plans[host],
            unknown=frozenset(places.left()),
            until=_until(cut[host], ended),
        )
        for host, places in open_resources.items()
    ]


def _until(result: Any, ended: float) -> float:
    if result.kind == CUT_OFF or not result.phases:
        return ended
    return float(result.phases[0][1]) + float(result.seconds)


class _OpenResources:
    """The resources of a plan that have no outcome, by name and index."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._by_name: dict[str, list[int]] = {}
        for at, name in enumerate(names):
            self._by_name.setdefault(name, []).append(at)

    def take(self, name: str) -> None:
        """Record the outcome of a resource with that name."""
        places = self._by_name.get(name)
        if places:
            places.pop(0)

    def left(self) -> list[int]:
        return [at for places in self._by_name.values() for at in places]


# -- what they report ------------------------------------------------------------------------------


class LostEvents:
    """The requests and reports of earlier runs during one contact with a host."""

    def __init__(self, host: str, uid: int | None = None, current: str = "") -> None:
        self._lost = lost_runs_on(host, uid, current)
        self._reported: dict[str, dict[int, Mapping[str, Any]]] = {one: {} for one in self._lost}
        self._open = set(self._lost)

    def wish(self) -> dict[str, Any]:
        """The request in a message to the host; empty if there is nothing to request."""
        return {"recall": list(self._lost)} if self._lost else {}

    def take(self, message: Mapping[str, Any]) -> bool:
        """Receive a part of the answer, and store the complete answer with its run. Returns whether
        the part contains anything new, which happens only a limited number of times. ProtocolError.
        """
        receipt, state = message.get("receipt"), message.get("state")
        results, started = message.get("results"), message.get("started")
        is_open = isinstance(receipt, str) and receipt in self._open
        if not is_open or not isinstance(state, str) or state not in _STATES:
            raise refuse("a report of an earlier run that was not requested")
        lost, reported = self._lost[str(receipt)], self._reported[str(receipt)]
        if not isinstance(results, list) or not isinstance(started, list):
            raise refuse("an invalid report of an earlier run")
        if len(started) > len(lost.names):
            raise refuse("a report of an earlier run with more resources than its plan has")
        for result in results:
            index = _checked_index(result, lost)
            if index in reported:
                raise refuse("a report of an earlier run that contains a resource twice")
            if _KEYS.issuperset(result):
                reported[index] = result
            else:
                raise refuse("a report of an earlier run with unknown members")
        for index in started:
            _checked_index({"index": index}, lost)
        if state:
            self._open.discard(str(receipt))
            _complete(lost, state, reported, started)
        return bool(state or results)


def _checked_index(result: Any, lost: LostHost) -> int:
    index = result.get("index") if isinstance(result, dict) else None
    if type(index) is not int or not 0 <= index < len(lost.names):
        raise refuse("a report of an earlier run about a resource that is not in its plan")
    return index


def _complete(
    lost: LostHost, state: str, results: Mapping[int, Mapping[str, Any]], started: list[int]
) -> None:
    """Add new reports of a host to the record of its run."""
    from orchestrator.fleet.store.stored_runs import saved_run

    now, ids = time.time(), EventIds()
    cut: dict[int, Mapping[str, Any]] = {}
    if state in ("ended", "cut"):
        cut = {
            at: {"index": at, "failed": True, "status": "failed", "error": _CUT} for at in started
        }
    reports = {**cut, **results}
    lines = []
    for index in sorted(lost.unknown.intersection(reports)):
        event = _event(lost, reports[index], ids.next(), now)
        lines.append(finished(event)[1])
    over = state in ("ended", "cut") or (state == "none" and now > lost.until + GRACE)
    if over:
        lines.append(json.dumps({"host": lost.host, "state": state, "at": now}))
    if not lines:
        return
    try:
        run = saved_run(lost.run_id)
        append(run.path, lines)
    except (CcmError, OSError):
        return  # it was removed in the meantime
    _lost.cache_clear()
    if over and not lost_hosts(run):
        forget(lost.run_id)


def _event(lost: LostHost, result: Mapping[str, Any], event_id: str, now: float) -> dict[str, Any]:
    """The transaction event in a row; ProtocolError for an invalid one."""
    kind, _, name = lost.names[result["index"]].partition("#")
    at = result.get("at", int(now * 1e6))
    if type(at) is not int or not 0 <= at <= _LAST:
        raise refuse("a report of an earlier run with an invalid time")
    error = result.get("error")
    event: dict[str, Any] = {
        "protocol": PROTOCOL,
        "event_id": event_id,
        "timestamp": timestamp_of(at),
        "type": kind,
        "name": name,
        "provider": result.get("provider", ""),
        "requested_ensure": result.get("requested", ""),
        "final_ensure": result.get("final", ""),
        "duration": result.get("duration", 0),
        "properties": {},
        "status": result.get("status"),
        "changes": [],
        "error": [] if error is None else [error or "the host has no record of the reason"],
        "noop": result.get("noop", False),
        "unmet_requirements": result.get("unmet", []),
    }
    for flag in ("changed", "refreshed", "failed", "skipped"):
        event[flag] = result.get(flag, False)
    for key in ("exit_code", "left_out"):
        if key in result:
            event[key] = result[key]
    if result.get("health_only"):
        event["health_check_only"] = True
    if "health" in result:
        event["health_check"] = _with_output(result["health"])
    problem = shape_problem(event)
    texts = (event["provider"], event["requested_ensure"], event["final_ensure"], *event["error"])
    if problem or any(len(text) > 2_000 for text in texts):
        raise refuse(f"a report of an earlier run: {problem or 'a string is too long'}")
    of = {"host": lost.host, "run_id": lost.run_id, "reported_later": timestamp(now)}
    return {**event, **of}


def _with_output(checks: Any) -> Any:
    """The results of health checks in the form of events; their output is not recorded."""
    if not isinstance(checks, list):
        return checks
    return [{**check, "output": ""} if isinstance(check, dict) else check for check in checks]
