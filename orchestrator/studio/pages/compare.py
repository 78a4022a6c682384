"""Compares two runs, two plans or two hosts (controller)."""

import json
from typing import Any, NamedTuple

from orchestrator.report.differences import (
    FIRST,
    OUTCOME,
    SECOND,
    Difference,
    Differences,
    group_hosts,
)
from orchestrator.report.summary_texts import listed, shown_status
from orchestrator.studio.index.host_slice import HostSlice
from orchestrator.studio.index.reader import Row
from orchestrator.studio.pages.host import ResourceState, resources_of
from orchestrator.studio.pages.hosts import flat
from orchestrator.studio.pages.page import MARKS, Page, Parameters, pager
from orchestrator.studio.pages.page_context import RUN_COLUMNS, Studio, moment, place_of
from orchestrator.studio.pages.plan import plan_of, visible_plans
from orchestrator.studio.plans.plan_cache import OpenPlan, PlanSummary, StoredPlans

ROWS = 25  # hosts that are compared for one page
MAX_HOSTS_LENGTH = 300
MAX_CHOICES = 50
_HOSTS = """
SELECT hosts.host, hosts.name FROM hosts
WHERE host IN (SELECT host FROM host_runs WHERE run IN (?, ?))
ORDER BY (SELECT min(rank) FROM host_runs
          WHERE host_runs.host = hosts.host AND run IN (?, ?)), sort LIMIT ? OFFSET ?
"""


def compare_page(studio: Studio, parameters: Parameters) -> Page:
    """The differences between the runs ``a`` and ``b``; if one is missing, a choice of runs."""
    choices = studio.reader.rows(
        f"SELECT {RUN_COLUMNS} FROM runs WHERE state != 'unreadable' ORDER BY run DESC LIMIT ?",
        (MAX_CHOICES,),
    )
    names = parameters.text("a"), parameters.text("b")
    if not all(names):
        return Page("compare.html", "Compare", {"runs": None, "choices": choices})
    first, second = studio.run(names[0]), studio.run(names[1])
    both = (first["run"], second["run"])
    total = studio.reader.value(
        "SELECT count(DISTINCT host) FROM host_runs WHERE run IN (?, ?)", both
    )
    at = pager(total, parameters, ROWS)
    hosts = studio.reader.rows(_HOSTS, (*both, *both, at.size, at.offset))
    found = Differences(_slice(studio, first, hosts), _slice(studio, second, hosts))
    groups = group_hosts({host: found.of(host) for host in found.hosts})
    different = sum(len(same) for same, _ in groups)
    return Page(
        "compare.html",
        "Compare",
        {
            "runs": (first, second),
            "outcomes": [(run["noop"], json.loads(run["outcomes"])) for run in (first, second)],
            "groups": [group_values(same, rows) for same, rows in groups],
            "equal": len(found.hosts) - different,
            "pager": at,
            "choices": choices,
        },
    )


def _slice(studio: Studio, run: Row, hosts: list[Row]) -> HostSlice:
    numbers = json.dumps([host["host"] for host in hosts])
    rows = studio.reader.rows(
        "SELECT hosts.name, names, places, results FROM host_runs JOIN hosts USING (host)"
        " WHERE run = ? AND host IN (SELECT value FROM json_each(?)) ORDER BY sort",
        (run["run"], numbers),
    )
    return HostSlice(studio.saved(run["id"]), [place_of(row, row["name"]) for row in rows])


def _in_words(row: Difference) -> Difference:
    """A difference in readable form, with its statuses as words."""
    if row.what not in (FIRST, SECOND, OUTCOME):
        return row
    return row._replace(before=shown_status(row.before), after=shown_status(row.after))


def group_values(hosts: list[str], rows: list[Difference], left: int = 0) -> dict[str, Any]:
    """Hosts with the same differences, for the macro ``differences``; ``left`` more are omitted."""
    return {
        "where": listed(hosts, MAX_HOSTS_LENGTH),
        "total": len(hosts),
        "host": hosts[0],
        "rows": [_in_words(row) for row in rows],
        "left": left,
    }


PLAN_GROUPS = 40  # on a page
MAX_ROWS = 500  # differences of a group
_PLAN_WORDS = {FIRST: "only in the first plan", SECOND: "only in the second plan"}


def compare_plans_page(
    studio: Studio, stored_plans: StoredPlans | None, parameters: Parameters
) -> Page:
    """The differences between the plans ``a`` and ``b``; if one is missing, a choice of plans."""
    found = visible_plans(studio, stored_plans)
    values: dict[str, Any] = {
        "choices": [one.name for one in found if isinstance(one, PlanSummary)],
        "plans": None,
    }
    names = parameters.text("a"), parameters.text("b")
    if all(names):
        values |= _compared_plans(
            *(plan_of(studio, stored_plans, name) for name in names), parameters=parameters
        )
    return Page("compare_plans.html", "Compare two plans", values)


def _compared_plans(first: OpenPlan, second: OpenPlan, *, parameters: Parameters) -> dict[str, Any]:
    found = Differences(first.plan_file, second.plan_file)
    groups = group_hosts({host: found.of(host) for host in found.hosts})
    at = pager(len(groups), parameters, PLAN_GROUPS)
    different = sum(len(same) for same, _ in groups)
    return {
        "plans": (first.summary, second.summary),
        "groups": [_plan_group(*one) for one in groups[at.offset : at.offset + at.size]],
        "equal": len(found.hosts) - different,
        "pager": at,
    }


def _plan_group(hosts: list[str], rows: list[Difference]) -> dict[str, Any]:
    values = group_values(hosts, rows[:MAX_ROWS], left=len(rows[MAX_ROWS:]))
    named = [row._replace(what=_PLAN_WORDS.get(row.what, row.what)) for row in values["rows"]]
    return {**values, "rows": named}


MAX_HOST_CHOICES = 2_000
MAX_HOST_ROWS = 1_000
_MAX_LENGTH = 400  # characters of a value


class DifferentResource(NamedTuple):
    """A resource with different states; None if a host does not have it."""

    name: str
    states: tuple[ResourceState | None, ResourceState | None]


class DifferentFact(NamedTuple):
    """A fact that differs; "" if a host does not have it."""

    path: str
    values: tuple[str, str]


def compare_hosts_page(studio: Studio, parameters: Parameters) -> Page:
    """The differences between the hosts ``a`` and ``b``; if one is missing, a choice of hosts."""
    choices = studio.reader.rows(
        "SELECT name FROM hosts ORDER BY sort LIMIT ?", (MAX_HOST_CHOICES,)
    )
    values: dict[str, Any] = {"choices": [row["name"] for row in choices], "hosts": None}
    names = parameters.text("a"), parameters.text("b")
    if all(names):
        values |= _compared_hosts(studio, studio.host(names[0]), studio.host(names[1]))
    return Page("compare_hosts.html", "Compare two hosts", values)


def _compared_hosts(studio: Studio, first: Row, second: Row) -> dict[str, Any]:
    both = (first, second)
    resources = _resources(*(resources_of(studio, host) for host in both))
    records = [studio.hosts.facts(host["name"]) for host in both]
    facts = _facts(*(dict(flat(record.facts)) if record else {} for record in records))
    known = [studio.hosts.host(host["name"]) for host in both]
    return {
        "hosts": both,
        "groups": [", ".join(host.groups) if host else "" for host in known],
        "addresses": [host.address if host else "" for host in known],
        "facts_at": [moment(record.time) if record else "" for record in records],
        "resources": resources[:MAX_HOST_ROWS],
        "resources_left": len(resources[MAX_HOST_ROWS:]),
        "facts": facts[:MAX_HOST_ROWS],
        "facts_left": len(facts[MAX_HOST_ROWS:]),
        "marks": MARKS,
    }


def _resources(first: list[ResourceState], second: list[ResourceState]) -> list[DifferentResource]:
    """The resources that only one host has, or whose last result or drift differs."""
    before, after = ({one.name: one for one in found} for found in (first, second))
    return [
        DifferentResource(name, (before.get(name), after.get(name)))
        for name in dict.fromkeys([*before, *after])
        if _told(before.get(name)) != _told(after.get(name))
    ]


def _told(one: ResourceState | None) -> tuple[str, ...] | None:
    """The compared values: the state, its reason and drift, but not times and users."""
    if one is None:
        return None
    words = str(one.result["words"]) if one.result else ""
    return one.status, words, str(one.drift["words"]) if one.drift else ""


def _facts(first: dict[str, str], second: dict[str, str]) -> list[DifferentFact]:
    return [
        DifferentFact(path, (_short(first.get(path, "")), _short(second.get(path, ""))))
        for path in sorted({*first, *second})
        if first.get(path) != second.get(path)
    ]


def _short(text: str) -> str:
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"
