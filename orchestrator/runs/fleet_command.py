"""Runs a command on hosts, or fetches files from them (controller)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.fleet.descriptors import raise_limit
from orchestrator.runs import wiring
from orchestrator.runs.push_flow import PushFlow
from orchestrator.runs.push_job import PushJob

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.fleet.ports import Planner
    from orchestrator.runs.reporter import Reporter
    from orchestrator.runs.request import RunRequest
    from orchestrator.runs.result import RunResult


def run_on_hosts(
    request: RunRequest,
    planner: Planner,
    *,
    title: str,
    words: tuple[str, ...],
    reporter: Reporter,
    ready: Callable[[], None] = lambda: None,
) -> RunResult:
    """Run the planner's plan on each host, outside of any manifest.

    ``title`` is the command for display, ``words`` are those of a command line that repeats it.
    ``ready`` is called once the hosts are known, before the first one is contacted.
    """
    request = request._replace(run=request.run._replace(adhoc=True, diff=False))
    raise_limit(request.connection.forks)
    chosen = wiring.select_targets(request.hosts, reporter.warn)
    ready()
    job = PushJob(request.command, title, site=None, planner=planner, words=words)
    return PushFlow(request, chosen, reporter).run(job)
