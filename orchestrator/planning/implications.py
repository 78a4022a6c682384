"""What the events of resources have of their plans, made once for all hosts (controller).

What comes a second time is kept; of a resource that no other host has nothing is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from orchestrator.fleet.stable_turns import Implied
from orchestrator.planning.compiled import Compiled
from orchestrator.support.recurring import Recurring
from remote_runtime.events import EventMaker, secrets_of
from remote_runtime.expansion import implied_members, is_plain
from remote_runtime.masking import Mask

MOST_MASKS = 32
MOST_RESOURCES = 20_000
_TREE = '"$tree"'
"""What stands in a plan in the place of a folder, which an event names."""


class _Known(NamedTuple):
    """By the text of a resource and the child manifest: which came, and what is implied of those
    that came again."""

    met: Recurring
    kept: dict[tuple[bytes, str], Implied]


class Implications:
    """Thread-safe: at worst something is made twice. Hosts that mask the same share it."""

    def __init__(self) -> None:
        self._of_secrets: dict[tuple[str, ...], tuple[EventMaker, _Known]] = {}

    def masking(self, secrets: tuple[str, ...]) -> Masking:
        """Those of a host on which these texts are masked."""
        found = self._of_secrets.get(secrets)
        if found is None:
            if len(self._of_secrets) >= MOST_MASKS:
                self._of_secrets.clear()
            found = self._of_secrets.setdefault(
                secrets, (EventMaker(Mask(secrets)), _Known(Recurring(), {}))
            )
        return Masking(*found)


class Masking:
    """What is implied of the resources of one host."""

    def __init__(self, maker: EventMaker, known: _Known) -> None:
        self._maker = maker
        self._known = known

    def of(self, entry: Compiled, manifest: str) -> Implied | None:
        """What is implied of a resource that stands in that child manifest; None where its event is
        told whole."""
        key = entry.json, manifest
        met, kept = self._known
        found = kept.get(key)
        if found is None and entry.outline.item.implied:
            text = key[0].decode("ascii") + manifest
            found = Implied(
                *self._said(entry, manifest, text),
                shared=met.again(key),
                ensures=entry.outline.ensure is not None,
            )
            if found.shared:
                if len(kept) >= MOST_RESOURCES:
                    kept.clear()
                found = kept.setdefault(key, found)
        return found

    def _said(self, entry: Compiled, manifest: str, text: str) -> tuple[dict[str, Any] | None, str]:
        """The members of the event, or their JSON text: ``text`` is that of all that they say."""
        outline = entry.outline
        if _TREE in text or not is_plain(outline.item, self._maker, text):
            item = entry.item._replace(manifest=manifest)
            return implied_members(item, self._maker, text), ""
        more = {"alias": outline.item.alias, "manifest": manifest}
        told = b"".join(_member(key, value) for key, value in more.items() if value)
        ensure = outline.ensure
        requested = b"" if ensure is None else _member("requested_ensure", str(ensure))
        pieces = (outline.head, told, b',"properties":', entry.properties, requested, b"}")
        return None, b"".join(pieces).decode("ascii")


@lru_cache(maxsize=1024)
def _member(key: str, value: str) -> bytes:
    return f',"{key}":{json.dumps(value)}'.encode("ascii")


def masked_texts(resources: Sequence[Compiled]) -> Iterator[str]:
    """What a target masks in all of a run because of these resources, with repetitions."""
    for entry in resources:
        item = entry.outline.item
        if item.secrets and not item.sensitive:
            yield from secrets_of(entry.item)
        if item.managed and entry.children:
            yield from masked_texts(entry.children)


def manifests(resources: Sequence[Compiled], within: str = "") -> Iterator[str]:
    """The child manifest that each resource stands in, pre-order."""
    for entry in resources:
        yield within
        if entry.children:
            yield from manifests(entry.children, entry.outline.item.applies)
