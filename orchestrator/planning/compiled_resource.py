"""One resource in its form for a plan (controller).

A plan stays in memory while its host is active. Hosts therefore share common parts, and
host-specific parts are stored as the text that is sent.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.planning.content.blobs import Blob
from remote_runtime.plan_item import Item
from remote_runtime.text import duration

NOT_PROPERTIES = {
    "alias",
    "tags",
    "require",
    "subscribe",
    "control",
    "foreach",
    "provider",
    "health_checks",
    "register_when_stable",
    "sensitive",
    "render",
}
_BEFORE = ("type", "name")
"""The members of an entry before its properties."""
_PROPERTIES = Item._fields.index("properties")


class Outline(NamedTuple):
    """A resource with its ``ensure`` but without other properties: its item, its ``type#name``, and
    the JSON text of its entry before and after the properties.
    """

    item: Item
    identity: str
    ensure: Any
    head: bytes
    tail: bytes

    @classmethod
    def of(cls, item: Item, ensure: Any) -> "Outline":
        """The outline of an item without properties."""
        entry = item.entry()
        head = _json({key: entry.pop(key) for key in _BEFORE})[:-1]
        tail = b"," + _json(entry)[1:] if entry else b"}"
        return cls(item, item.id, ensure, head, tail)

    def opened(self, properties: bytes) -> bytes:
        """The entry up to its tail, with the JSON text of these properties."""
        return self.head if properties == b"{}" else self.head + b',"properties":' + properties


class CompiledResource(ABC):
    """A resource of one plan. The index of its item is its index in its manifest; ``registrations``
    stay on the controller.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def outline(self) -> Outline:
        """The resource without its properties."""

    @property
    @abstractmethod
    def properties(self) -> bytes:
        """The JSON text of its properties."""

    @property
    @abstractmethod
    def blobs(self) -> tuple[Blob, ...]:
        """The blobs that are sent by hash, in the order of the properties."""

    @property
    @abstractmethod
    def children(self) -> "tuple[CompiledResource, ...]":
        """The resources of the manifest that it applies."""

    @property
    @abstractmethod
    def registrations(self) -> tuple[Mapping[str, Any], ...]:
        """The registrations to announce once it is stable."""

    @property
    @abstractmethod
    def longest(self) -> float:
        """The maximum number of seconds that it may run, according to its own timeouts."""

    @property
    def blob_count(self) -> int:
        """The number of ``blobs``."""
        return len(self.blobs)

    @property
    def item(self) -> Item:
        """The item that the fleet reads, parsed from the text each time."""
        return self.outline.item._replace(properties=json.loads(self.properties))

    @property
    def json(self) -> bytes:
        """The JSON text of the entry without its children."""
        return self.outline.opened(self.properties) + self.outline.tail

    @property
    def text(self) -> bytes:
        """The JSON text of the entry with its children."""
        if not self.children:
            return self.json
        below = b",".join([child.text for child in self.children])
        return b"".join((self.json[:-1], b',"children":[', below, b"]}"))

    def extended(
        self, children: "tuple[CompiledResource, ...]" = (), **fields: Any
    ) -> "CompleteResource":
        """The resource with these children and fields; properties do not change."""
        item = self.outline.item._replace(**fields)
        outline = Outline.of(item, self.outline.ensure)
        return CompleteResource(
            outline, self.properties, self.blobs, children, self.registrations, self.longest
        )


class _Parts(NamedTuple):
    outline: Outline
    properties: bytes
    blobs: tuple[Blob, ...]
    children: tuple[CompiledResource, ...] = ()
    registrations: tuple[Mapping[str, Any], ...] = ()
    longest: float = 0.0


class CompleteResource(_Parts, CompiledResource):
    """A resource with all its parts in memory."""

    __slots__ = ()

    @classmethod
    def alone(cls, item: Item, blobs: tuple[Blob, ...] = ()) -> "CompleteResource":
        """A resource that no manifest declares."""
        return _compiled(item, item.properties, blobs, longest=_longest(item, item.properties))


def compile_resource(
    index: int,
    declared: DeclaredResource,
    *,
    name: str,
    values: dict[str, Any],
    blobs: tuple[Blob, ...],
    managed: bool = True,
    conditions: Mapping[str, Any] | None = None,
    deferred_error: str = "",
    deferred_render: bool = False,
) -> CompleteResource:
    """Compile a resource; ``values`` are final, with references instead of blobs. The
    ``conditions`` are those of control that run on the host.
    """
    properties = {k: v for k, v in values.items() if k not in NOT_PROPERTIES}
    item = Item(
        index=index,
        type=declared.type.name,
        name=name,
        properties=properties,
        alias=values.get("alias") or "",
        provider=values.get("provider") or "",
        require=declared.require,
        subscribe=declared.subscribe,
        managed=managed,
        control=tuple([{key: value} for key, value in (conditions or {}).items()]),
        sensitive=declared.sensitive,
        secrets=tuple(key for key in declared.type.secrets if key in values),
        deferred_error=deferred_error,
        deferred_render=deferred_render,
        health_checks=tuple(values.get("health_checks") or ()),
        own=declared.type.own,
    )
    return _compiled(
        item,
        properties,
        blobs,
        registrations=tuple(values.get("register_when_stable") or ()),
        longest=_longest(
            item, {**declared.type.defaults, **properties, "control": list(item.control)}
        ),
    )


def _compiled(
    item: Item, properties: dict[str, Any], blobs: tuple[Blob, ...], **more: Any
) -> CompleteResource:
    """The resource of an item, whose own properties are ignored."""
    outline = _outline(item, properties.get("ensure"))
    return CompleteResource(outline, _json(properties), blobs, **more)


def _outline(item: Item, ensure: Any) -> Outline:
    if item.health_checks or item.control or not isinstance(ensure, str | None):
        return Outline.of(item._replace(properties={}), ensure)
    return _shared_outline(item[:_PROPERTIES], item[_PROPERTIES + 1 :], ensure)


@lru_cache(maxsize=4096)
def _shared_outline(before: tuple[Any, ...], after: tuple[Any, ...], ensure: Any) -> Outline:
    """The shared outline of these fields before and after the properties."""
    return Outline.of(Item._make((*before, {}, *after)), ensure)


def _json(value: Any) -> bytes:
    # ASCII, because a fact may contain half a surrogate pair, which UTF-8 cannot encode.
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _longest(item: Item, properties: dict[str, Any]) -> float:
    checks = sum(int(c.get("tries") or 1) * _timeouts(c) for c in item.health_checks)
    tries = properties.get("tries")
    tries = tries if isinstance(tries, int) else 1
    pause = _seconds(properties["try_sleep"]) if "try_sleep" in properties else 0.0
    pauses, once = (tries - 1) * pause, _timeouts(properties) - pause
    # An exec's timeout also applies to its two guards, and one extra attempt does no harm.
    return (3 + tries) * once + pauses + checks


def _timeouts(value: Any) -> float:
    """The sum of its timeouts and pauses, in seconds."""
    if isinstance(value, list):
        return sum(map(_timeouts, value))
    total = 0.0
    for key, inner in value.items() if isinstance(value, dict) else ():
        if key.endswith(("timeout", "try_sleep")):
            total += _seconds(inner)
        elif isinstance(inner, dict | list):
            total += _timeouts(inner)
    return total


def _seconds(text: Any) -> float:
    try:
        return duration.parse(str(text))
    except ValueError:
        return 0.0  # rendered on the target, or an invalid duration: reported elsewhere
