"""Selects a canary for each cluster of hosts with the same changes (controller)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.fleet import outcome
from orchestrator.report.grouping import blocks_of
from orchestrator.report.run_collector import RunCollector
from orchestrator.rollout.canaries import check_clusters
from orchestrator.runs.push_flow import PushFlow
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.fleet import events as run_events
    from orchestrator.runs.push_job import PushJob
    from orchestrator.runs.result import RunResult

Clusters = tuple[tuple[str, ...], ...]


class CanaryPush:
    """A push that starts with a canary of each cluster of hosts."""

    def __init__(self, push: PushJob, flow: PushFlow) -> None:
        self._push = push
        self._flow = flow

    def run(self) -> RunResult:
        """Preview, cluster the hosts by their changes, and push with the canaries.

        A preview ends with a warning if a push would have too many clusters.
        """
        push, flow, request = self._push, self._flow, self._flow.request
        if request.run.noop:
            return flow.run(self._with_remark())
        if request.run.monitor_only:
            raise UsageError(
                "--canary with --monitor-only: nothing would change", hint="omit one of them"
            )
        flow.require_terminal(push)
        preview = request._replace(run=request.run._replace(noop=True), verify=False)
        collected = RunCollector()
        flow.reporter.note("previewing the hosts to select canaries")
        job = push._replace(subscribers=(collected,))
        result = PushFlow(preview, flow.chosen, flow.reporter.for_preview()).run(job)
        if result.interrupted:
            return result
        return flow.run(with_clusters(push, collected, flow))

    def _with_remark(self) -> PushJob:
        push, maximum = self._push, self._flow.request.rollout.canary_max
        collected = RunCollector()

        def remarks() -> list[str]:
            """The remarks of the push, with one about too many clusters."""
            texts = list(push.remarks())
            try:
                check_clusters(clusters_of(collected), maximum)
            except UsageError as error:
                texts.append(f"a push would be refused: {error.message} ({error.hint})")
            return texts

        return push._replace(subscribers=(*push.subscribers, collected), remarks=remarks)


def with_clusters(push: PushJob, collected: RunCollector, flow: PushFlow) -> PushJob:
    """The push with the clusters of a preview, reduced to the hosts of the ``flow``; UsageError for
    too many clusters."""
    names = {host.name for host in flow.chosen.hosts}
    present = (tuple(filter(names.__contains__, one)) for one in clusters_of(collected))
    clusters = tuple(filter(None, present))
    check_clusters(clusters, flow.request.rollout.canary_max)
    return push._replace(clusters=clusters)


def collect(events: Iterable[run_events.Event]) -> RunCollector:
    """Run a preview and collect its events."""
    collected = RunCollector()
    for event in events:
        collected.handle(event)
    return collected


def clusters_of(collected: RunCollector) -> Clusters:
    """The groups of hosts with equal changes, largest first; hosts without changes need no
    canary."""
    blocks = blocks_of(collected)
    needed = [block for block in blocks if block.changed or block.outcome != outcome.OK]
    return tuple(tuple(block.hosts) for block in sorted(needed, key=lambda one: -len(one.hosts)))
