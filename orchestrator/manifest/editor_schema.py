"""The JSON Schema of a whole manifest, composed from the envelope and all types (controller).

Editors read it: a property may also be a template, and every property of ``defaults`` is optional.
What ``load_site`` checks beyond it (references, duplicates, expressions) no schema can say.
"""

from __future__ import annotations

from typing import Any

import schemas
from orchestrator.manifest.types import BUILT_IN, NOT_RENDERED, Types, common_schema

_TEMPLATE = {"type": "string", "pattern": r"\{\{|\$\{[ \t]"}
_ENVELOPE_KEYS = ("properties", "additionalProperties", "type", "$schema", "title", "description")


def manifest_schema(types: Types = BUILT_IN) -> dict[str, Any]:
    """The schema, complete in itself."""
    schema = schemas.load("manifest")
    definitions: dict[str, Any] = dict(_local(common_schema(), "common"))
    items = []
    for name in types.names():
        type_ = types.get(name)
        if type_ is None:
            continue
        definitions.update(_local(type_.schema, name))
        definitions[name] = _properties(name, type_.schema)
        definitions[f"{name}.whole"] = _whole(name, type_.schema)
        items.append(_item(name, type_.schema))
    schema["$defs"] = definitions
    schema["properties"]["ccm"]["properties"]["resources"]["items"] = {"oneOf": items}
    return schema


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
    """Every property that the type may have, none of them required."""
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
    """The rules about the properties together."""
    rules = {key: value for key, value in schema.items() if key not in _ENVELOPE_KEYS}
    rules.pop("$defs", None)
    return dict(_moved(rules, name))


def _item(name: str, schema: Any) -> dict[str, Any]:
    named = dict(_properties(name, schema))
    named["properties"] = {"name": {"type": "string"}, **named["properties"]}
    named.update({"type": "object", "required": ["name"]})
    entry = {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": {"$ref": f"#/$defs/{name}"},
    }
    single = {"allOf": [named, {"$ref": f"#/$defs/{name}.whole"}]}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [name],
        "properties": {
            name: {
                "description": schema.get("x-ccm-title", ""),
                "anyOf": [{"type": "array", "minItems": 1, "items": entry}, single],
            }
        },
    }
