"""Checks the goss rules of a resource's health checks (controller).

The target and this module use the same table, ``remote_runtime.health.rules``. It is imported only
if a manifest has such rules.
"""

from typing import Any

from orchestrator.expressions.scan import holds_expression
from orchestrator.manifest.checks.schema_errors import SchemaError

KEY = "health_checks"


def health_problems(checks: Any, templated: bool) -> list[SchemaError]:
    """The problems of goss rules, by their path below ``health_checks``.

    ``templated``: strings may still contain expressions, whose results are not known yet.
    """
    if not isinstance(checks, list):
        return []
    result: list[SchemaError] = []
    for index, check in enumerate(checks):
        if isinstance(check, dict):
            result += _of_check(index, check, templated)
    return result


def _of_check(index: int, check: dict[str, Any], templated: bool) -> list[SchemaError]:
    rules = check.get("goss_rules")
    wanted = "goss" if "goss_rules" in check else "nagios"
    result = []
    if check.get("format", wanted) in {"goss", "nagios"} - {wanted}:
        other = "goss_rules" if wanted == "nagios" else "command"
        message = f"{KEY}[{index}].format {check['format']} needs {other}"
        result.append(SchemaError((index, "format"), message, f"write {wanted}, or omit it"))
    if isinstance(rules, dict):
        from remote_runtime.health import rules as goss

        given = _unknown(rules) if templated else rules
        result += [
            SchemaError((index, "goss_rules", *path), message, hint)
            for path, message, hint in goss.problems(given)
        ]
    return result


def _unknown(value: Any) -> Any:
    """A copy in which every text with an expression is marked as unknown."""
    from remote_runtime.health.rules import Unknown

    if isinstance(value, dict):
        return {_unknown(key): _unknown(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_unknown(entry) for entry in value]
    return Unknown(value) if isinstance(value, str) and holds_expression(value) else value
