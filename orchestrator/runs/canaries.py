"""Selects a canary for each cluster of hosts that would change alike (controller)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.fleet import outcome
from orchestrator.report.collected import Collected
from orchestrator.report.grouping import blocks_of
from orchestrator.rollout.canaries import check_clusters
from orchestrator.runs.push_flow import PushFlow
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.fleet import events as happening
    from orchestrator.runs.push_job import PushJob
    from orchestrator.runs.reporter import Reporter
    from orchestrator.runs.request import RunRequest
    from orchestrator.runs.result import RunResult
    from orchestrator.runs.wiring import Chosen

Clusters = tuple[tuple[str, ...], ...]


def push_with_canaries(
    push: PushJob, request: RunRequest, chosen: Chosen, reporter: Reporter
) -> RunResult:
    """Preview, cluster the hosts by what would change, and push with a canary of each cluster."""
    if request.run.monitor_only:
        raise UsageError(
            "--canary with --monitor-only: nothing would change", hint="omit one of them"
        )
    preview = request._replace(run=request.run._replace(noop=True), verify=False)
    collected = Collected()
    reporter.note("previewing for canaries")
    job = push._replace(subscribers=(collected,))
    result = PushFlow(preview, chosen, reporter.for_preview()).run(job)
    if result.interrupted:
        return result
    return PushFlow(request, chosen, reporter).run(with_clusters(push, request, collected, chosen))


def previewed_with_canaries(push: PushJob, request: RunRequest) -> PushJob:
    """A preview that ends with a warning where a push would have too many clusters."""
    collected = Collected()

    def remarks() -> list[str]:
        """The remarks of the push, with one about too many clusters."""
        told = list(push.remarks())
        try:
            check_clusters(clusters_of(collected), request.rollout.canary_max)
        except UsageError as error:
            told.append(f"a push would be refused: {error.message} ({error.hint})")
        return told

    return push._replace(subscribers=(*push.subscribers, collected), remarks=remarks)


def with_clusters(
    push: PushJob, request: RunRequest, collected: Collected, chosen: Chosen
) -> PushJob:
    """The push with the clusters of a preview, reduced to the chosen hosts; UsageError for too
    many clusters."""
    names = {host.name for host in chosen.hosts}
    present = (tuple(filter(names.__contains__, one)) for one in clusters_of(collected))
    clusters = tuple(filter(None, present))
    check_clusters(clusters, request.rollout.canary_max)
    return push._replace(clusters=clusters)


def collect(events: Iterable[happening.Event]) -> Collected:
    """The events of a preview, collected."""
    collected = Collected()
    for event in events:
        collected.handle(event)
    return collected


def clusters_of(collected: Collected) -> Clusters:
    """The groups of hosts with equal changes, largest first; hosts without changes need no
    canary."""
    blocks = blocks_of(collected)
    needed = [block for block in blocks if block.changed or block.outcome != outcome.OK]
    return tuple(tuple(block.hosts) for block in sorted(needed, key=lambda one: -len(one.hosts)))
