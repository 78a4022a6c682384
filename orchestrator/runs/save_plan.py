"""Previews a push and creates a plan from it (controller)."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, cast

from orchestrator.plan_files.input_files import here
from orchestrator.plan_files.storage import require_writable, write_plan
from orchestrator.plan_files.writer import PlanWriter
from orchestrator.runs.apply_plan import PlanPush, require_id
from orchestrator.runs.push_flow import PushFlow, own_types, user_at_host
from orchestrator.runs.request import Subject
from orchestrator.runs.staged_job import StagedJob
from orchestrator.runs.wiring import checked_job
from remote_runtime.errors import UsageError
from remote_runtime.plan_item import SELECTION
from remote_runtime.version import VERSION

if TYPE_CHECKING:
    from orchestrator.planning import Planner
    from orchestrator.planning.staged_preview import HostPlanner
    from orchestrator.runs.push_job import PushJob
    from orchestrator.runs.reporter import Reporter
    from orchestrator.runs.request import RunRequest
    from orchestrator.runs.result import RunResult

_DAY = 86_400.0


def save_plan(
    request: RunRequest, reporter: Reporter, *, out: str | None, valid: float
) -> RunResult:
    """Preview, and write the plan to ``out``, which can be pushed for ``valid`` seconds.

    The result has the plan; None if no host could be planned. UsageError, InputError.
    """
    if out is not None:
        require_writable(out)
        _require_files(request)
    with PushFlow.prepare(request, reporter) as flow:
        result = _preview(flow, valid)
    if result.plan is not None and out is not None:
        write_plan(result.plan, out)
    return result


def push_expected(request: RunRequest, reporter: Reporter) -> RunResult:
    """Plan again, and push if the plan has the expected ID. PlanError."""
    run = request.run
    if run.noop or run.monitor_only:
        raise UsageError("--expect requires a push", hint="ccm plan shows the ID of a plan")
    preview = request._replace(command="plan", run=run._replace(noop=True))
    with PushFlow.prepare(preview, reporter.for_preview()) as flow:
        result = _preview(flow, _DAY)
    if result.plan is None:
        return result
    require_id(result.plan, request.plan.expect, "ccm plan shows what the new plan would do")
    return PlanPush(result.plan, request._replace(data=flow.request.data), reporter).run()


def _preview(flow: PushFlow, valid: float) -> RunResult:
    """Preview; the result has a plan if at least one host has one."""
    request, reporter = flow.request, flow.reporter
    is_staged = request.subject is Subject.STAGES
    job = StagedJob(request, flow.chosen).job() if is_staged else checked_job(request, flow.chosen)
    push, maker = _with_maker(job)
    created = int(time.time())
    result = flow.run(push)
    if result.interrupted:
        return result
    about = {**_about(request, push), "created": created, "expires": created + int(valid)}
    plan = maker.finish(about, _named_files(request), request.data.fetched)
    left_out = maker.too_large()
    for host, reason in left_out.items():
        reporter.say(f"{host} is omitted from the plan: {reason}")
    if not plan.hosts:
        reporter.say("no plan was created: it would contain no hosts")
    return result._replace(plan=plan if plan.hosts else None, left_out=left_out)


def _with_maker(push: PushJob) -> tuple[PushJob, PlanWriter]:
    """The push with the writer of its plan."""
    planners = [cast("Planner", one.planner) for one in push.pushes]
    maker = PlanWriter(planners[0], planners)
    stages = tuple(
        stage._replace(
            push=stage.push._replace(
                binder=maker.of_stage(stage.name, cast("HostPlanner", stage.push.binder))
            )
        )
        for stage in push.stages
    )
    return push._replace(subscribers=(maker,), binder=maker, stages=stages), maker


def _named_files(request: RunRequest) -> list[str]:
    """The files that the request names; an inventory may be a program."""
    inventory = request.hosts.inventory or ()
    return [request.manifest, *inventory, *request.data.hiera, *request.data.facts]


def _require_files(request: RunRequest) -> None:
    """UsageError for a file that a push could not read again, such as the pipe of
    ``<(command)``."""
    for path in _named_files(request):
        if os.path.exists(path) and not os.path.isfile(path):
            raise UsageError(
                f"{path} is not a regular file, so the push cannot check that it did not change",
                hint="write it to a file first",
            )


def _about(request: RunRequest, push: PushJob) -> dict[str, Any]:
    """The origin in a plan."""
    from orchestrator.image import build

    data = request.data
    inventory = request.hosts.inventory or []
    values = data.record()
    return {
        "ccm": VERSION,
        "runtime": build(own_types(push)).sha256,
        "user": user_at_host(),
        "manifest": here(request.manifest),
        "inventory": [here(one) if os.path.exists(one) else one for one in inventory],
        "hiera": list(map(here, data.hiera)),
        "facts": list(map(here, data.facts)),
        "data": values["data"],
        "fact": values["fact"],
        **{name: list(getattr(data, name)) for name in SELECTION},
        **({"stages": [stage.name for stage in push.stages]} if push.stages else {}),
    }
