"""A host: its facts, states of resources, pending refreshes, and its runs (controller)."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from orchestrator.fleet import events as run_events
from orchestrator.report.matrix import RANK
from orchestrator.report.unfinished_resources import UnfinishedResources
from orchestrator.studio.index.host_slice import HostSlice
from orchestrator.studio.index.host_state import is_good
from orchestrator.studio.index.reader import Row
from orchestrator.studio.pages.fleet import WORDS
from orchestrator.studio.pages.hosts import flat
from orchestrator.studio.pages.page import MARKS, MissingPageError, Page, Parameters
from orchestrator.studio.pages.page_context import (
    RUN_COLUMNS,
    Studio,
    moment,
    place_of,
    resource_names,
    runs_by_number,
)
from remote_runtime.errors import InputError

_LAST_PUSH = """
SELECT host_runs.*, runs.id FROM host_runs JOIN runs USING (run)
WHERE host = ? AND is_push AND outcome IN ('ok', 'changed', 'failed', 'interrupted')
ORDER BY run DESC LIMIT 1
"""


class PendingRefresh(NamedTuple):
    """A resource that the next push refreshes, the ID of the ``run`` that left it pending, and the
    row of that run, None if it is not stored."""

    resource: str
    since: str
    run: Row | None


def pending_refreshes(studio: Studio, host: Row) -> list[PendingRefresh]:
    """The resources that were skipped, failed or did not run in the last push of a host, after a
    change to a resource that they subscribe to. Empty if the run cannot be read.
    """
    row = studio.reader.row(_LAST_PUSH, (host["host"],))
    if row is None:
        return []
    try:
        found = _pending(studio, row, host["name"])
    except (MissingPageError, InputError):
        return []
    return [
        PendingRefresh(
            resource,
            since,
            studio.reader.row(f"SELECT {RUN_COLUMNS} FROM runs WHERE id = ?", (since,)),
        )
        for resource, since in found.items()
    ]


def _pending(studio: Studio, row: Row, name: str) -> dict[str, str]:
    source = HostSlice(studio.saved(row["id"]), [place_of(row, name)])
    unfinished, found = UnfinishedResources(), dict[str, str]()
    for planned in _planned(studio, row, source.about["hosts"]):
        unfinished.handle(planned)
    for event in source.replay():
        unfinished.handle(event)
        if isinstance(event, run_events.ResourceEvent):
            told = event.event
            resource = f"{told['type']}#{told['name']}"
            found.pop(resource, None)
            if told.get("due_since") and told["status"] in ("failed", "skipped"):
                found[resource] = str(told["due_since"])
    for resources in unfinished.due.values():
        found.update((resource, row["id"]) for resource in resources)
    return found


def _planned(studio: Studio, row: Row, hosts: list[str]) -> Iterator[run_events.HostPlanned]:
    """The plan of the host in this run, from the index."""
    plan = studio.reader.row("SELECT resources, edges FROM plans WHERE plan = ?", (row["plan"],))
    if plan is None:
        return
    names = resource_names(studio, plan["resources"])
    subscribed: dict[str, list[str]] = {}
    applied: dict[str, list[str]] = {}
    for resource, other, kind in json.loads(plan["edges"]):
        if resource in names and other in names:
            if kind == "subscribe":
                subscribed.setdefault(names[resource], []).append(names[other])
            elif kind == "apply":
                applied.setdefault(names[other], []).append(names[resource])
    resources = tuple(names[one] for one in json.loads(plan["resources"]) if one in names)
    for host in hosts:
        yield run_events.HostPlanned(
            host, resources, subscribed=_links(subscribed), applied=_links(applied)
        )


def _links(of: dict[str, list[str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((name, tuple(others)) for name, others in of.items())


MAX_RUNS = 60
MAX_FACTS = 400
_RUNS = """
SELECT host_runs.*, runs.id, runs.start, runs.command, runs.noop, runs.subject, runs.who,
    runs.version, runs.is_push
FROM host_runs JOIN runs USING (run) WHERE host = ? ORDER BY run DESC LIMIT ?
"""
# SQLite takes the other columns from the row with the maximum.
_LAST = """
SELECT resource, max(changes.run) AS run, status, words, drift, changes.noop, runs.id,
    runs.start, runs.who, runs.version
FROM changes JOIN texts USING (text) JOIN runs ON runs.run = changes.run
WHERE host = ? AND {condition} GROUP BY resource
"""
_FAILURES = """
SELECT resource, run, status FROM changes
WHERE host = ? AND NOT noop AND status IN ('failed', 'skipped')
"""
_PUSHES = """
SELECT run, plan FROM host_runs JOIN runs USING (run)
WHERE host = ? AND is_push AND outcome IN ('ok', 'changed', 'failed') ORDER BY run DESC
"""
_PLANNED = """
SELECT plan, resource FROM plan_resources WHERE plan IN (SELECT value FROM json_each(?))
AND resource IN (SELECT value FROM json_each(?))
"""

_ORDER = {status: rank for rank, status in enumerate(RANK)}


class ResourceState(NamedTuple):
    """A resource on a host: its ``status`` in the last push, or in the last run without one. Its
    result in that run, the last push that changed it, and the drift that a later run found are rows
    of changes, or None. ``failed_since`` is the run since which it has failed, None if it does not
    fail.
    """

    name: str
    status: str
    result: Row | None
    changed: Row | None
    drift: Row | None
    failed_since: Row | None


def host_page(studio: Studio, name: str, parameters: Parameters) -> Page:
    """All known data about a host."""
    host = studio.host(name)
    runs = studio.reader.rows(_RUNS, (host["host"], MAX_RUNS))
    record = studio.hosts.facts(name)
    known = studio.hosts.host(name)
    facts = flat(record.facts) if record else []
    word = parameters.text("resource").lower()
    resources = [one for one in resources_of(studio, host) if word in one.name.lower()]
    since = studio.reader.row(
        "SELECT id, start, who, version FROM runs WHERE run = ?",
        (host["flaps_since"] or host["since"],),
    )
    return Page(
        "host.html",
        name,
        {
            "host": host,
            "rank": WORDS[host["rank"]],
            "since": since,
            "is_good": is_good(host["outcome"]),
            "groups": known.groups if known else (),
            "address": known.address if known else "",
            "reason": next((one["message"] for one in runs if one["run"] == host["last"]), ""),
            "runs": runs,
            "verify": next((one for one in runs if one["unverified"] is not None), None),
            "facts": facts[:MAX_FACTS],
            "facts_left": len(facts[MAX_FACTS:]),
            "facts_at": moment(record.time) if record else "",
            "resources": resources,
            "pending": pending_refreshes(studio, host),
            "marks": MARKS,
        },
        live="*",
    )


def resources_of(studio: Studio, host: Row) -> list[ResourceState]:
    """The resources in the last plan of the host: trouble first, then in the order of the plan."""
    plan = studio.reader.row(
        "SELECT resources, host_runs.run FROM host_runs JOIN plans USING (plan) JOIN runs"
        " ON runs.run = host_runs.run WHERE host = ? ORDER BY is_push DESC, host_runs.run DESC"
        " LIMIT 1",
        (host["host"],),
    )
    if plan is None:
        return []
    numbers: list[int] = list(dict.fromkeys(json.loads(plan["resources"])))
    names = resource_names(studio, plan["resources"])
    results = _last(studio, host, f"changes.run = {int(plan['run'])}")
    changed = _last(studio, host, "NOT changes.noop AND status = 'changed'")
    drifts = _last(studio, host, f"changes.run > {int(plan['run'])} AND command = 'drift'")
    failed = _failed_since(studio, host, results)
    found = []
    for number in numbers:
        result, drift = results.get(number), drifts.get(number)
        found.append(
            ResourceState(
                names[number],
                result["status"] if result else "stable",
                result,
                changed=changed.get(number),
                drift=drift if drift and drift["drift"] else None,
                failed_since=failed.get(number),
            )
        )
    return sorted(found, key=lambda one: (_ORDER[one.status], one.drift is None))


def _last(studio: Studio, host: Row, condition: str) -> dict[int, Any]:
    rows = studio.reader.rows(_LAST.format(condition=condition), (host["host"],))
    return {row["resource"]: row for row in rows}


def _failed_since(studio: Studio, host: Row, results: dict[int, Row]) -> dict[int, Row]:
    """For each resource that fails now, the first push of the uninterrupted series in which it has
    failed. A push that skipped it, or whose plan did not contain it, is ignored.
    """
    failing = [number for number, row in results.items() if row["status"] == "failed"]
    if not failing:
        return {}
    told = {
        (row["resource"], row["run"]): row["status"]
        for row in studio.reader.rows(_FAILURES, (host["host"],))
    }
    pushes = studio.reader.rows(_PUSHES, (host["host"],))
    plans = json.dumps(list({row["plan"] for row in pushes}))
    rows = studio.reader.rows(_PLANNED, (plans, json.dumps(failing)))
    planned = {(row["plan"], row["resource"]) for row in rows}
    since: dict[int, int] = {}
    for number in failing:
        since[number] = results[number]["run"]
        for push in pushes:
            status = told.get((number, push["run"]))
            if status == "failed":
                since[number] = min(since[number], push["run"])
            elif status is None and (push["plan"], number) in planned:
                break
    runs = runs_by_number(studio, since.values())
    return {number: runs[run] for number, run in since.items() if run in runs}
