"""Writes expressions as text (controller)."""

import re
from typing import Any, TypeGuard

from jinja2 import nodes

from orchestrator.ansible.jinja.expression_translation import as_list, translate
from orchestrator.ansible.jinja.parsing import outputs
from orchestrator.ansible.jinja.possible_values import sample_of
from orchestrator.ansible.jinja.scope import Scope
from orchestrator.ansible.jinja.unparse import literal, unparse
from orchestrator.ansible.problems import NotConvertible

_ACTIVE = re.compile(r"\{\{|\$\{(?=\s)")


def plain_text(text: str) -> str:
    """Return a string that is not a template, escaped for a property that is rendered."""
    return _ACTIVE.sub(lambda match: "{{ '" + match.group() + "' }}", text)


def folded(node: nodes.Expr) -> nodes.Expr:
    """Return joined strings with adjacent constants merged."""
    if not isinstance(node, nodes.Concat):
        return node
    result: list[nodes.Expr] = []
    for one in node.nodes:
        inner = folded(one)
        for part in inner.nodes if isinstance(inner, nodes.Concat) else [inner]:
            last = result[-1] if result else None
            if _is_text(part) and _is_text(last):
                result[-1] = nodes.Const(str(last.value) + str(part.value))
            else:
                result.append(part)
    return result[0] if len(result) == 1 else nodes.Concat(result)


def _is_text(node: nodes.Expr | None) -> TypeGuard[nodes.Const]:
    return isinstance(node, nodes.Const) and type(node.value) in (str, int)


def text_expression(text: str) -> str:
    """Return a ccm string as an expression without braces."""
    parts = outputs(text)
    if parts is None:
        raise NotConvertible("text with {% %} in an expression")
    if not parts:
        return "''"
    made = [nodes.Const(p.data) if isinstance(p, nodes.TemplateData) else p for p in parts]
    return unparse(folded(nodes.Concat(made) if len(made) > 1 else made[0]))


def printed(node: nodes.Expr, scope: Scope) -> str:
    """Return an expression that formats its value in a string as Ansible does. NotConvertible."""
    result = unparse(translate(node, scope))
    sample = sample_of(node, scope)
    kinds = sample.all_kinds()
    plain = isinstance(node, (nodes.Name, nodes.Getattr, nodes.Getitem))
    if kinds and kinds <= {"list", "map"}:
        text = as_list(result)
        return f"{text if isinstance(node, nodes.Filter) else grouped(text, node)} | string"
    if kinds == {"bool"} and not (plain and not any(sample.values) and not sample.kinds):
        return f"'True' if {grouped(result, node)} else 'False'"
    if "bool" in kinds:
        # Also a value that is false only for now, and a string where it is used.
        inner = grouped(result, node)
        return f"{inner} | string | capitalize if {inner} is boolean else {inner}"
    return result


def grouped(text: str, node: nodes.Expr) -> str:
    simple = isinstance(node, (nodes.Name, nodes.Getattr, nodes.Getitem, nodes.Call))
    return text if simple else f"({text})"


def value_expression(value: Any) -> str:
    """Return a value as an expression; its strings and keys are ccm templates."""
    if isinstance(value, dict):
        pairs = (f"{value_expression(key)}: {value_expression(one)}" for key, one in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(value_expression(one) for one in value) + "]"
    return text_expression(value) if isinstance(value, str) else literal(value)
