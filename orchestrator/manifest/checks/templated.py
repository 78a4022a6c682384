"""Checks of a property before its templates are rendered (controller)."""

from __future__ import annotations

from typing import Any

from orchestrator.expressions.scan import holds_expression
from orchestrator.manifest.checks.schema_errors import SchemaError
from orchestrator.manifest.types import PropertyType


def certain_errors(kind: PropertyType, raw: Any) -> list[SchemaError]:
    """The problems that do not depend on templates: unknown keys, and values without templates."""
    if isinstance(raw, str):
        return []  # one template, whose result may be anything
    return [entry for entry in kind.complaints(raw) if _is_certain(entry, raw)]


def has_its_form(kind: PropertyType, raw: Any) -> bool:
    """Whether a type's own rules can read the value: it matches the schema, or is text where text
    is valid.
    """
    if isinstance(raw, str) and kind.schema.get("type") == "string":
        return True
    return not kind.complaints(raw)


def _is_certain(complaint: SchemaError, raw: Any) -> bool:
    value = raw
    for part in complaint.path:
        if isinstance(part, str) and holds_expression(part):
            return False
        value = value[part]
    return complaint.unknown_key or not _holds_template(value)


def _holds_template(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_template(part) for entry in value.items() for part in entry)
    if isinstance(value, list):
        return any(map(_holds_template, value))
    return isinstance(value, str) and holds_expression(value)
