"""Pushes one resource that no manifest has: ``ccm ensure`` (controller)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.runs import wiring
from orchestrator.runs.push_flow import PushFlow, check_request
from orchestrator.runs.push_job import PushJob

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orchestrator.fleet.bus import Subscriber
    from orchestrator.manifest import Site
    from orchestrator.planning import Planner
    from orchestrator.runs.reporter import Reporter
    from orchestrator.runs.request import RunRequest
    from orchestrator.runs.result import RunResult


def push_resource(
    request: RunRequest,
    name: str,
    *,
    prepare: Callable[[], tuple[Site, Planner]],
    reporter: Reporter,
    subscribers: Sequence[Subscriber] = (),
) -> RunResult:
    """Push the resource ``name``, which ``prepare`` makes once the hosts are known.

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
