"""Laying trees of data over one another (controller)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merge_deep(below: Any, above: Any) -> Any:
    """``above`` over ``below``: maps merge, lists concatenate, anything else replaces.

    Neither is changed; the result may share parts with both.
    """
    return _merge(below, above, True)


def merge_facts(below: Any, above: Any) -> Any:
    """As ``merge_deep``, but a list replaces: a fact that is set is what it is set to."""
    return _merge(below, above, False)


def _merge(below: Any, above: Any, lists: bool) -> Any:
    if isinstance(below, Mapping) and isinstance(above, Mapping):
        merged = dict(below)
        for key, value in above.items():
            merged[key] = _merge(merged[key], value, lists) if key in merged else value
        return merged
    if lists and isinstance(below, list) and isinstance(above, list):
        return below + above
    return above


def nest(path: str, value: Any) -> dict[str, Any]:
    """``a.b`` and a value as ``{"a": {"b": value}}``."""
    for part in reversed(path.split(".")):
        value = {part: value}
    tree: dict[str, Any] = value
    return tree
