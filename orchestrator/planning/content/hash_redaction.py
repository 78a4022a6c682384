"""Hides the hash of content that holds a secret (controller).

Only once all of a plan is made are all of its secrets known: a child manifest may call secret what
a file before it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.planning.compiled import Compiled
from orchestrator.planning.content.blobs import any_holds
from orchestrator.planning.skeletons import Filled


def veil(
    resources: tuple[Compiled, ...], found: list[Compiled], secrets: Sequence[str]
) -> tuple[Compiled, ...]:
    """The resources of a plan, of which those whose content holds a secret are marked, so that no
    event tells a hash of it. ``found`` has all of them pre-order; in it they are replaced, too."""
    known = tuple(secrets)
    suspect = [at for at, entry in enumerate(found) if not entry.outline.item.sensitive]
    own = [text for at in suspect if isinstance(entry := found[at], Filled) for text in entry.texts]
    if not any_holds(own, known):
        suspect = [at for at in suspect if not isinstance(found[at], Filled)]
    holding = {at for at in suspect if any(blob.holds(known) for blob in found[at].blobs)}
    if not holding:
        return resources
    return tuple(_veiled(resources, found, holding, iter(range(len(found)))))


def _veiled(
    resources: Sequence[Compiled], found: list[Compiled], holding: set[int], places: Iterator[int]
) -> Iterator[Compiled]:
    for entry in resources:
        at = next(places)
        children = tuple(_veiled(entry.children, found, holding, places))
        if at in holding:
            entry = entry.extended(children, veiled=True)
        elif children:
            entry = entry.extended(children)
        found[at] = entry
        yield entry
