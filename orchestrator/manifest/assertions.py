"""``ccm.assert``: conditions that a host must meet before anything is changed on it
(controller).
"""

from collections.abc import Sequence as Entries
from typing import Any, NamedTuple

from inventory.yaml_document import Mapping, Node, Scalar, Sequence
from orchestrator.expressions import EvaluationError, Expression, NeedFileError, Scope
from orchestrator.expressions.template import Template
from orchestrator.language.errors import NEEDS
from orchestrator.language.value_types import as_text
from orchestrator.manifest.checks.schema_errors import suggestion
from orchestrator.manifest.value_compiler import compile_node, expressions_in, parse_bare
from remote_runtime.errors import Problem, in_one_line

KEY = "assert"
_KEYS = ("that", "message")
_FORM = "write - {that: EXPRESSION, message: TEXT}"


class Assertion(NamedTuple):
    """One condition. ``message`` is a string or a template."""

    that: Expression
    message: Any

    def expressions(self) -> list[Expression]:
        """Every expression of the assertion."""
        return [self.that, *expressions_in(self.message)]


def read_assertions(node: Node | None, problems: list[Problem]) -> list[Assertion]:
    """The assertions below ``ccm.assert``; mistakes are appended to ``problems``."""
    if node is None:
        return []
    if not isinstance(node, Sequence) or not node.nodes:
        what = "an empty list" if isinstance(node, Sequence) else node.describe()
        message = f"{KEY} must be a list of conditions, not {what}"
        problems.append(Problem(message, node.position, _FORM, "input.type"))
        return []
    assertions = [_read(one, problems) for one in node.nodes]
    return [one for one in assertions if one is not None]


def _read(node: Node, problems: list[Problem]) -> Assertion | None:
    if not isinstance(node, Mapping):
        message = (
            f"an entry of {KEY} must be a map with 'that' and 'message', not {node.describe()}"
        )
        problems.append(Problem(message, node.position, _FORM, "input.type"))
        return None
    before = len(problems)
    for key, _ in node.pairs():
        if key.text not in _KEYS:
            hint = suggestion(key.text, list(_KEYS)) or _FORM
            unknown = f"{KEY}: unknown key {key.text!r}"
            problems.append(Problem(unknown, key.position, hint, "input.unknown"))
    that, words = _text(node, "that", problems), _text(node, "message", problems)
    if that is None or words is None:
        return None
    expression = parse_bare(that, problems)
    if expression is None:
        return None
    literal, value = expression.constant()
    if literal and not isinstance(value, bool):
        problems.append(_not_boolean(expression, value))
    for path in expression.target_files():
        unreadable = f"{KEY} cannot read file({path!r}): it is on the target"
        problems.append(Problem(unreadable, expression.where, "", "template.file"))
    compiled = compile_node(words, problems)
    return Assertion(expression, compiled) if len(problems) == before else None


def _text(node: Mapping, key: str, problems: list[Problem]) -> Scalar | None:
    value = node.get(key)
    if isinstance(value, Scalar) and isinstance(value.value, bool) and key == "that":
        return value
    if isinstance(value, Scalar) and value.kind == "str" and value.text.strip():
        return value
    if value is None:
        what = "is missing"
    elif isinstance(value, Scalar) and value.kind == "str":
        what = "is empty"
    else:
        what = f"must be text, not {value.describe()}"
    where = (value or node).position
    problems.append(Problem(f"{KEY}: {key!r} {what}", where, _FORM, "input.type"))
    return None


def failing(assertions: Entries[Assertion], scope: Scope) -> list[Problem]:
    """A problem for each assertion that is false or cannot be evaluated on a host."""
    problems = []
    for one in assertions:
        try:
            value = one.that.evaluate(scope)
            if value is True:
                continue
            if value is not False:
                problems.append(_not_boolean(one.that, value))
                continue
            message = _message(one.message, scope)
        except EvaluationError as error:
            where = error.where or one.that.where
            text = f"{KEY}: {error.message}"
            problems.append(Problem(text, where, error.hint, error.kind))
            continue
        except NeedFileError as error:
            text = f"{KEY} cannot read {error.path!r}, a file on the target"
            problems.append(Problem(text, one.that.where, "", error.kind))
            continue
        source = one.that.source.strip()
        hint = f"{source} is not true"
        problems.append(Problem(message, one.that.where, hint, "plan.assert", has_lines=True))
    return problems


def _message(message: Any, scope: Scope) -> str:
    """The text for people: line breaks are the author's, and each value is on one line."""
    if isinstance(message, Template):
        message = message.render_text(scope, lambda value: in_one_line(as_text(value)))
    return as_text(message).strip()


def needs_host(problem: Problem) -> bool:
    """Whether an assertion needs a value that only a host or a remote source has."""
    return problem.kind in NEEDS and problem.message.startswith(f"{KEY}: ")


def _not_boolean(expression: Expression, value: Any) -> Problem:
    source = expression.source.strip()
    message = f"{KEY}: that must return true or false, but {source} returns {value!r:.60}"
    return Problem(message, expression.where, "compare it with ==", "template.assert")
