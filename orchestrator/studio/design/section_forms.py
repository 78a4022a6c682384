"""Forms for the keys of a manifest other than its resources: hierarchy, overrides, defaults and
options (controller).

They are created from the schema of manifests, and for defaults from the schemas of the types.
"""

import functools
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from orchestrator.manifest.resource_types import PropertyType, Types
from orchestrator.studio.design.forms import Field, fields_of, property_field, yaml_of
from orchestrator.studio.design.hidden_values import HiddenValues, type_of
from orchestrator.studio.design.manifest_text import ManifestText
from orchestrator.studio.design.value_spans import Path
from schemas import load

NAMES = ("data", "hierarchy", "overrides", "defaults", "options")
"""The sections; ``data`` has its own form."""
PATHS: dict[str, Path] = {
    "data": ("data",),
    "hierarchy": ("hierarchy",),
    "overrides": ("overrides",),
    "defaults": ("ccm", "defaults"),
}
"""Where each section is in a manifest; the options are the rest of ``ccm``."""
WITH_PARTS = ("overrides", "defaults")
"""The sections whose parts have names that a user chooses."""
_NOT_OPTIONS = ("resources", "defaults")


class SectionField(NamedTuple):
    """A field, and the position of its value; ``schema`` is the schema of the value."""

    path: Path
    field: Field
    schema: Mapping[str, Any]


class SectionPart(NamedTuple):
    """Fields that belong together. ``path`` is the path of their map; ``takes_keys``: any keys are
    allowed.
    """

    id: str
    title: str
    path: Path
    fields: list[SectionField]
    takes_keys: bool = False
    about: str = ""


class Section(NamedTuple):
    """The form of a section. ``news`` are names that a new part may have; with ``is_open``, other
    names are allowed, too.
    """

    name: str
    about: str
    parts: list[SectionPart]
    news: tuple[str, ...] = ()
    is_open: bool = False

    def part(self, id_: str) -> SectionPart | None:
        """The part with an ID."""
        return next((one for one in self.parts if one.id == id_), None)


def id_of(path: Path) -> str:
    """An ID for a path that can be used in a form, even if the keys contain special characters."""
    return "s" + hashlib.sha256(repr(path).encode()).hexdigest()[:12]


def section_of(name: str, hidden: HiddenValues, types: Types) -> Section:
    """The form of a section of the manifest with these hidden values."""
    make = {
        "hierarchy": _hierarchy,
        "overrides": _overrides,
        "defaults": _defaults,
        "options": _options,
    }
    return make[name](hidden, types)


@functools.cache
def _schema() -> dict[str, Any]:
    return load("manifest")


def _property(name: str) -> dict[str, Any]:
    found: dict[str, Any] = _schema()["properties"][name]
    return found


def _map(manifest: ManifestText, path: Path) -> dict[str, Any]:
    """Return the map at a path; an empty map if there is none."""
    found = manifest.yaml.value(path) if manifest.yaml.has(path) else None
    return (
        {key: one for key, one in found.items() if isinstance(key, str)}
        if isinstance(found, dict)
        else {}
    )


def _field(hidden: HiddenValues, path: Path, schema: Mapping[str, Any]) -> SectionField:
    yaml, label = hidden.manifest.yaml, str(path[-1])
    is_set = yaml.has(path)
    made = property_field(
        PropertyType(label, schema, {}),
        id_of(path),
        value=yaml.value(path) if is_set else None,
        is_set=is_set,
        is_hidden=is_set and hidden.hides(path),
    )
    return SectionField(path, made._replace(label=label), schema)


def _hierarchy(hidden: HiddenValues, types: Types) -> Section:
    own = _property("hierarchy")
    path = PATHS["hierarchy"]
    schemas = {key: one for key, one in own["properties"].items() if key != "keys"}
    fields = [_field(hidden, (*path, key), one) for key, one in schemas.items()]
    keys = own["properties"]["keys"]
    about = str(keys["description"])
    schema = {**keys["additionalProperties"], "description": ""}
    names = _keys_of_data(hidden.manifest)
    each = [_field(hidden, (*path, "keys", name), schema) for name in names]
    parts = [SectionPart(id_of(path), "", path, fields)]
    if each:
        below: Path = (*path, "keys")
        parts.append(SectionPart(id_of(below), "keys", below, each, about=about))
    return Section("hierarchy", own["description"], parts)


def _keys_of_data(manifest: ManifestText) -> list[str]:
    """Return the top-level keys of the data, of all overrides, and of all merges."""
    entries = _map(manifest, ("overrides",))
    maps = [manifest.data, *(_map(manifest, ("overrides", name)) for name in entries)]
    maps.append(_map(manifest, ("hierarchy", "keys")))
    return list(dict.fromkeys(key for one in maps for key in one if isinstance(key, str)))


def _overrides(hidden: HiddenValues, types: Types) -> Section:
    manifest, own = hidden.manifest, _property("overrides")
    entries = _map(manifest, ("overrides",))
    parts = []
    for name in entries:
        path: Path = ("overrides", name)
        fields = [
            SectionField((*path, key), _any_field(hidden, (*path, key), value), {})
            for key, value in _map(manifest, path).items()
        ]
        parts.append(SectionPart(id_of(path), name, path, fields, takes_keys=True))
    order = _map(manifest, ("hierarchy",)).get("order")
    wanted = [one for one in order if isinstance(one, str)] if isinstance(order, list) else []
    news = tuple(one for one in wanted if "{" not in one and one not in entries)
    return Section("overrides", own["description"], parts, news, is_open=True)


def _any_field(hidden: HiddenValues, path: Path, value: Any) -> Field:
    """A field for a value of any kind, which is written as YAML."""
    if hidden.hides(path):
        return Field(id_of(path), "secret", "", label=str(path[-1]), is_set=True)
    return Field(id_of(path), "yaml", yaml_of(value), label=str(path[-1]), is_set=True)


def _defaults(hidden: HiddenValues, types: Types) -> Section:
    manifest, own = hidden.manifest, _property("ccm")["properties"]["defaults"]
    parts = []
    for name in _map(manifest, ("ccm", "defaults")):
        path: Path = ("ccm", "defaults", name)
        parts.append(SectionPart(id_of(path), name, path, list(_of_type(hidden, path, types))))
    used = {one.title for one in parts}
    news = tuple(name for name in types.names() if name not in used)
    return Section("defaults", own["description"], parts, news)


def _of_type(hidden: HiddenValues, path: Path, types: Types) -> Iterator[SectionField]:
    """The fields for the default properties of resources of a type."""
    type_ = type_of(types, str(path[-1]))
    properties = _map(hidden.manifest, path)
    if type_ is None:
        return
    found = fields_of(
        type_,
        properties,
        defaults={},
        hidden=[key for key in properties if hidden.hides((*path, key))],
        references=[one.id for one in hidden.manifest.resources if not one.is_defaults],
    )
    for field in found:
        own = type_.properties.get(field.key)
        named = field._replace(key=id_of((*path, field.key)), label=field.key, required=False)
        yield SectionField((*path, field.key), named, own.schema if own else {})


def _options(hidden: HiddenValues, types: Types) -> Section:
    own = _property("ccm")["properties"]
    fields = [
        _field(hidden, ("ccm", key), schema)
        for key, schema in own.items()
        if key not in _NOT_OPTIONS
    ]
    path: Path = ("ccm",)
    about = "Settings of the whole manifest."
    return Section("options", about, [SectionPart(id_of(path), "", path, fields)])
