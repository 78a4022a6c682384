"""The members of events that follow from plans, computed once for all hosts (controller).

Results for resources that occur more than once are cached; those for a single host are not.
"""

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from orchestrator.fleet.checks.unchanged_resources import PlannedFields
from orchestrator.planning.compiled_resource import CompiledResource
from orchestrator.planning.resource_skeletons import FilledResource
from orchestrator.support.caches import RepeatFilter
from remote_runtime.protocol.unchanged_events import implied_members, is_plain
from remote_runtime.reporting.events import EventMaker, secrets_of
from remote_runtime.reporting.masking import Mask

MAX_MASKS = 32
MAX_RESOURCES = 20_000
_encode = json.JSONEncoder(separators=(",", ":")).encode
_TREE = '"$tree"'
"""The key of a directory's content in a plan; an event has the directory's name instead."""


class _Cache(NamedTuple):
    """A cache by the text of a resource and the child manifest: the keys that occurred once, and
    the implied members of those that occurred again.
    """

    met: RepeatFilter
    members: dict[tuple[bytes, str], PlannedFields]


class Implications:
    """The implied members of all hosts. Thread-safe: at worst something is computed twice. Hosts
    with the same masked strings share a cache.
    """

    def __init__(self) -> None:
        self._of_secrets = lru_cache(MAX_MASKS)(_nothing_yet)

    def masking(self, secrets: tuple[str, ...]) -> "Masking":
        """Return the cache of hosts that mask these strings."""
        return Masking(*self._of_secrets(secrets))


def _nothing_yet(secrets: tuple[str, ...]) -> tuple[EventMaker, _Cache]:
    return EventMaker(Mask(secrets)), _Cache(RepeatFilter(), {})


class Masking:
    """The implied members for the resources of one host."""

    def __init__(self, event_builder: EventMaker, cache: _Cache) -> None:
        self._maker = event_builder
        self._cache = cache

    def of(self, entry: CompiledResource, manifest: str) -> PlannedFields | None:
        """The implied members of a resource in that child manifest; None if its event is sent
        completely.
        """
        if not entry.outline.item.implied:
            return None
        key = entry.json, manifest
        members = self._cache.members.get(key)
        if members is None:
            members = PlannedFields(self._text(entry, *key), entry.outline.ensure is not None)
            # Host-specific strings rarely occur on another host.
            if not isinstance(entry, FilledResource) and self._cache.met.again(key):
                members = _keep(self._cache.members, key, members)
        return members

    def _text(self, entry: CompiledResource, json_text: bytes, manifest: str) -> str:
        """The JSON text of the implied members: those around the properties are kept if nothing in
        the resource is masked or cut.
        """
        outline, text = entry.outline, json_text.decode("ascii") + manifest
        if _TREE in text or not is_plain(outline.item, self._maker, text):
            item = entry.item._replace(manifest=manifest)
            return _encode(implied_members(item, self._maker, text))
        optional = {"alias": outline.item.alias, "manifest": manifest}
        members = "".join(_member(key, value) for key, value in optional.items() if value)
        ensure = outline.ensure
        requested = "" if ensure is None else _member("requested_ensure", str(ensure))
        head, properties = outline.head.decode("ascii"), entry.properties.decode("ascii")
        return f'{head}{members},"properties":{properties}{requested}}}'


def _keep(
    members: dict[tuple[bytes, str], PlannedFields], key: tuple[bytes, str], value: PlannedFields
) -> PlannedFields:
    """Store the value and return it, or the value that another thread stored before."""
    if len(members) >= MAX_RESOURCES:
        members.clear()
    return members.setdefault(key, value)


@lru_cache(maxsize=1024)
def _member(key: str, value: str) -> str:
    return f',"{key}":{json.dumps(value)}'


def masked_texts(resources: Sequence[CompiledResource]) -> Iterator[str]:
    """Yield the strings that a target masks throughout the run for these strings,
    with duplicates.
    """
    for entry in resources:
        item = entry.outline.item
        if item.secrets and not item.sensitive:
            yield from secrets_of(entry.item)
        if item.managed and entry.children:
            yield from masked_texts(entry.children)


def manifests(resources: Sequence[CompiledResource], within: str = "") -> Iterator[str]:
    """The child manifest of each resource, in pre-order."""
    for entry in resources:
        yield within
        if entry.children:
            yield from manifests(entry.children, entry.outline.item.applies)
