"""The JSON Schemas of a manifest and of a request, composed from all types (controller).

Editors use them, so a property may also be a template, and every property of ``defaults`` is
optional. A schema cannot express the other checks of ``load_site``: references, duplicates,
expressions.
"""

from typing import Any

import schemas
from orchestrator.manifest.api_request import PROTOCOL
from orchestrator.manifest.resource_types import BUILT_IN, NOT_RENDERED, Types, common_schema

_TEMPLATE = {"type": "string", "pattern": r"\{\{|\$\{[ \t]"}
_ENVELOPE_KEYS = ("properties", "additionalProperties", "type", "$schema", "title", "description")


def manifest_schema(types: Types = BUILT_IN) -> dict[str, Any]:
    """The self-contained schema of a manifest."""
    schema = schemas.load("manifest")
    found = _schemas(types)
    items = [_item(name, type_schema) for name, type_schema in found.items()]
    schema["$defs"] = _definitions(found)
    ccm = schema["properties"]["ccm"]["properties"]
    ccm["resources"]["items"] = {"oneOf": items}
    ccm["defaults"]["additionalProperties"] = False
    ccm["defaults"]["properties"] = {name: {"$ref": f"#/$defs/{name}"} for name in found}
    return schema


def request_schema(types: Types = BUILT_IN) -> dict[str, Any]:
    """The self-contained schema of a request of ``ccm ensure api pipe``."""
    schema = _schemas(types)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A request that brings one resource to the state that it describes",
        "type": "object",
        "additionalProperties": False,
        "required": ["protocol", "type", "properties"],
        "properties": {
            "protocol": {"const": PROTOCOL},
            "type": {"enum": list(schema)},
            "properties": {"type": "object"},
        },
        "oneOf": [
            {"properties": {"type": {"const": name}, "properties": _single(name, type_schema)}}
            for name, type_schema in schema.items()
        ],
        "$defs": _definitions(schema),
    }


def _schemas(types: Types) -> dict[str, Any]:
    loaded = {name: types.get(name) for name in types.names()}
    return {name: type_.schema for name, type_ in loaded.items() if type_ is not None}


def _definitions(found: dict[str, Any]) -> dict[str, Any]:
    definitions: dict[str, Any] = dict(_local(common_schema(), "common"))
    for name, schema in found.items():
        definitions.update(_local(schema, name))
        definitions[name] = _properties(name, schema)
        definitions[f"{name}.whole"] = _whole(name, schema)
    return definitions


def _local(schema: Any, name: str) -> dict[str, Any]:
    """The schema's own definitions under names that do not collide."""
    return {f"{name}.{k}": _moved(v, name) for k, v in schema.get("$defs", {}).items()}


def _moved(node: Any, name: str) -> Any:
    if isinstance(node, dict):
        return {
            key: f"#/$defs/{name}.{value[8:]}"
            if key == "$ref" and isinstance(value, str) and value.startswith("#/$defs/")
            else _moved(value, name)
            for key, value in node.items()
            if not key.startswith("x-ccm-")
        }
    return [_moved(value, name) for value in node] if isinstance(node, list) else node


def _properties(name: str, schema: Any) -> dict[str, Any]:
    """Every property of the type, all of them optional."""
    properties = {}
    for owner, source in (("common", common_schema()), (name, schema)):
        for key, entry in source.get("properties", {}).items():
            moved = _moved(entry, owner)
            narrow = moved.get("type") != "string" or "pattern" in moved or "enum" in moved
            rendered = narrow and key not in NOT_RENDERED and entry.get("x-ccm-render") != "never"
            described = {"description": entry.get("description", "")}
            properties[key] = {**described, "anyOf": [moved, _TEMPLATE]} if rendered else moved
    return {"type": ["object", "null"], "additionalProperties": False, "properties": properties}


def _whole(name: str, schema: Any) -> dict[str, Any]:
    """The rules that involve several properties."""
    rules = {key: value for key, value in schema.items() if key not in _ENVELOPE_KEYS}
    rules.pop("$defs", None)
    return dict(_moved(rules, name))


def _single(name: str, schema: Any) -> dict[str, Any]:
    """One resource with its name among its properties."""
    named = dict(_properties(name, schema))
    named["properties"] = {"name": {"type": "string"}, **named["properties"]}
    named.update({"type": "object", "required": ["name"]})
    return {"allOf": [named, {"$ref": f"#/$defs/{name}.whole"}]}


def _item(name: str, schema: Any) -> dict[str, Any]:
    entry = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": {"$ref": f"#/$defs/{name}"},
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [name],
        "properties": {
            name: {
                "description": schema.get("x-ccm-title", ""),
                "anyOf": [{"type": "array", "minItems": 1, "items": entry}, _single(name, schema)],
            }
        },
    }
