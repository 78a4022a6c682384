"""A canary of each cluster of hosts, by a preview of what would change (controller)."""

import sys
from typing import TYPE_CHECKING

from orchestrator.cli.exit_code import INTERRUPTED
from orchestrator.fleet import outcome
from orchestrator.report.collected import Collected
from orchestrator.report.grouping import blocks_of
from orchestrator.rollout.canaries import check_clusters
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.cli.assembly import Chosen
    from orchestrator.cli.job import Push, PushOptions
    from orchestrator.fleet import events as happening

Clusters = tuple[tuple[str, ...], ...]


def push_with_canaries(push: "Push", options: "PushOptions", chosen: "Chosen") -> int:
    """Preview, cluster the hosts by what would change, and push behind a canary of each cluster;
    the exit code."""
    from orchestrator.cli.output import Output, OutputOptions
    from orchestrator.cli.pushing import carry_out

    if options.run.monitor_only:
        raise UsageError(
            "--canary with --monitor-only: nothing would change", hint="leave one of them out"
        )
    before = options._replace(
        run=options.run._replace(noop=True), output=OutputOptions(quiet=True), verify=False
    )
    output = Output(before.output, before.run)
    output.human = sys.stderr
    collected = Collected()
    print("ccm: previewing for canaries", file=sys.stderr)
    code = carry_out(push._replace(told=(collected,)), before, chosen, output)
    if code == INTERRUPTED:
        return code
    return carry_out(behind_canaries(push, options, collected, chosen), options, chosen)


def previewed_with_canaries(push: "Push", options: "PushOptions") -> "Push":
    """A preview that says at its end where a push would be refused for too many clusters."""
    collected = Collected()

    def remarks() -> list[str]:
        told = list(push.remarks())
        try:
            check_clusters(clusters_of(collected), options.rollout.canary_max)
        except UsageError as error:
            told.append(f"a push would be refused: {error.message} ({error.hint})")
        return told

    return push._replace(told=(*push.told, collected), remarks=remarks)


def behind_canaries(
    push: "Push", options: "PushOptions", collected: Collected, chosen: "Chosen"
) -> "Push":
    """The same push with the clusters of a preview, as far as their hosts are chosen; UsageError
    where they are too many."""
    names = {host.name for host in chosen.hosts}
    present = (tuple(filter(names.__contains__, one)) for one in clusters_of(collected))
    clusters = tuple(filter(None, present))
    check_clusters(clusters, options.rollout.canary_max)
    return push._replace(clusters=clusters)


def heard(events: "Iterable[happening.Event]") -> Collected:
    """What a kept preview told."""
    collected = Collected()
    for event in events:
        collected.handle(event)
    return collected


def clusters_of(collected: Collected) -> Clusters:
    """The hosts that the preview shows together, largest first; those without changes need no
    canary."""
    blocks = blocks_of(collected)
    needed = [block for block in blocks if block.changed or block.outcome != outcome.OK]
    return tuple(tuple(block.hosts) for block in sorted(needed, key=lambda one: -len(one.hosts)))
