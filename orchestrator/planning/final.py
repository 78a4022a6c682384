"""Checks rendered values again, and turns numbers into text where only text fits (controller)."""

from __future__ import annotations

from typing import Any

from orchestrator.expressions.template import as_text
from orchestrator.manifest.declared import Declared
from remote_runtime.errors import Problem


def fit(declared: Declared, key: str, value: Any) -> tuple[Any, list[Problem]]:
    """The value in the type that the property takes, and what is wrong with it.

    A number from data becomes text where the property takes only text, except where it would be a
    guess what was written: 1.10 and 0644 reach us as 1.1 and 420.
    """
    kind = declared.type.properties[key]
    found = kind.complaints(value)
    if not found:
        return value, []
    texts = [c for c in found if c.wants_text and not c.path]
    if texts and not isinstance(value, dict | list):
        if kind.quoted or isinstance(value, float):
            message = f"{key} must be text, but the template gives the number {value!r}"
            return value, [_problem(declared, key, message, "quote it where it is set")]
        text = as_text(value)
        found = kind.complaints(text)
        if not found:
            return text, []
    return value, [_problem(declared, key, c.message, c.hint) for c in found]


def check_final(
    declared: Declared, name: str, values: dict[str, Any], open_: frozenset[str]
) -> list[tuple[str, Problem]]:
    """What is wrong with the resource as a whole, by property.

    ``open_`` are properties whose values are not known yet; rules about them are left for later.
    """
    type_ = declared.type
    problems: list[tuple[str, Problem]] = []
    if declared.templated & {"ensure", *type_.decisive}:  # else it was checked as it was loaded
        found = type_.whole_complaints(values)
        problems = [("", _problem(declared, "", c.message, c.hint)) for c in found]
        if problems:
            return problems
    provider = values.get("provider")
    if provider and provider not in type_.providers:
        message = f"there is no provider {provider!r}, only {', '.join(type_.providers)}"
        problems.append(("provider", _problem(declared, "provider", message, "")))
    for key, message in type_.check(name, values):
        if key not in open_:
            text = message if key == "name" else f"{key}: {message}"
            problems.append((key, _problem(declared, key, text, "")))
    return problems


def check_name(declared: Declared, name: Any) -> list[Problem]:
    """What is wrong with a rendered name."""
    return [_problem(declared, "", c.message, c.hint) for c in declared.type.name_complaints(name)]


def _problem(declared: Declared, key: str, message: str, hint: str) -> Problem:
    return Problem(f"{declared.id}: {message}", declared.where((key,) if key else ()), hint, "plan")
