"""The resource types as the controller knows them: their schemas, compiled once (controller).

There is no code per type here. Everything comes from ``schema.json`` of the type, from the common
properties, and from the type's own ``check``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import schemas
from orchestrator.manifest.checks.schema_errors import Against, Complaint
from orchestrator.support.recurring import Recurring
from remote_runtime import registry
from remote_runtime.errors import ResourceError

if TYPE_CHECKING:
    from orchestrator.site_types import SiteTypes

NOT_RENDERED = {"tags", "require", "subscribe", "control", "foreach", "sensitive", "render"}
REFERENCE = {"$ref": "#/$defs/reference"}
_REMEMBERED = 50_000
_PLACES = 512  # for each property: a value that comes again does so soon

Check = Callable[[str, dict[str, Any]], list[tuple[str, str]]]
Claims = Callable[[str, dict[str, Any]], list[tuple[str, bool]]]
Doubts = Callable[[str, dict[str, Any]], list[tuple[str, str, str]]]


class PropertyType:
    """One property of a type: its schema, the ``definitions`` it names, the keywords of ours."""

    def __init__(
        self, name: str, schema: Mapping[str, Any], definitions: Mapping[str, Any]
    ) -> None:
        self.name = name
        self.schema = schema
        self.definitions = definitions
        self.render: str = "never" if name in NOT_RENDERED else schema.get("x-ccm-render", "now")
        self.render_keys = bool(schema.get("x-ccm-render-keys"))
        self.blob = schema.get("x-ccm-blob", False)
        self.tree = bool(schema.get("x-ccm-tree"))
        self.secret = bool(schema.get("x-ccm-secret"))
        self.quoted = bool(schema.get("x-ccm-quoted"))
        self.octal = bool(schema.get("x-ccm-octal"))
        self.not_with = frozenset(schema.get("x-ccm-not-with", ()))
        self.alias_of: str = schema.get("x-ccm-alias-of", "")
        self._against = Against({"$defs": definitions, **schema})
        self._any_text = _allows_any_text(schema)
        self._known: dict[tuple[type, Any], list[Complaint]] = {}
        self._met = Recurring(_PLACES)

    def complaints(self, value: Any) -> list[Complaint]:
        """What the schema says against a value. Scalars seen twice are answered from memory."""
        kind = value.__class__
        if kind is str and self._any_text:
            return []
        if kind is dict or kind is list:
            return self._against(value, self.name)
        found = self._known.get((kind, value))
        if found is None:
            found = self._against(value, self.name)
            # Text of one host alone, such as a file with its name in it, never comes again.
            short = kind is not str or len(value) <= 256
            if short and len(self._known) < _REMEMBERED and self._met.again((kind, value)):
                self._known[kind, value] = found
        return found


def _allows_any_text(schema: Mapping[str, Any]) -> bool:
    """Whether it says of a value that it is text, and nothing else."""
    said = {key for key in schema if not key.startswith("x-ccm-")}
    return schema.get("type") == "string" and said <= {"type", "description", "default"}


class Type:
    """One resource type. ``applies``: a resource's name is that of a child manifest. ``own``: it is
    the site's."""

    def __init__(
        self,
        name: str,
        schema: Mapping[str, Any],
        *,
        providers: tuple[str, ...],
        check: Check,
        doubts: Doubts = lambda name, properties: [],
        claims: Claims = lambda name, properties: [],
        own: bool = False,
    ) -> None:
        self.name = name
        self.own = own
        self.schema = schema
        self.providers = providers
        self.check = check
        self.doubts = doubts
        self.claims = claims
        common = _properties(common_schema())
        self.properties = common | _properties(schema)
        if "subscribe" in self.properties:  # a list of references in every type, as require is
            references = {**self.properties["subscribe"].schema, "items": REFERENCE}
            definitions = common_schema()["$defs"]
            self.properties["subscribe"] = PropertyType("subscribe", references, definitions)
        self.spellings = {p.name: p.alias_of for p in self.properties.values() if p.alias_of}
        self.defaults = {
            p.name: p.schema["default"] for p in self.properties.values() if "default" in p.schema
        }
        self.octal = frozenset(p.name for p in self.properties.values() if p.octal)
        self.secrets = tuple(p.name for p in self.properties.values() if p.secret)
        self.tree = next((p.name for p in self.properties.values() if p.tree), "")
        self.deferred = tuple(p.name for p in self.properties.values() if p.render == "deferred")
        pattern = schema.get("x-ccm-name", {})
        self._name = PropertyType("name", {**pattern, "type": "string", "minLength": 1}, {})
        left_out = ("properties", "additionalProperties")
        self._against = Against({k: v for k, v in schema.items() if k not in left_out})
        self.decisive = _decisive(schema)
        self.reboots = bool(schema.get("x-ccm-reboots"))
        self.applies = bool(schema.get("x-ccm-manifest"))
        self.answers: Mapping[str, str] = schema.get("x-ccm-answers", {})

    def for_command(self) -> Type:
        """The type as ``ccm ensure`` has it: what a thing that exists may keep is not required."""
        kept = frozenset(self.schema.get("x-ccm-kept", ()))
        schema = _without_required(self.schema, kept)
        return Type(
            self.name,
            schema,
            providers=self.providers,
            check=self.check,
            doubts=self.doubts,
            claims=self.claims,
            own=self.own,
        )

    def name_complaints(self, name: Any) -> list[Complaint]:
        """What is wrong with a resource's name by the pattern of the type."""
        return self._name.complaints(name)

    def whole_complaints(self, values: Mapping[str, Any]) -> list[Complaint]:
        """What the schema says about the properties together, such as which are required."""
        own = {k: v for k, v in values.items() if k in self.schema.get("properties", {})}
        return self._against(own, "it")


def _without_required(node: Any, names: frozenset[str]) -> Any:
    if isinstance(node, Mapping):
        found = {key: _without_required(value, names) for key, value in node.items()}
        if isinstance(node.get("required"), list):
            found["required"] = [name for name in node["required"] if name not in names]
        return found
    return [_without_required(one, names) for one in node] if isinstance(node, list) else node


def _decisive(schema: Mapping[str, Any]) -> frozenset[str]:
    """The properties whose values, not only their presence, decide rules about the whole."""
    found: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, Mapping):
            found.update(node.get("properties", ()))
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk({key: node for key, node in schema.items() if key not in ("properties", "$defs")})
    return frozenset(found)


@cache
def common_schema() -> dict[str, Any]:
    """The schema of what every resource may have."""
    return schemas.load("common")


@cache
def common_property(name: str) -> PropertyType:
    """A property that every resource may have."""
    return _properties(common_schema())[name]


@cache
def load_type(name: str) -> Type | None:
    """The type of that name, or None where there is no such type."""
    try:  # not looked up in the list of types: making that takes longer than loading one
        providers = registry.provider_names(name)
        schema = json.loads(registry.schema_text(name))  # the type of a site has none there
    except ResourceError:
        return None
    resource = registry.resource_class(name)
    return Type(
        name,
        schema,
        providers=providers,
        check=resource.check,
        doubts=resource.doubts,
        claims=resource.claims,
    )


def type_names() -> list[str]:
    """Every type that this ccm has."""
    return registry.types()


class Types:
    """The types that may be used in one place: ccm's own, and those of a site.

    ``read`` gives those of the site when they are first asked for; InputError.
    """

    def __init__(self, read: Callable[[], SiteTypes] | None = None) -> None:
        self._read = read
        self._loaded: dict[str, Type] = {}

    @cached_property
    def _own(self) -> SiteTypes | None:
        return self._read() if self._read else None

    def get(self, name: str) -> Type | None:
        """The type of that name, or None; InputError where a site's own cannot be imported."""
        found = load_type(name) or self._loaded.get(name)
        own = self._own.get(name) if not found and self._own else None
        if own is None:
            return found
        own.load()
        return self._loaded.setdefault(
            name, Type(name, own.schema, providers=own.providers, check=own.check, own=True)
        )

    def names(self) -> list[str]:
        """Every type, sorted."""
        return sorted([*type_names(), *(self._own.names() if self._own else ())])

    def sources(self) -> Mapping[str, bytes]:
        """The modules of the site's own types, which must be sent along (see ``image.build``)."""
        return self._own.sources() if self._own else {}

    def expectations(self, name: str) -> Callable[[Any], list[Any]] | None:
        """What ``ccm verify`` expects of a resource of the site's type; see ``verify.checks``."""
        own = self._own.get(name) if self._own else None
        return own.expectations() if own else None

    def needed_by(self, type_: Type) -> Types:
        """These, or ccm's own alone where one resource of the type can use no others."""
        return self if type_.applies or type_.name in self._loaded else BUILT_IN


BUILT_IN = Types()


def types_beside(path: Path) -> Types:
    """The types for a manifest, or for a folder: ccm's own and those of ``types/`` beside it.

    InputError with every mistake in those; of a folder, when they are first asked for.
    """
    folder = path if path.is_dir() else path.parent
    if not (folder / "types").is_dir():
        return BUILT_IN
    from orchestrator.site_types import types_below

    if folder is path:
        return Types(lambda: types_below(folder))
    own = types_below(folder, path.stat().st_uid)
    return Types(lambda: own)


def _properties(schema: Mapping[str, Any]) -> dict[str, PropertyType]:
    definitions = schema.get("$defs", {})
    properties = schema.get("properties", {})
    return {name: PropertyType(name, entry, definitions) for name, entry in properties.items()}
