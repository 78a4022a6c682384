"""One resource in the form that a plan carries it (controller)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from orchestrator.manifest.declared import Declared
from orchestrator.planning.blobs import Blob
from remote_runtime.item import Item

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


class Compiled(NamedTuple):
    """A resource of one plan: what the fleet sees, the JSON text of its entry, its blobs.

    The index of ``item`` is its place in its manifest; the entry is without its ``children``.
    ``registrations`` stay on the controller.
    """

    item: Item
    json: bytes
    blobs: tuple[Blob, ...]
    children: tuple[Compiled, ...] = ()
    registrations: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def alone(cls, item: Item) -> Compiled:
        """A resource that needs no blob."""
        return cls(item, _text(item), ())

    @property
    def text(self) -> bytes:
        """The JSON text of the entry with its children."""
        if not self.children:
            return self.json
        below = b",".join([child.text for child in self.children])
        return b"".join((self.json[:-1], b',"children":[', below, b"]}"))

    def extended(self, children: tuple[Compiled, ...] = (), **fields: Any) -> Compiled:
        """The resource with these children and fields."""
        item = self.item._replace(**fields)
        return self._replace(item=item, json=_text(item), children=children)


def compile_resource(
    index: int,
    declared: Declared,
    *,
    name: str,
    values: dict[str, Any],
    blobs: tuple[Blob, ...],
    managed: bool = True,
    deferred_error: str = "",
    deferred_render: bool = False,
) -> Compiled:
    """Put a resource into its final form; ``values`` are final, blobs already by reference."""
    item = Item(
        index=index,
        type=declared.type.name,
        name=name,
        properties={k: v for k, v in values.items() if k not in NOT_PROPERTIES},
        alias=values.get("alias") or "",
        provider=values.get("provider") or "",
        require=declared.require,
        subscribe=declared.subscribe,
        managed=managed,
        sensitive=declared.sensitive,
        secrets=tuple(key for key in declared.type.secrets if key in values),
        deferred_error=deferred_error,
        deferred_render=deferred_render,
        health_checks=tuple(values.get("health_checks") or ()),
        own=declared.type.own,
    )
    announced = tuple(values.get("register_when_stable") or ())
    return Compiled(item, _text(item), blobs, registrations=announced)


def _text(item: Item) -> bytes:
    # ASCII, because a fact may hold half a character, which UTF-8 cannot.
    return json.dumps(item.entry(), separators=(",", ":")).encode("ascii")
