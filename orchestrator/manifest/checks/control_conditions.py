"""Conditions of ``control`` that run on the host: ``exists``, ``absent`` and
``command`` (controller).
"""

from typing import Any

from inventory.yaml_document import Mapping, Node, to_plain
from orchestrator.expressions.scan import holds_expression
from orchestrator.manifest.value_compiler import compile_node
from remote_runtime.errors import Problem

PATHS = ("exists", "absent")
COMMAND = "command"
HOST_CONDITIONS = (*PATHS, COMMAND)


def read_host_conditions(
    control: Mapping, problems: list[Problem], *, rendered: bool, names: tuple[str, ...], of: str
) -> dict[str, Any]:
    """The conditions of a ``control`` that run on the host, with compiled templates.

    ``rendered``: they may contain templates, which may also use these ``names``. ``of`` is the
    ``type#name`` of the resource. The schema has already checked their form.
    """
    result: dict[str, Any] = {}
    for key in HOST_CONDITIONS:
        node = control.get(key)
        if node is None:
            continue
        result[key] = compile_node(node, problems, extra=names) if rendered else to_plain(node)
        problems += [
            Problem(f"{of}: {message}", place.position, "", "input")
            for message, place in _complaints(key, to_plain(node), node, rendered)
        ]
    return result


def _complaints(key: str, value: Any, node: Node, rendered: bool) -> list[tuple[str, Node]]:
    """The problems of the parts of a value that are not templates, with their paths."""
    parts = [(key, value, node)]
    if key == COMMAND and isinstance(node, Mapping):
        parts = [(below, value[below], node.value(below)) for below in value]
    result = []
    for name, part, place in parts:
        if rendered and holds_expression(str(part)):
            continue
        if key in PATHS and not (part and isinstance(part, str)):
            continue  # the schema reports it
        whole = {name: part} if key == COMMAND and isinstance(value, dict) else part
        result += [(message, place) for message in condition_problems(key, whole)]
    return result


def condition_problems(key: str, value: Any) -> list[str]:
    """The problems of a final condition value, or of some settings of its command."""
    if key in PATHS:
        return [] if isinstance(value, str) and _is_path(value) else [_no_path(key, value)]
    from remote_runtime.validation.command_rules import of_settings, of_words

    if isinstance(value, dict):
        command = value.get("command")
        problems = of_words(COMMAND, command) + of_settings(COMMAND, value)
    else:
        problems = of_words(COMMAND, value)
    return [f"control.{COMMAND}: {message}" for _, message in problems]


def _is_path(value: str) -> bool:
    return value.startswith("/") and value.isprintable()


def _no_path(key: str, value: Any) -> str:
    return f"control.{key} must be an absolute path, not {value!r:.200}"


def coerced(value: Any) -> Any:
    """A rendered value, with numbers as text where only text is valid, such as a user ID."""
    if isinstance(value, dict):
        return {k: v if k == "returns" else _text(v) for k, v in value.items()}
    return _text(value)


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value
