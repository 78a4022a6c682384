"""Hides the hash of content that contains a secret (controller).

The secrets of a plan are known only when it is complete: a child manifest may declare a secret that
an earlier file contains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.planning.compiled_resource import CompiledResource
from orchestrator.planning.content.blobs import any_holds
from orchestrator.planning.resource_skeletons import FilledResource


def redact_hashes(
    resources: tuple[CompiledResource, ...], every: list[CompiledResource], secrets: Sequence[str]
) -> tuple[CompiledResource, ...]:
    """Mark resources whose content contains a secret, so that no event reports its hash.

    Returns the resources of the plan. ``every`` has all of them in pre-order, and is changed in
    place.
    """
    hidden = tuple(secrets)
    suspect = [at for at, entry in enumerate(every) if not entry.outline.item.sensitive]
    texts = [
        text
        for at in suspect
        if isinstance(entry := every[at], FilledResource)
        for text in entry.texts
    ]
    if not any_holds(texts, hidden):
        suspect = [at for at in suspect if not isinstance(every[at], FilledResource)]
    holding = {at for at in suspect if any(blob.holds(hidden) for blob in every[at].blobs)}
    if not holding:
        return resources
    return tuple(_redacted(resources, every, holding, iter(range(len(every)))))


def _redacted(
    resources: Sequence[CompiledResource],
    every: list[CompiledResource],
    holding: set[int],
    places: Iterator[int],
) -> Iterator[CompiledResource]:
    for entry in resources:
        at = next(places)
        children = tuple(_redacted(entry.children, every, holding, places))
        if at in holding:
            entry = entry.extended(children, redact_hash=True)
        elif children:
            entry = entry.extended(children)
        every[at] = entry
        yield entry
