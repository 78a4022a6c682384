"""Pushes manifests, stages files, plan files and single resources; runs commands (controller)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.fleet.open_file_limit import raise_limit
from orchestrator.runs import wiring
from orchestrator.runs.push_flow import PushFlow, check_request
from orchestrator.runs.push_job import PushJob
from orchestrator.runs.request import Subject
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orchestrator.fleet.event_bus import Subscriber
    from orchestrator.fleet.interfaces import Planner as HostPlanner
    from orchestrator.manifest import Site
    from orchestrator.planning import Planner
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
    with PushFlow.prepare(request, reporter) as flow:
        if request.subject is Subject.STAGES:
            from orchestrator.runs.staged_job import StagedJob

            return flow.run(StagedJob(flow.request, flow.chosen).job())
        job = wiring.checked_job(flow.request, flow.chosen)
        if request.rollout.canary:
            from orchestrator.runs.canaries import CanaryPush

            return CanaryPush(job, flow).run()
        return flow.run(job)


def drift(request: RunRequest, reporter: Reporter) -> RunResult:
    """Preview, compared with the last push on each host. UsageError, InputError."""
    run = request.run._replace(noop=True, drift=True, package_probe=False)
    with PushFlow.prepare(request._replace(run=run), reporter) as flow:
        return flow.run(wiring.checked_job(flow.request, flow.chosen))


def push_resource(
    request: RunRequest,
    name: str,
    *,
    prepare: Callable[[], tuple[Site, Planner]],
    reporter: Reporter,
    subscribers: Sequence[Subscriber] = (),
) -> RunResult:
    """Push the resource ``name``, which ``prepare`` creates once the hosts are known.

    The run is stored if it has an inventory. UsageError, InputError.
    """
    check_request(request)
    chosen = wiring.select_targets(request.hosts, reporter.warn)
    site, planner = prepare()
    job = PushJob(
        command=request.command,
        what=name,
        site=site,
        planner=planner,
        stored=request.hosts.inventory is not None,
        subscribers=subscribers,
    )
    return PushFlow(request, chosen, reporter).run(job)


def run_on_hosts(
    request: RunRequest,
    planner: HostPlanner,
    *,
    title: str,
    words: tuple[str, ...],
    reporter: Reporter,
    ready: Callable[[], None] = lambda: None,
) -> RunResult:
    """Run the planner's plan on each host, outside of any manifest.

    ``title`` is the command for display, ``words`` are the words of a command line that repeats it.
    ``ready`` is called once the hosts are known, before the first one is contacted.
    """
    request = request._replace(run=request.run._replace(adhoc=True, diff=False))
    raise_limit(request.connection.forks)
    chosen = wiring.select_targets(request.hosts, reporter.warn)
    ready()
    job = PushJob(request.command, title, site=None, planner=planner, words=words)
    return PushFlow(request, chosen, reporter).run(job)
