"""The plans of the project, and the later changes on the hosts of a plan (controller)."""

import json
import shlex
import time
from typing import Any, NamedTuple

from orchestrator.plan_files.plan_file import PlanFile
from orchestrator.report.html.matrix import LETTERS, Matrix
from orchestrator.report.html.sections import sections_of
from orchestrator.report.matrix import Grid
from orchestrator.studio.index.reader import Row
from orchestrator.studio.pages.page import MARKS, MissingPageError, Page, Parameters
from orchestrator.studio.pages.page_context import Studio, hosts_text
from orchestrator.studio.plans.plan_cache import (
    DamagedPlan,
    OpenPlan,
    PlanSummary,
    StoredPlans,
    problem_of,
)
from orchestrator.studio.plans.pushes import Pushes
from remote_runtime.errors import CcmError

MAX_TEXT = 4 << 20  # bytes of strings on a page
MAX_CELLS = 10_000
MAX_TROUBLED = 200
MAX_RUNS = 50
MAX_NAMES = 2_000  # characters of hosts that are confirmed
# A run counts for a host if it changed the host or found drift on it.
_SINCE = """
SELECT runs.run, runs.id, runs.start, runs.command, runs.noop, runs.subject, runs.who,
    runs.version, json_group_array(hosts.name) AS names
FROM host_runs JOIN runs USING (run) JOIN hosts USING (host)
WHERE runs.start > ? AND hosts.name IN (SELECT value FROM json_each(?)) AND (
    (is_push AND host_runs.changed > 0)
    OR (command = 'drift' AND EXISTS (
        SELECT 1 FROM changes WHERE changes.host = host_runs.host AND changes.run = runs.run
            AND changes.drift != ''))
) GROUP BY runs.run ORDER BY runs.run DESC
"""


class PlanDesk(NamedTuple):
    """The plans of the project, None without a project, and their pushes, None if
    pushes are not allowed.
    """

    stored_plans: StoredPlans | None = None
    pushes: Pushes | None = None


NO_PLANS = PlanDesk()


class ChangeSince(NamedTuple):
    """A run that, after a plan was created, changed hosts of the plan or found drift on them."""

    run: Row
    found_drift: bool
    where: str
    hosts: int


def plan_list_page(studio: Studio, stored_plans: StoredPlans | None) -> Page:
    """The plans of the project with their approvals."""
    found = visible_plans(studio, stored_plans)
    values = {
        "root": str(stored_plans.folder.root) if stored_plans else "",
        "policy": stored_plans.policy if stored_plans else None,
        "plans": [
            _listed(studio, stored_plans, one)
            for one in found
            if stored_plans and isinstance(one, PlanSummary)
        ],
        "damaged": [one for one in found if isinstance(one, DamagedPlan)],
    }
    return Page("plans.html", "Plans", values)


def _listed(studio: Studio, stored_plans: StoredPlans, one: PlanSummary) -> dict[str, Any]:
    return {
        "plan": one,
        "age": _age(one),
        "approvals": stored_plans.approvals_of(one),
        "denied": list(map(str, stored_plans.verdict(one).denied)),
        "drifted": len(changed_since(studio, one)[1]),
    }


def visible_plans(
    studio: Studio, stored_plans: StoredPlans | None
) -> list[PlanSummary | DamagedPlan]:
    """The plans that a user may see: for a user who is limited to some hosts, only
    plans for these hosts.
    """
    found = stored_plans.summaries() if stored_plans else []
    if not studio.is_part:
        return found
    return [one for one in found if isinstance(one, PlanSummary) and _is_visible(studio, one)]


def _is_visible(studio: Studio, plan: PlanSummary) -> bool:
    own = studio.hosts.names() or frozenset()
    return not studio.is_part or own.issuperset((*plan.hosts, *plan.left_out))


def plan_of(studio: Studio, stored_plans: StoredPlans | None, name: str) -> OpenPlan:
    """A plan that a browser requests. MissingPageError, also if the user may not see it."""
    try:
        found = stored_plans.open(name) if stored_plans else None
    except (CcmError, OSError) as error:
        text = "The plan cannot be read." if studio.is_part else problem_of(error)
        raise MissingPageError(text) from error
    if found is None or not _is_visible(studio, found.summary):
        raise MissingPageError(f"There is no plan {name[:80]!r} in the project.")
    return found


def plan_page(studio: Studio, plans: PlanDesk, parameters: Parameters) -> Page:
    """The changes of a plan, its approvals, and its hosts that have changed since."""
    stored_plans, pushes = plans
    plan = plan_of(studio, stored_plans, parameters.text("name"))
    assert stored_plans is not None
    short = plan.summary
    sections, matrix = stored_plans.of_plan(plan, _preview)
    since, changed = changed_since(studio, short)
    values = {
        **plan_values(stored_plans, plan),
        "sections": sections,
        "matrix": matrix,
        "letters": LETTERS,
        "marks": MARKS,
        "since": since,
        "changed_since": hosts_text(sorted(changed)),
        "number_changed": len(changed),
        "may_push": pushes is not None,
        "push": pushes.of(short.id) if pushes else None,
    }
    return Page("plan.html", short.name, values, live="*")


def push_page(plans: PlanDesk, plan: OpenPlan, problem: str = "") -> Page:
    """The confirmation page before a plan is pushed, or the reason why it cannot be pushed."""
    stored_plans, pushes = plans
    assert stored_plans is not None
    assert pushes is not None
    values = {
        **plan_values(stored_plans, plan),
        "where": hosts_text(plan.summary.hosts, MAX_NAMES),
        "obstacles": pushes.obstacles(plan),
        "problem": problem,
    }
    return Page("plan_push.html", f"Push {plan.summary.name}", values)


def plan_values(stored_plans: StoredPlans, plan: OpenPlan) -> dict[str, Any]:
    """The times, the approvals and the policy of a plan."""
    short = plan.summary
    return {
        "plan": short,
        "age": _age(short),
        "approvals": stored_plans.approvals(plan.stored, short.manifest),
        "policy": stored_plans.policy,
        "verdict": stored_plans.verdict(short),
        "root": str(stored_plans.folder.root),
        "sign_command": f"ccm plan sign --key ~/.ssh/id_ed25519 {shlex.quote(short.name)}",
    }


def _age(plan: PlanSummary) -> str:
    minutes = max(0, int(time.time() - plan.created) // 60)
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // 1440} days"


def _preview(plan: PlanFile) -> tuple[dict[str, Any], Matrix]:
    grid = Grid(plan, MAX_TEXT)
    sections = sections_of(grid, max_troubled=MAX_TROUBLED, with_hosts=False)
    return sections, Matrix(grid, MAX_CELLS)


def changed_since(studio: Studio, plan: PlanSummary) -> tuple[list[ChangeSince], set[str]]:
    """The runs after a plan that report changed states of its hosts, and the names of
    these hosts.
    """
    rows = studio.reader.rows(_SINCE, (plan.created, json.dumps(plan.hosts)))
    found, every = list[ChangeSince](), set[str]()
    for row in rows:
        names = json.loads(row["names"])
        every.update(names)
        if len(found) < MAX_RUNS:
            drift = row["command"] == "drift"
            found.append(ChangeSince(row, drift, where=hosts_text(names), hosts=len(names)))
    return found, every
