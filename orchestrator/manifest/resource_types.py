"""The resource types on the controller: their schemas, compiled once.

No code here is specific to a type. Everything comes from ``schema.json`` of the type, from the
common properties, and from the type's own ``check``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import schemas
from orchestrator.manifest.checks.schema_errors import (
    SchemaError,
    SchemaValidator,
    summary,
    whole_number,
)
from orchestrator.support.caches import RepeatFilter
from remote_runtime import registry
from remote_runtime.errors import ResourceError
from remote_runtime.reporting.masking import strings_of

if TYPE_CHECKING:
    from orchestrator.site_types import SiteTypes

NOT_RENDERED = {"tags", "require", "subscribe", "control", "foreach", "sensitive", "render"}
REFERENCE = {"$ref": "#/$defs/reference"}
_URL = ("http://", "https://")
_REMEMBERED = 50_000
_PLACES = 512  # for each property: repeated values come soon after each other

Check = Callable[[str, dict[str, Any]], list[tuple[str, str]]]
ManagedPaths = Callable[[str, dict[str, Any]], list[tuple[str, bool]]]
Conflicts = Callable[[Sequence[tuple[str, dict[str, Any]]]], list[tuple[int, int, str]]]
Warnings = Callable[[str, dict[str, Any]], list[tuple[str, str, str]]]


class PropertyType:
    """One property of a type: its schema, the ``definitions`` it uses, and ccm's keywords."""

    def __init__(
        self, name: str, schema: Mapping[str, Any], definitions: Mapping[str, Any]
    ) -> None:
        self.name = name
        self.schema = schema
        self.definitions = definitions
        self.render: str = "never" if name in NOT_RENDERED else schema.get("x-ccm-render", "now")
        self.render_keys = bool(schema.get("x-ccm-render-keys"))
        self.blob = schema.get("x-ccm-blob", False)
        self.url = bool(schema.get("x-ccm-url"))
        self.file_of: str = schema.get("x-ccm-file-of", "")
        self.inline: re.Pattern[str] | None = None
        if "x-ccm-inline" in schema:
            self.inline = re.compile(schema["x-ccm-inline"])
        self.tree = bool(schema.get("x-ccm-tree"))
        self.secret = bool(schema.get("x-ccm-secret"))
        self.secret_where: Mapping[str, Any] = schema.get("x-ccm-secret-where", {})
        self.quoted = bool(schema.get("x-ccm-quoted"))
        self.octal = bool(schema.get("x-ccm-octal"))
        self.not_with = frozenset(schema.get("x-ccm-not-with", ()))
        self.alias_of: str = schema.get("x-ccm-alias-of", "")
        self._against = SchemaValidator({"$defs": definitions, **schema})
        self._any_text = _allows_any_text(schema)
        kinds = schema.get("type", ())
        self.whole = "integer" in kinds and "number" not in kinds
        self._known: dict[tuple[type, Any], list[SchemaError]] = {}
        self._met = RepeatFilter(_PLACES)

    def is_on_target(self, value: str) -> bool:
        """Whether a file that a value names is on the target, or is fetched by the target."""
        return value.startswith("/") or (self.url and value.lower().startswith(_URL))

    def may_hide(self, value: Any, path: tuple[str | int, ...]) -> bool:
        """Whether the value at a path in a map of maps may need a mask."""
        if len(path) < 2 or path[1] in self.secret_where:
            return False
        entry = value.get(path[0]) if isinstance(value, dict) else None
        kinds = [entry.get(key) if isinstance(entry, dict) else None for key in self.secret_where]
        plain = [isinstance(kind, str) and "{" not in kind for kind in kinds]
        return not all(plain) or kinds == list(self.secret_where.values())

    def secrets_in(self, value: Any) -> list[str]:
        """Return the strings of a map of maps that must be masked, by ``x-ccm-secret-where``."""
        where = self.secret_where.items()
        if not where or not isinstance(value, dict):
            return []
        entries = [one for one in value.values() if isinstance(one, dict)]
        hidden = [one for one in entries if all(one.get(key) == of for key, of in where)]
        return [
            text
            for one in hidden
            for key, below in one.items()
            if key not in self.secret_where
            for text in strings_of(below)
        ]

    def complaints(self, value: Any) -> list[SchemaError]:
        """The problems of a value according to the schema. Results for scalars that occurred twice
        are cached.
        """
        kind = value.__class__
        if kind is str:
            if self.blob and self._any_text:
                return []  # the content of a file
            if "\0" in value:
                return [
                    SchemaError((), f"{self.name} must not contain a NUL character", "remove it")
                ]
            if self._any_text:
                return []
        if kind is dict or kind is list:
            return self._against(value, self.name)
        errors = self._known.get((kind, value))
        if errors is None:
            errors = self._against(value, self.name)
            if not errors and self.whole and kind is float:
                errors = [whole_number(self.name, value)]  # for JSON Schema, 1.0 is an integer
            # Text for one host alone, such as a file with its name in it, never repeats.
            short = kind is not str or len(value) <= 256
            if short and len(self._known) < _REMEMBERED and self._met.again((kind, value)):
                self._known[kind, value] = errors
        return errors


def _allows_any_text(schema: Mapping[str, Any]) -> bool:
    """Whether the schema accepts every text, and only text."""
    said = {key for key in schema if not key.startswith("x-ccm-")}
    return schema.get("type") == "string" and said <= {"type", "description", "default"}


class Type:
    """One resource type. ``applies``: the name of a resource is the path of a child manifest.
    ``own``: the type is custom.
    """

    def __init__(
        self,
        name: str,
        schema: Mapping[str, Any],
        *,
        providers: tuple[str, ...],
        check: Check,
        warnings: Warnings = lambda name, properties: [],
        managed_paths: ManagedPaths = lambda name, properties: [],
        conflicts: Conflicts = lambda resources: [],
        contents: ManagedPaths = lambda name, properties: [],
        own: bool = False,
    ) -> None:
        self.name = name
        self.own = own
        self.schema = schema
        self.providers = providers
        self.check = check
        self.warnings = warnings
        self.managed_paths = managed_paths
        self.conflicts = conflicts
        self.contents = contents
        common = _properties(common_schema())
        self.properties = common | _properties(schema)
        if "subscribe" in self.properties:  # a list of references in every type, like require
            references = {**self.properties["subscribe"].schema, "items": REFERENCE}
            definitions = common_schema()["$defs"]
            self.properties["subscribe"] = PropertyType("subscribe", references, definitions)
        self.spellings = {p.name: p.alias_of for p in self.properties.values() if p.alias_of}
        self.defaults = {
            p.name: p.schema["default"] for p in self.properties.values() if "default" in p.schema
        }
        self.octal = frozenset(p.name for p in self.properties.values() if p.octal)
        self.secrets = tuple(p.name for p in self.properties.values() if p.secret)
        self.partly_secret = tuple(p for p in self.properties.values() if p.secret_where)
        self.tree = next((p.name for p in self.properties.values() if p.tree), "")
        self.deferred = tuple(p.name for p in self.properties.values() if p.render == "deferred")
        pattern = schema.get("x-ccm-name", {})
        self._name = PropertyType("name", {**pattern, "type": "string", "minLength": 1}, {})
        left_out = ("properties", "additionalProperties")
        self._against = SchemaValidator({k: v for k, v in schema.items() if k not in left_out})
        self.decisive = _decisive(schema)
        self.reboots = bool(schema.get("x-ccm-reboots"))
        self.applies = bool(schema.get("x-ccm-manifest"))
        self.answers: Mapping[str, str] = schema.get("x-ccm-answers", {})

    def for_command(self) -> Type:
        """The type for ``ccm ensure``: properties that an existing object can keep are optional."""
        kept = frozenset(self.schema.get("x-ccm-kept", ()))
        schema = _without_required(self.schema, kept)
        return Type(
            self.name,
            schema,
            providers=self.providers,
            check=self.check,
            warnings=self.warnings,
            managed_paths=self.managed_paths,
            conflicts=self.conflicts,
            contents=self.contents,
            own=self.own,
        )

    def hint_for(self, key: str) -> str:
        """The purpose of a property in one sentence, as the hint for a missing or masked value.
        ``name`` is the name of a resource. "" stands for all properties, with a hint that names
        their documentation.
        """
        kind = self._name if key == "name" else self.properties.get(key)
        about = summary(str(kind.schema.get("description", ""))) if kind else ""
        return about or f"see 'ccm docs {self.name}'"

    def name_complaints(self, name: Any) -> list[SchemaError]:
        """The problems of a resource's name according to the pattern of the type."""
        errors = self._name.complaints(name)
        return [one._replace(hint=one.hint or self.hint_for("name")) for one in errors]

    def whole_complaints(self, values: Mapping[str, Any]) -> list[SchemaError]:
        """The problems of the properties together, such as missing ones."""
        own = {k: v for k, v in values.items() if k in self.schema.get("properties", {})}
        return self._against(own, "it")


def _without_required(node: Any, names: frozenset[str]) -> Any:
    if isinstance(node, Mapping):
        result = {key: _without_required(value, names) for key, value in node.items()}
        if isinstance(node.get("required"), list):
            result["required"] = [name for name in node["required"] if name not in names]
        return result
    return [_without_required(one, names) for one in node] if isinstance(node, list) else node


def _decisive(schema: Mapping[str, Any]) -> frozenset[str]:
    """The properties whose values, not only whose presence, affect rules about all properties."""
    result: set[str] = set()

    def walk(node: Any) -> None:
        """Collect the properties that rules at any depth name."""
        if isinstance(node, Mapping):
            result.update(node.get("properties", ()))
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk({key: node for key, node in schema.items() if key not in ("properties", "$defs")})
    return frozenset(result)


@cache
def common_schema() -> dict[str, Any]:
    """The schema of the common properties of every resource."""
    return schemas.load("common")


@cache
def common_property(name: str) -> PropertyType:
    """A property of every resource."""
    return _properties(common_schema())[name]


@cache
def load_type(name: str) -> Type | None:
    """The type with that name, or None if there is no such type."""
    try:  # not looked up in the list of types, which takes longer to make than one type to load
        providers = registry.provider_names(name)
        schema = json.loads(registry.schema_text(name))  # custom types have none there
    except ResourceError:
        return None
    resource = registry.resource_class(name)
    return Type(
        name,
        schema,
        providers=providers,
        check=resource.check,
        warnings=resource.warnings,
        managed_paths=resource.managed_paths,
        conflicts=resource.conflicts,
        contents=resource.contents,
    )


def type_names() -> list[str]:
    """Every built-in type."""
    return registry.types()


class Types:
    """The types that may be used in one place: built-in and custom ones.

    ``read`` returns the custom types on first use; InputError.
    """

    def __init__(self, read: Callable[[], SiteTypes] | None = None) -> None:
        self._read = read
        self._loaded: dict[str, Type] = {}

    @cached_property
    def _own(self) -> SiteTypes | None:
        return self._read() if self._read else None

    def get(self, name: str) -> Type | None:
        """The type with that name, or None; InputError if a custom type cannot be imported."""
        type_ = load_type(name) or self._loaded.get(name)
        own = self._own.get(name) if not type_ and self._own else None
        if own is None:
            return type_
        own.load()
        made = Type(
            name,
            own.schema,
            providers=own.providers,
            check=own.check,
            warnings=own.asking("warnings"),
            managed_paths=own.asking("managed_paths"),
            conflicts=own.asking("conflicts"),
            contents=own.asking("contents"),
            own=True,
        )
        return self._loaded.setdefault(name, made)

    def names(self) -> list[str]:
        """Every type, sorted."""
        return sorted([*type_names(), *(self._own.names() if self._own else ())])

    def sources(self) -> Mapping[str, bytes]:
        """The modules of custom types, which are sent with the runtime (see ``image.build``)."""
        return self._own.sources() if self._own else {}

    def expectations(self, name: str) -> Callable[[Any], list[Any]] | None:
        """What ``ccm verify`` expects of a resource of a custom type; see ``verify.checks``."""
        own = self._own.get(name) if self._own else None
        return own.expectations() if own else None

    def needed_by(self, type_: Type) -> Types:
        """These types, or only the built-in ones if a resource of this type cannot use others."""
        return self if type_.applies or type_.name in self._loaded else BUILT_IN


BUILT_IN = Types()


def types_beside(path: Path) -> Types:
    """The types for a manifest or a directory: built-in ones and those of ``types/`` next to it.

    InputError with every mistake in custom types; for a directory, on first use.
    """
    directory = path if path.is_dir() else path.parent
    if not (directory / "types").is_dir():
        return BUILT_IN
    from orchestrator.site_types import types_below

    if directory is path:
        return Types(lambda: types_below(directory))
    own = types_below(directory, path.stat().st_uid)
    return Types(lambda: own)


def _properties(schema: Mapping[str, Any]) -> dict[str, PropertyType]:
    definitions = schema.get("$defs", {})
    properties = schema.get("properties", {})
    return {name: PropertyType(name, entry, definitions) for name, entry in properties.items()}
