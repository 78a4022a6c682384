"""Compares two plans host by host (controller)."""

from typing import Any

from orchestrator.report.differences import FIRST, SECOND, Difference, Differences, group_hosts
from orchestrator.studio.pages.compare import group_values
from orchestrator.studio.pages.page import Page, Parameters, pager
from orchestrator.studio.pages.plan import plan_of, visible_plans
from orchestrator.studio.pages.studio import Studio
from orchestrator.studio.plans.plan_cache import OpenPlan, PlanSummary, StoredPlans

GROUPS = 40  # on a page
MAX_ROWS = 500  # differences of a group
_WORDS = {FIRST: "only in the first plan", SECOND: "only in the second plan"}


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
        values |= _compared(
            *(plan_of(studio, stored_plans, name) for name in names), parameters=parameters
        )
    return Page("compare_plans.html", "Compare two plans", values)


def _compared(first: OpenPlan, second: OpenPlan, *, parameters: Parameters) -> dict[str, Any]:
    found = Differences(first.plan_file, second.plan_file)
    groups = group_hosts({host: found.of(host) for host in found.hosts})
    at = pager(len(groups), parameters, GROUPS)
    different = sum(len(same) for same, _ in groups)
    return {
        "plans": (first.summary, second.summary),
        "groups": [_group(*one) for one in groups[at.offset : at.offset + at.size]],
        "equal": len(found.hosts) - different,
        "pager": at,
    }


def _group(hosts: list[str], rows: list[Difference]) -> dict[str, Any]:
    values = group_values(hosts, rows[:MAX_ROWS], left=len(rows[MAX_ROWS:]))
    named = [row._replace(what=_WORDS.get(row.what, row.what)) for row in values["rows"]]
    return {**values, "rows": named}
