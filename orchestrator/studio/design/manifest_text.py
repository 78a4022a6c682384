"""A manifest as text: its resources with their positions, and edits (controller).

A resource is found by its number in the list of ``resources``. Every edit returns a new manifest;
see ``yaml_text``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from orchestrator.studio.design.value_spans import Path
from orchestrator.studio.design.yaml_text import YamlText
from remote_runtime.errors import InputError, Problem

RESOURCES: Path = ("ccm", "resources")
ORDER = ("data", "hierarchy", "overrides", "ccm")
DEFAULTS = "defaults"
NEW = "ccm:\n  resources: []\n"
"""The text of a new manifest."""

Rank = Callable[[str], int]


class ResourceEntry(NamedTuple):
    """A resource in the text: ``path`` is the path of its properties, ``line`` counts from 1.

    ``in_list``: written as ``- NAME: {...}``; else its properties have a ``name``. An entry named
    ``defaults`` in a list applies to the other entries of the list.
    """

    type: str
    name: str
    path: Path
    properties: dict[str, Any]
    in_list: bool
    line: int

    @property
    def id(self) -> str:
        """``type#name``, as written in ``require`` and ``subscribe``."""
        return f"{self.type}#{self.name}"

    @property
    def is_defaults(self) -> bool:
        """Whether it is not a resource but the defaults of its list."""
        return self.in_list and self.name == DEFAULTS


class ManifestText:
    """One immutable manifest. InputError for a document that is not a YAML map."""

    def __init__(self, yaml: YamlText) -> None:
        self.yaml = yaml
        if not isinstance(yaml.data, dict) and yaml.data is not None:
            problem = Problem(
                "a manifest must be a map", None, "start it with 'ccm:'", "input.type"
            )
            raise InputError([problem])
        self.resources = list(_entries(yaml))

    @property
    def text(self) -> str:
        """The text."""
        return self.yaml.text

    def defaults(self, entry: ResourceEntry) -> dict[str, tuple[Path, Any]]:
        """The properties that a resource gets from its list and from ``ccm.defaults``: the path
        of each in the text, and its value.
        """
        places: list[Path] = [("ccm", DEFAULTS, entry.type)]
        for other in self.resources:
            if entry.in_list and other.is_defaults and other.path[:4] == entry.path[:4]:
                places.append(other.path)
        found = {}
        for place in places:
            values = self.yaml.value(place) if self.yaml.has(place) else None
            for key, value in values.items() if isinstance(values, dict) else ():
                found[key] = (*place, key), value
        return found

    @property
    def data(self) -> dict[str, Any]:
        """The top level of the data."""
        found = (self.yaml.data or {}).get("data")
        return found if isinstance(found, dict) else {}

    def add(self, type_: str, name: str, properties: Mapping[str, Any]) -> ManifestText:
        """Add a resource after the others."""
        entry = {type_: [{name: dict(properties)}]}
        yaml = self.yaml
        if not yaml.has(RESOURCES) or yaml.value(RESOURCES) is None:
            ccm = yaml.value(("ccm",)) if yaml.has(("ccm",)) else None
            if isinstance(ccm, dict):
                return ManifestText(yaml.set(RESOURCES, [entry]))
            return ManifestText(yaml.set(("ccm",), {"resources": [entry]}))
        return ManifestText(yaml.insert(RESOURCES, len(yaml.value(RESOURCES)), entry))

    def remove(self, number: int) -> ManifestText:
        """Remove a resource, with the comments directly above it."""
        found = self.resources[number]
        item, group = found.path[:3], found.path[:4]
        if found.in_list and len(self.yaml.value(group)) > 1:
            return ManifestText(self.yaml.remove(found.path[:5]))
        if len(self.yaml.value(item)) > 1:
            return ManifestText(self.yaml.remove(group))
        return ManifestText(self.yaml.remove(item))

    def move(self, number: int, by: int) -> ManifestText:
        """Move a resource up (-1) or down (1) by one: within its list, or together with
        its whole list.
        """
        path = self.resources[number].path
        if self.resources[number].in_list:
            group, at = path[:4], int(path[4])
            if 0 <= at + by < len(self.yaml.value(group)):
                return ManifestText(self.yaml.move(group, at, at + by))
        at = int(path[2])
        if not 0 <= at + by < len(self.yaml.value(RESOURCES)):
            return self
        return ManifestText(self.yaml.move(RESOURCES, at, at + by))

    def rename(self, number: int, name: str) -> ManifestText:
        """Give a resource another name. References to the old name are not changed."""
        found = self.resources[number]
        if found.in_list:
            return ManifestText(self.yaml.rename(found.path, name))
        return ManifestText(self.yaml.set((*found.path, "name"), name))

    def set(self, number: int, key: str, value: Any, rank: Rank | None = None) -> ManifestText:
        """Set a property of a resource. A new one is inserted at its position by ``rank``, or at
        the end.
        """
        found = self.resources[number]
        at = None
        if rank is not None and key not in found.properties:
            ranks = [rank(one) for one in found.properties]
            at = next((n for n, one in enumerate(ranks) if one > rank(key)), None)
            at = at if at is None or found.in_list else at + (at > 0)
        return ManifestText(self.yaml.set((*found.path, key), value, at))

    def unset(self, number: int, key: str) -> ManifestText:
        """Remove a property of a resource."""
        return ManifestText(self.yaml.remove((*self.resources[number].path, key)))

    def put(self, path: Path, value: Any) -> ManifestText:
        """Set the key at a path of maps to a value, and create missing maps above it."""
        yaml = self.yaml
        for length in range(1, len(path)):
            if not yaml.has(path[:length]) or yaml.value(path[:length]) is None:
                for key in reversed(path[length:]):
                    value = {key: value}
                return ManifestText(yaml.set(path[:length], value, self._place(path[:length])))
        return ManifestText(yaml.set(path, value, self._place(path)))

    def take_out(self, path: Path) -> ManifestText:
        """Remove the key at a path, and the maps above it that become empty."""
        yaml = self.yaml.remove(path)
        while len(path) > 1 and path[:-1] != RESOURCES[:1] and yaml.value(path[:-1]) == {}:
            path = path[:-1]
            yaml = yaml.remove(path)
        return ManifestText(yaml)

    def _place(self, path: Path) -> int | None:
        """The position of a new key: at the top level in the order of manifests, in ``ccm`` above
        the resources; otherwise None for the end.
        """
        if len(path) == 1 and path[0] in ORDER:
            later = ORDER[ORDER.index(str(path[0])) + 1 :]
            keys = list(self.yaml.data or {})
            return next((at for at, key in enumerate(keys) if key in later), None)
        if len(path) == 2 and path[0] == RESOURCES[0]:
            keys = list(self.yaml.value(RESOURCES[:1]))
            return keys.index(RESOURCES[1]) if RESOURCES[1] in keys else None
        return None

    def set_data(self, key: str, value: Any) -> ManifestText:
        """Set a key of the data to a value."""
        if not isinstance((self.yaml.data or {}).get("data"), dict):
            return ManifestText(self.yaml.set(("data",), {key: value}, 0))
        return ManifestText(self.yaml.set(("data", key), value))

    def unset_data(self, key: str) -> ManifestText:
        """Remove a key of the data."""
        return ManifestText(self.yaml.remove(("data", key)))


def _entries(yaml: YamlText) -> Iterator[ResourceEntry]:
    """The entries that have the form of a resource; other entries are mistakes to fix
    in the text.
    """
    items = yaml.value(RESOURCES) if yaml.has(RESOURCES) else None
    for at, item in enumerate(items if isinstance(items, list) else ()):
        for type_, value in item.items() if isinstance(item, dict) else ():
            path = (*RESOURCES, at, type_)
            if isinstance(value, dict):
                name = value.get("name")
                rest = {key: one for key, one in value.items() if key != "name"}
                yield _entry(yaml, path, name=str(name or ""), properties=rest)
            for number, entry in enumerate(value if isinstance(value, list) else ()):
                for name, properties in entry.items() if isinstance(entry, dict) else ():
                    if isinstance(properties, dict) or properties is None:
                        below = (*path, number, name)
                        yield _entry(yaml, below, name=name, properties=properties or {})


def _entry(yaml: YamlText, path: Path, *, name: str, properties: dict[str, Any]) -> ResourceEntry:
    holder, key = yaml.span(path[:-1]), path[-1]
    at = holder.place(key) if holder else -1
    start = holder.keys[at].start if holder and at >= 0 and holder.kind == "map" else 0
    return ResourceEntry(
        type=str(path[3]),
        name=name,
        path=path,
        properties=properties,
        in_list=len(path) > len(RESOURCES) + 2,
        line=yaml.text.count("\n", 0, start) + 1,
    )
