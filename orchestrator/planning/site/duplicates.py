"""Two manifests of a run may have the same resource if its properties are equal (controller)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from orchestrator.manifest.declared_resource import DeclaredResource
from orchestrator.manifest.resource_types import Type
from remote_runtime.errors import Problem
from remote_runtime.plan_item import Item

_MISSING = object()


def differences(resources: Iterable[tuple[DeclaredResource, Item]]) -> list[Problem]:
    """The differences between resources of the same name, at the position of the later one."""
    problems: list[Problem] = []
    first: dict[str, tuple[DeclaredResource, Item]] = {}
    for declared, item in resources:
        other = first.setdefault(item.id, (declared, item))
        if other[1] is item:
            continue
        keys = _different(declared, other[1], item)
        if keys:
            problems.append(_problem(declared, other[0], item.id, keys))
    return list(dict.fromkeys(problems))


def _different(declared: DeclaredResource, first: Item, other: Item) -> list[str]:
    if first.properties is other.properties:
        return []
    open_ = first.deferred_error or first.deferred_render or other.deferred_error
    left_out = declared.type.deferred if open_ or other.deferred_render else ()
    this, that = _said(declared.type, first), _said(declared.type, other)
    return [
        key
        for key in sorted({*this, *that})
        if key not in left_out and this.get(key, _MISSING) != that.get(key, _MISSING)
    ]


def _said(type_: Type, item: Item) -> dict[str, Any]:
    checks = {"health_checks": item.health_checks, "provider": item.provider}
    values = {**type_.defaults, **item.properties}
    values.update({key: value for key, value in checks.items() if value})
    for key in type_.octal & values.keys():
        values[key] = _canonical_mode(values[key])
    return values


def _canonical_mode(mode: Any) -> Any:
    """The canonical form of octal digits; a fifth digit has its own meaning."""
    return mode.lower().removeprefix("0o").rjust(4, "0") if isinstance(mode, str) else mode


def _problem(
    declared: DeclaredResource, other: DeclaredResource, id_: str, keys: list[str]
) -> Problem:
    place = other.position
    what = ", ".join(keys)
    if place == declared.position:
        message = f"{id_} is applied more than once, with different values for {what}"
    else:
        message = f"{id_} is also defined in {place}, with different values for {what}"
    hint = "two manifests may define the same resource only with equal properties"
    if declared.type.applies:
        path = declared.child or declared.name_node.text
        hint = (
            "to apply a manifest twice, give each apply resource its own name and "
            f"'manifest: {path}'"
        )
    return Problem(message, declared.position, hint, "input.duplicate")
