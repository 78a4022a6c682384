"""Prints values in text as Ansible does (controller)."""

import re
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja.filter_substitutes import filtered
from orchestrator.ansible.jinja.possible_values import sample_of
from orchestrator.ansible.jinja.scope import Scope

_DIRECTIVES = re.compile(r"(%%|%s|%d|%)")
_GENERATORS = frozenset(["map", "select", "reject", "selectattr", "rejectattr", "unique"])


def listed(node: Any) -> Any:
    """The result of a filter as a list, which it always is in Ansible."""
    is_generator = isinstance(node, nodes.Filter) and node.name in _GENERATORS
    return filtered(node, "list") if is_generator else node


def as_list(text: str) -> str:
    """An expression for ``foreach`` with a list in place of a generator."""
    name = re.search(r"\|\s*(\w+)(?:\([^()]*\))?$", text)
    return f"{text} | list" if name is not None and name[1] in _GENERATORS else text


def printed_tree(node: nodes.Expr, result: Any, scope: Scope) -> Any:
    """The translation of ``node`` as an expression that prints its value as Ansible does."""
    sample = sample_of(node, scope)
    kinds = sample.all_kinds()
    plain = isinstance(node, (nodes.Name, nodes.Getattr, nodes.Getitem))
    if isinstance(result, nodes.CondExpr) and result.expr2 is None:
        result = nodes.CondExpr(result.test, result.expr1, nodes.Const(""))
    if kinds and kinds <= {"list", "map"}:
        return filtered(listed(result), "string")
    if (
        kinds == {"bool"}
        and not sample.open
        and not (plain and not any(sample.values) and not sample.kinds)
    ):
        return nodes.CondExpr(result, nodes.Const("True"), nodes.Const("False"))
    if "bool" in kinds:
        # Also a value that is false only for now, and a string where it is used.
        test = nodes.Test(result, "boolean", [], [], None, None)
        return nodes.CondExpr(test, filtered(filtered(result, "string"), "capitalize"), result)
    return result


def operand_tree(node: nodes.Expr, result: Any, scope: Scope) -> Any:
    """An operand of ``~``, which prints null as None."""
    kinds = sample_of(node, scope).all_kinds()
    found = printed_tree(node, result, scope)
    return filtered(found, "string") if kinds == {"none"} else found


def formatted(node: nodes.Filter) -> nodes.Expr:
    """``'%s-%s' | format(a, b)`` as ``a ~ '-' ~ b``, other forms as ``text % (a, b)``."""
    text = node.node.value if isinstance(node.node, nodes.Const) else None
    parts = _DIRECTIVES.split(text) if isinstance(text, str) else ["%"]
    count = sum(one in ("%s", "%d") for one in parts)
    if any(one in ("%", "%%") for one in parts) or count != len(node.args):
        return nodes.Mod(node.node, nodes.Tuple(node.args, "load"))
    rest = iter(node.args)
    words: list[nodes.Expr] = []
    for one in filter(None, parts):
        word = next(rest) if one in ("%s", "%d") else nodes.Const(one)
        words.append(filtered(word, "int") if one == "%d" else word)
    return nodes.Concat(words) if len(words) > 1 else filtered(words[0], "string")


def note_differences(node: nodes.Filter, scope: Scope) -> None:
    """Note where the text that a filter returns differs from that of Ansible."""
    name = node.name.rsplit(".", 1)[-1]
    if name in ("to_json", "to_nice_json") and node.node is not None:
        values = sample_of(node.node, scope).values
        if not all(str(one).isascii() for one in values):
            scope.uses.uncertainties.append(
                f"{name} writes characters such as é as they are; in the original, as \\u00e9"
            )
    has_salt = len(node.args) > 1 or any(one.key == "salt" for one in node.kwargs)
    if name == "password_hash" and has_salt and all(one.key != "rounds" for one in node.kwargs):
        scope.uses.uncertainties.append(
            "password_hash computes 5000 rounds; in the original, 656000 if passlib is installed"
        )
