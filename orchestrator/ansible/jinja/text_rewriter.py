"""Converts strings in YAML: their braces, and syntax that only ccm would interpret (controller)."""

from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja.expression_translation import translate
from orchestrator.ansible.jinja.parsing import (
    condition_tree,
    is_template,
    only_expression,
    outputs,
    parse_expression,
    parse_template,
    path_of,
)
from orchestrator.ansible.jinja.possible_values import sample_of
from orchestrator.ansible.jinja.scope import Sample, Scope, kind_of
from orchestrator.ansible.jinja.template_files import template_text
from orchestrator.ansible.jinja.trailing_newline import adapted
from orchestrator.ansible.jinja.unparse import literal, unparse
from orchestrator.ansible.jinja.value_expressions import folded, grouped, printed
from orchestrator.ansible.jinja.value_expressions import plain_text as plain_text
from orchestrator.ansible.problems import NotConvertible
from orchestrator.ansible.source.yaml_reader import Unsafe, Vaulted


def expression_text(text: str, scope: Scope) -> str:
    """Convert an Ansible expression without braces to ccm's syntax; NotConvertible."""
    return unparse(translate(parse_expression(text), scope))


def value(raw: Any, scope: Scope) -> Any:
    """Return a YAML value with its strings in ccm's syntax. NotConvertible."""
    if isinstance(raw, dict):
        return {plain_key(key): value(one, scope) for key, one in raw.items()}
    if isinstance(raw, list):
        return [value(one, scope) for one in raw]
    if isinstance(raw, Vaulted):
        return raw  # data may contain it unchanged
    if isinstance(raw, str):
        return _sole_value(raw, scope) or text(raw, scope)
    return raw


def _sole_value(raw: str, scope: Scope) -> str:
    """``{{ x }}`` and a newline, which Ansible drops behind a value that is not text; else ""."""
    ended = is_template(raw) and raw.endswith("\n") and not raw.endswith("\n\n")
    node = only_expression(raw[:-1]) if ended and not isinstance(raw, Unsafe) else None
    if node is None:
        return ""
    sample = sample_of(node, scope)
    if sample.all_kinds() == {"text"} and not sample.open:
        return ""
    if sample.all_kinds() and "text" not in sample.all_kinds() and not sample.open:
        return text(raw[:-1], scope)
    inner = _listed(folded(translate(node, scope)))
    longer = nodes.Concat([inner, nodes.Const("\n")])
    is_text = nodes.Test(inner, "string", [], [], None, None)
    return _braces(nodes.CondExpr(is_text, longer, inner))


def plain_key(key: Any) -> Any:
    """A key of a map, which Ansible does not render."""
    return plain_text(key) if isinstance(key, str) else key


def text(raw: str, scope: Scope) -> str:
    """Return a string in ccm's syntax. NotConvertible."""
    if isinstance(raw, Vaulted):
        raise NotConvertible("a vaulted value in this place; move it to a variable")
    if isinstance(raw, Unsafe) or not is_template(raw):
        return plain_text(str(raw))
    ended = adapted(raw, scope)
    parts = None if _needs_template(ended) else outputs(ended)
    if parts is not None and len(parts) == 1 and not isinstance(parts[0], nodes.TemplateData):
        return _braces(_listed(folded(translate(parts[0], scope))))
    if parts is not None:
        return "".join(_part(one, scope) for one in parts)
    chosen = _choice(ended, scope)
    if chosen is not None:
        return chosen
    body = template_text(raw, scope.having(whole=True))
    return f"{{{{ template({literal(body)}) }}}}"


def _needs_template(raw: str) -> bool:
    """Whether a string has options of Jinja, or filters that ccm has in whole templates only."""
    if raw.startswith("#jinja2:"):
        return True
    names = {one.name for one in parse_template(raw).find_all(nodes.Filter)}
    return bool(names & {"center", "indent", "wordwrap"})


_LAZY = frozenset(["map", "reject", "rejectattr", "select", "selectattr", "unique"])
"""Filters that return a generator, which Ansible converts to a list if it is a value."""


def _listed(node: nodes.Expr) -> nodes.Expr:
    """A value with a list in place of a generator."""
    if isinstance(node, nodes.Filter) and node.name in _LAZY:
        return nodes.Filter(node, "list", [], [], None, None)
    if isinstance(node, nodes.CondExpr):
        other = node.expr2 and _listed(node.expr2)
        return nodes.CondExpr(node.test, _listed(node.expr1), other)
    return node


def _part(node: nodes.Expr, scope: Scope) -> str:
    if isinstance(node, nodes.TemplateData):
        return plain_text(node.data)
    constant = folded(translate(node, scope))
    if isinstance(constant, nodes.Const) and isinstance(constant.value, (str, int)):
        return plain_text(str(constant.value))
    path = path_of(node)
    text = printed(node, scope)
    if (
        path is not None
        and path[0] in scope.locals
        and "none" in sample_of(node, scope).all_kinds()
    ):
        text = f"'' if {unparse(translate(node, scope))} is none else {text}"  # also behind `~`
    return f"{{{{ {text} }}}}"


def _braces(node: nodes.Expr) -> str:
    """Return one expression as text in braces; a constant has no braces."""
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        return plain_text(node.value)
    if isinstance(node, nodes.Concat):
        parts = [_braces(one) for one in node.nodes]
        if any("{{" not in one for one in parts):
            return "".join(parts)
    return f"{{{{ {unparse(node)} }}}}"


def _choice(raw: str, scope: Scope) -> str | None:
    """``{% if a %}x{% else %}y{% endif %}`` on one line as an expression; None for others."""
    if "\n" in raw.strip():
        return None
    pieces: list[str] = []
    for one in parse_template(raw).body:
        if isinstance(one, nodes.Output):
            pieces += [_part(part, scope) for part in one.nodes]
            continue
        tree = _conditional(one) if isinstance(one, nodes.If) else None
        if tree is None:
            return None
        pieces.append(f"{{{{ {unparse(translate(tree, scope))} }}}}")
    return "".join(pieces)


def _conditional(node: nodes.If) -> nodes.Expr | None:
    this = _joined(node.body)
    if node.elif_:
        rest = nodes.If(node.elif_[0].test, node.elif_[0].body, node.elif_[1:], node.else_)
        other = _conditional(rest)
    else:
        other = _joined(node.else_)
    if this is None or other is None:
        return None
    return nodes.CondExpr(node.test, this, other)


def _joined(body: list[Any]) -> nodes.Expr | None:
    parts: list[nodes.Expr] = []
    for one in body:
        if not isinstance(one, nodes.Output):
            return None
        parts += [
            nodes.Const(part.data) if isinstance(part, nodes.TemplateData) else part
            for part in one.nodes
        ]
    if not parts:
        return nodes.Const("")
    return parts[0] if len(parts) == 1 else nodes.Concat(parts)


def boolean(raw: Any, scope: Scope) -> Any:
    """A value that must be true or false: a constant, or an expression in braces."""
    found = as_bool(raw)
    if found is not None:
        return found
    if not is_template(raw):
        raise NotConvertible(f"expected a boolean, not {raw!r}")
    node = only_expression(raw)
    if node is None:
        raise NotConvertible("a boolean that consists of several parts")
    kinds = sample_of(node, scope).all_kinds()
    result = unparse(translate(node, scope))
    if kinds == {"bool"} or (isinstance(node, nodes.Filter) and node.name == "bool"):
        return f"{{{{ {result} }}}}"
    return f"{{{{ {grouped(result, node)} | bool }}}}"


def as_bool(raw: Any) -> bool | None:
    """Return a value as a boolean, as Ansible's modules read it; None for anything else."""
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, (int, float)) and raw in (0, 1):
        return bool(raw)
    if isinstance(raw, str) and not is_template(raw):
        word = raw.strip().lower()
        if word in ("yes", "on", "y", "t", "true", "1"):
            return True
        if word in ("no", "off", "n", "f", "false", "0"):
            return False
    return None


def condition(raw: Any, scope: Scope) -> str:
    """Return one condition of ``when`` as an expression with a boolean result. NotConvertible."""
    if isinstance(raw, bool):
        return literal(raw)
    if isinstance(raw, (int, float)) or raw is None:
        raise NotConvertible(f"the condition {raw!r} is not a boolean")
    return condition_of(condition_tree(raw), scope)


def condition_of(node: nodes.Expr, scope: Scope) -> str:
    """The same for a syntax tree."""
    return unparse(boolean_tree(node, scope))


_OUTPUTS = (["stdout"], ["stderr"], ["stdout_lines"], ["stderr_lines"])


def boolean_tree(node: nodes.Expr, scope: Scope) -> Any:
    """Return a translated tree that is true or false wherever the original counts as such."""
    if isinstance(node, (nodes.And, nodes.Or)):
        left, right = boolean_tree(node.left, scope), boolean_tree(node.right, scope)
        return _simplified(type(node), left, right)
    if isinstance(node, nodes.Not):
        inner = boolean_tree(node.node, scope)
        if isinstance(inner, nodes.Const) and isinstance(inner.value, bool):
            return nodes.Const(not inner.value)
        return inner.node if isinstance(inner, nodes.Not) else nodes.Not(inner)
    result = translate(node, scope)
    if isinstance(node, (nodes.Compare, nodes.Test)):
        return _decided(result)
    if isinstance(node, nodes.Filter) and node.name.rsplit(".", 1)[-1] == "bool":
        return result
    if isinstance(result, nodes.Const) and isinstance(result.value, bool):
        return result
    path = path_of(node)
    if path is not None and path[0] in scope.registers and path[1] in _OUTPUTS:
        empty = nodes.Const("") if path[1] in _OUTPUTS[:2] else nodes.List([])
        return nodes.Compare(result, [nodes.Operand("ne", empty)])
    sample = sample_of(node, scope)
    kinds = sample.all_kinds()
    if isinstance(node, nodes.Const) and kind_of(node.value) == "bool":
        return result
    if kinds and kinds <= {"bool"} and not sample.open:
        return result
    if kinds and kinds <= {"list", "map"}:
        length = nodes.Filter(result, "length", [], [], None, None)
        return nodes.Compare(length, [nodes.Operand("gt", nodes.Const(0))])
    is_get = isinstance(node, nodes.Call) and getattr(node.node, "attr", "") == "get"
    is_unknown = not kinds and isinstance(node, (nodes.Filter, nodes.Call))
    if is_get or is_unknown or (kinds and "text" not in kinds and kinds != {"bool"}):
        return nodes.CondExpr(result, nodes.Const(True), nodes.Const(False))
    return _of_text(node, result, sample)


def _decided(node: Any) -> Any:
    """Return the result of a comparison of constants."""
    if not isinstance(node, nodes.Compare) or len(node.ops) != 1:
        return node
    left, right, operator = node.expr, node.ops[0].expr, node.ops[0].op
    if not isinstance(left, nodes.Const):
        return node
    if isinstance(right, nodes.Const) and operator in ("eq", "ne"):
        return nodes.Const((left.value == right.value) is (operator == "eq"))
    if isinstance(right, nodes.List) and operator in ("in", "notin"):
        known = [one.value for one in right.items if isinstance(one, nodes.Const)]
        if len(known) == len(right.items):
            return nodes.Const((left.value in known) is (operator == "in"))
    return node


def _of_text(node: nodes.Expr, result: Any, sample: Sample) -> Any:
    """Apply ``bool`` where Ansible does not convert a variable with text such as ``yes``."""
    kinds = sample.all_kinds()
    words = [one for one in sample.values if isinstance(one, str)]
    if kinds == {"text"} and not words and not sample.open:  # computed, such as a name
        there = nodes.Compare(result, [nodes.Operand("ne", nodes.Const(""))])
        return nodes.Filter(result, "bool", [there], [], None, None)
    if kinds & {"list", "map"}:
        return nodes.CondExpr(result, nodes.Const(True), nodes.Const(False))
    plain = kinds <= {"text", "none"} or (kinds.isdisjoint({"list", "map"}) and not sample.open)
    if words and all(as_bool(one) is None for one in words) and plain:
        return nodes.CondExpr(result, nodes.Const(True), nodes.Const(False))
    if _is_there_at_all(node) and all(as_bool(one) is None for one in words):
        # It may contain a path or an address, which `bool` refuses.
        return nodes.CondExpr(result, nodes.Const(True), nodes.Const(False))
    return result if kinds <= {"bool"} else nodes.Filter(result, "bool", [], [], None, None)


def _is_there_at_all(node: nodes.Expr) -> bool:
    """Whether an expression is ``x | default(false)``, which tests whether x is set."""
    if not isinstance(node, nodes.Filter) or node.name not in ("default", "d"):
        return False
    first = node.args[0] if node.args else nodes.Const("")
    return isinstance(first, nodes.Const) and not first.value


def _simplified(kind: Any, left: Any, right: Any) -> Any:
    """Simplify ``and`` and ``or`` with constant operands."""
    neutral = kind is nodes.And
    for one, other in ((left, right), (right, left)):
        if isinstance(one, nodes.Const) and isinstance(one.value, bool):
            return other if one.value is neutral else nodes.Const(not neutral)
    return kind(left, right)
