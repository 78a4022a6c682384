"""Checks rendered values, and turns numbers into text if only text is valid (controller)."""

from __future__ import annotations

from typing import Any

from orchestrator.expressions import Scope
from orchestrator.expressions.template import Template
from orchestrator.language.value_types import as_text
from orchestrator.manifest.checks.health_rules import KEY as HEALTH_CHECKS
from orchestrator.manifest.checks.health_rules import health_problems
from orchestrator.manifest.checks.schema_errors import rule_message
from orchestrator.manifest.declared_resource import DeclaredResource
from remote_runtime.errors import Problem


def coerce(declared: DeclaredResource, key: str, value: Any) -> tuple[Any, list[Problem]]:
    """The value as the type of the property, and its problems.

    A number from data becomes text if the property accepts only text, unless its original spelling
    is lost: 1.10 and 0644 arrive as 1.1 and 420.
    """
    kind = declared.type.properties[key]
    if kind.whole and isinstance(value, float) and value.is_integer():
        value = int(value)  # as of Facts.x / 2
    complaints = kind.complaints(value)
    if not complaints:
        return value, []
    if all(complaint.wants_text for complaint in complaints):
        if kind.quoted:
            message = f"{key} must be text, but the template returns {as_text(value)}"
            return value, [
                _problem(declared, key, message=message, hint="quote it where it is set")
            ]
        for complaint in complaints:
            value = _with_text(value, complaint.path)
        complaints = kind.complaints(value)
    return value, [
        _problem(declared, key, message=c.message, hint=c.hint, within=c.path) for c in complaints
    ]


def guessed_numbers(declared: DeclaredResource, key: str, made: Any, scope: Scope) -> list[Problem]:
    """Return a problem for each fractional number in a string whose spelling is lost: 1.10 arrives
    as 1.1. ``made`` is the value before it was rendered; EvaluationError, NeedFileError.
    """
    if not (declared.type.properties[key].quoted and isinstance(made, Template)):
        return []
    problems = []
    for expression in made.expressions if len(made.pieces) > 1 else ():
        value = expression.evaluate(scope)
        if isinstance(value, float):
            message = (
                f"{declared.id}: {key} is {value!r}, a number that can be written in several ways"
            )
            hint = "quote it where it is set"
            problems.append(Problem(message, expression.where, hint, "plan"))
    return problems


def _with_text(value: Any, path: tuple[str | int, ...]) -> Any:
    """The value with text at the path; the containers along the path are copied."""
    if not path:
        return as_text(value)
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = _with_text(value[path[0]], path[1:])
    return copy


def check_final(
    declared: DeclaredResource, name: str, values: dict[str, Any], open_: frozenset[str]
) -> list[tuple[str, Problem]]:
    """The problems of the complete resource, by property.

    ``open_`` are properties with unknown values; rules about them are checked later.
    """
    type_ = declared.type
    problems: list[tuple[str, Problem]] = []
    if not {"ensure", *type_.decisive}.isdisjoint(declared.templated):
        # Otherwise this was checked when the manifest was loaded.
        complaints = type_.whole_complaints(values)
        problems = [
            ("", _problem(declared, "", message=c.message, hint=c.hint)) for c in complaints
        ]
        if problems:
            return problems
    if HEALTH_CHECKS in declared.templated:
        problems += [
            (
                HEALTH_CHECKS,
                _problem(declared, HEALTH_CHECKS, message=c.message, hint=c.hint, path=c.path),
            )
            for c in health_problems(values.get(HEALTH_CHECKS), templated=False)
        ]
    provider = values.get("provider")
    if provider and provider not in type_.providers:
        message = f"there is no provider {provider!r}, only {', '.join(type_.providers)}"
        problems.append(("provider", _problem(declared, "provider", message=message, hint="")))
    for key, message in type_.check(name, values):
        if key not in open_:
            text = rule_message(key, message)
            problems.append((key, _problem(declared, key, message=text, hint="")))
    return problems


def check_name(declared: DeclaredResource, name: Any) -> list[Problem]:
    """The problems of a rendered name."""
    return [
        _problem(declared, "", message=c.message, hint=c.hint)
        for c in declared.type.name_complaints(name)
    ]


def _problem(
    declared: DeclaredResource,
    key: str,
    *,
    message: str,
    hint: str,
    path: tuple[str | int, ...] = (),
    within: tuple[str | int, ...] = (),
) -> Problem:
    """``path``: the position in the property; ``within`` only decides which part may be secret."""
    if declared.hides(key, path or within):
        message, hint = f"{key} has a masked value that is not allowed", declared.type.hint_for(key)
    hint = hint or declared.type.hint_for("")
    where = declared.where((key, *path) if key else ())
    return Problem(f"{declared.id}: {message}", where, hint, "plan")
