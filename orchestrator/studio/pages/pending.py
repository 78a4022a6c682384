"""The refreshes that are pending on a host after its last push (controller)."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from orchestrator.fleet import events as run_events
from orchestrator.report.unfinished_resources import UnfinishedResources
from orchestrator.studio.index.host_slice import HostSlice
from orchestrator.studio.index.reader import Row
from orchestrator.studio.pages.page import MissingPageError
from orchestrator.studio.pages.studio import RUN_COLUMNS, Studio, place_of, resource_names
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
