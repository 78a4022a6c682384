"""Pushes a manifest, a stages file or a plan file (controller)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.runs.push_flow import PushFlow
from orchestrator.runs.request import Subject
from orchestrator.runs.wiring import ManifestJob
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.runs.reporter import Reporter
    from orchestrator.runs.request import RunRequest
    from orchestrator.runs.result import RunResult


def push(request: RunRequest, reporter: Reporter) -> RunResult:
    """Bring hosts to the state that a manifest, the stages of a file or a plan describe.

    UsageError and InputError are raised before any host is contacted.
    """
    if request.subject is Subject.PLAN:
        from orchestrator.runs.apply_plan import PlanFilePush

        return PlanFilePush(request, reporter).run()
    if request.plan.signers is not None or request.plan.approvals is not None:
        raise UsageError(
            f"{request.command}: only plans can be approved, and {request.manifest} is not a plan",
            hint="save one with ccm plan -o, or omit --signers and --approvals",
        )
    if request.command == "push" and request.hosts.inventory is None:
        raise UsageError(
            "push: -i/--inventory is required",
            hint="set it with -i, CCM_INVENTORY or the project's ccm.yaml;"
            f" for this machine, use ccm apply {request.manifest}",
        )
    if request.plan.expect is not None:
        from orchestrator.runs.save_plan import push_expected

        return push_expected(request, reporter)
    flow = PushFlow.prepare(request, reporter)
    if request.subject is Subject.STAGES:
        from orchestrator.runs.staged_job import StagedJob

        return flow.run(StagedJob(flow.request, flow.chosen).job())
    job = ManifestJob(flow.request, flow.chosen).job()
    if request.rollout.canary:
        from orchestrator.runs.canaries import CanaryPush

        return CanaryPush(job, flow).run()
    return flow.run(job)


def drift(request: RunRequest, reporter: Reporter) -> RunResult:
    """Preview, compared with the last push on each host. UsageError, InputError."""
    run = request.run._replace(noop=True, drift=True, package_probe=False)
    flow = PushFlow.prepare(request._replace(run=run), reporter)
    return flow.run(ManifestJob(flow.request, flow.chosen).job())
