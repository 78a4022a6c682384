"""Parses Ansible's expressions and strings with Jinja2 (controller)."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, TemplateSyntaxError, nodes

from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.yaml_reader import Unsafe, Vaulted

_MAX_NESTING = 100


@cache
def _environment() -> Environment:
    return Environment(
        trim_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        extensions=["jinja2.ext.do"],
    )


def parse_template(text: str) -> nodes.Template:
    """Return the syntax tree of a string; NotConvertible if it is not a template."""
    try:
        tree = _environment().parse(text)
    except TemplateSyntaxError as error:
        from orchestrator.language.call_errors import of_syntax

        raise NotConvertible(f"not a template: {of_syntax(error.message or '')}") from error
    except ValueError as error:
        raise NotConvertible("a number that is too large") from error
    except RecursionError as error:
        raise NotConvertible("a template that is nested too deeply") from error
    level: list[nodes.Node] = [tree]
    for _ in range(_MAX_NESTING):
        level = [inner for one in level for inner in one.iter_child_nodes()]
        if any(isinstance(one, nodes.Const) and _is_large(one.value) for one in level):
            raise NotConvertible("a number that is too large")
        if not level:
            return tree
    raise NotConvertible("a template that is nested too deeply")


def _is_large(value: Any) -> bool:
    """Whether a number has more digits than Python writes."""
    return isinstance(value, int) and value.bit_length() > 4_000


def parse_expression(text: str) -> nodes.Expr:
    """The tree of an expression without braces; NotConvertible."""
    tree = parse_template("{{ (" + text + "\n) }}")
    body = tree.body
    if len(body) == 1 and isinstance(body[0], nodes.Output) and len(body[0].nodes) == 1:
        found = body[0].nodes[0]
        if not isinstance(found, nodes.TemplateData):
            return found
    raise NotConvertible(f"not an expression: {text}")


@cache
def expression(text: str) -> nodes.Expr:
    """A ccm expression as a tree, which is never changed."""
    return parse_expression(text)


def is_template(value: Any) -> bool:
    """Whether a value is a string that Ansible renders."""
    return (
        isinstance(value, str)
        and not isinstance(value, Unsafe)
        and ("{{" in value or "{%" in value or "{#" in value)
    )


def holds_vaulted(value: Any) -> bool:
    """Whether a YAML value is encrypted, or contains an encrypted one."""
    if isinstance(value, (dict, list)):
        return any(map(holds_vaulted, value.values() if isinstance(value, dict) else value))
    return isinstance(value, Vaulted)


_ROLE = re.compile(r"^\s*\{\{\s*role_path\s*\}\}/(?:(?:files|templates|tasks|vars)/)?")


def in_role(path: str) -> str:
    """A path without the directory of the role and the directory for its kind of file."""
    return path if isinstance(path, Vaulted) else _ROLE.sub("", path)


def outputs(text: str) -> list[nodes.Expr] | None:
    """Return the parts of a string, with literal text as TemplateData; None if it has
    statements.
    """
    parts: list[nodes.Expr] = []
    for one in parse_template(text).body:
        if not isinstance(one, nodes.Output):
            return None
        parts += one.nodes
    return parts


def only_expression(text: str) -> nodes.Expr | None:
    """Return the expression of a string that is a single expression; None for any other."""
    parts = outputs(text)
    if parts is None:
        return None
    seen = [one for one in parts if not _blank(one)]
    if len(seen) == 1 and not isinstance(seen[0], nodes.TemplateData):
        return seen[0]
    return None


def condition_tree(condition: Any) -> nodes.Expr:
    """The expression of a condition, which may be in braces. NotConvertible."""
    text = str(condition)
    node = only_expression(text) if is_template(text) else parse_expression(text)
    if node is None:
        raise NotConvertible("a condition that consists of several parts")
    return node


def parts_of(node: Any, operator: type[nodes.BinExpr]) -> list[Any]:
    """The operands of ``a + b + c`` or of other operators in a row; otherwise the node itself."""
    if isinstance(node, operator):
        return [*parts_of(node.left, operator), *parts_of(node.right, operator)]
    return [node]


def sole_expressions(text: str) -> list[nodes.Expr]:
    """Return the expressions that can each produce the complete rendered text."""
    return _sole(parse_template(text).body)[1]


def _sole(body: Sequence[nodes.Node]) -> tuple[bool, list[nodes.Expr]]:
    """Whether these parts can render to nothing, and the expressions that may be the whole text."""
    found = [_sole_of(one) for one in body]
    blockers = sum(not empty for empty, _ in found)
    alone = [one for empty, some in found if blockers == (0 if empty else 1) for one in some]
    return blockers == 0, alone


def _sole_of(node: nodes.Node) -> tuple[bool, list[nodes.Expr]]:
    if isinstance(node, nodes.Output):
        return _sole(node.nodes)
    if isinstance(node, nodes.TemplateData):
        return not node.data, []
    if isinstance(node, nodes.Expr):
        return False, [node]
    if isinstance(node, (nodes.If, nodes.For)):
        others = node.elif_ if isinstance(node, nodes.If) else []
        bodies = [node.body, *(one.body for one in others), node.else_]
        found = [_sole(one) for one in bodies]
        return any(empty for empty, _ in found), [one for _, some in found for one in some]
    if isinstance(node, (nodes.With, nodes.Scope)):
        return _sole(node.body)
    return isinstance(node, (nodes.Assign, nodes.ExprStmt, nodes.Macro)), []


def _blank(node: nodes.Expr) -> bool:
    return isinstance(node, nodes.TemplateData) and not node.data.strip()


STATEMENTS = "text with statements"
"""The name of a call that represents a string with statements; the string is its argument."""


def tree_of(value: Any) -> nodes.Expr:
    """Return a YAML value as an expression; its strings are templates. NotConvertible."""
    if isinstance(value, Vaulted):
        raise NotConvertible("a vaulted value in an expression")
    if is_template(value):
        whole = only_expression(value)
        if whole is not None:
            return whole
        parts = outputs(value)
        if parts is None:
            written = nodes.Const(str(value))
            return nodes.Call(nodes.Name(STATEMENTS, "load"), [written], [], None, None)
        return nodes.Concat([_constant(one) for one in parts]) if len(parts) > 1 else parts[0]
    if isinstance(value, dict):
        pairs = [nodes.Pair(nodes.Const(key), tree_of(one)) for key, one in value.items()]
        return nodes.Dict(pairs)
    if isinstance(value, list):
        return nodes.List([tree_of(one) for one in value])
    return nodes.Const(str(value) if isinstance(value, str) else value)


def _constant(node: nodes.Expr) -> nodes.Expr:
    return nodes.Const(node.data) if isinstance(node, nodes.TemplateData) else node


def path_of(node: nodes.Node) -> tuple[str, list[Any]] | None:
    """The name and the literal keys of ``a.b['c']``; None for other expressions."""
    keys: list[Any] = []
    while True:
        if isinstance(node, nodes.Getattr):
            keys.append(node.attr)
            node = node.node
        elif isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const):
            keys.append(node.arg.value)
            node = node.node
        else:
            break
    if isinstance(node, nodes.Name):
        return node.name, keys[::-1]
    return None


def member(node: nodes.Expr, key: Any) -> nodes.Expr:
    """``node.key``, or ``node['key']`` if the key is not a valid name."""
    if isinstance(key, str) and key.isidentifier():
        return nodes.Getattr(node, key, "load")
    return nodes.Getitem(node, nodes.Const(key), "load")


def members(node: nodes.Expr, keys: Sequence[Any]) -> nodes.Expr:
    """``node`` with further keys."""
    for key in keys:
        node = member(node, key)
    return node


def names_in(node: nodes.Node) -> set[str]:
    """All names that an expression reads."""
    found = {one.name for one in node.find_all(nodes.Name)}
    if isinstance(node, nodes.Name):
        found.add(node.name)
    return found
