"""Writes expressions as text (controller)."""

import re
from typing import Any, TypeGuard

from jinja2 import nodes

from orchestrator.ansible.jinja.expression_translation import translate
from orchestrator.ansible.jinja.parsing import outputs
from orchestrator.ansible.jinja.printing import printed_tree
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
    return unparse(printed_tree(node, translate(node, scope), scope))


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
