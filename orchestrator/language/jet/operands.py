"""Translates the expressions of a Jet template to Jinja2 (controller)."""

from collections.abc import Callable
from typing import Any

from jinja2 import nodes

from orchestrator.language.jet.syntax import (
    Binary,
    Call,
    Const,
    Dot,
    Expr,
    Field,
    Index,
    Logic,
    Method,
    Name,
    Negative,
    Not,
    Slice,
    Ternary,
)


class ExpressionCompiler:
    """Compiles expressions; ``note`` stores an offset and returns its number."""

    def __init__(self, note: Callable[[int], int]) -> None:
        self._note = note

    def _truth(self, expression: Expr) -> nodes.Expr:
        made = self._expr(expression)
        if isinstance(expression, Logic | Not):
            return made
        return call("truth", made)

    def _expr(self, expression: Expr) -> nodes.Expr:
        if isinstance(expression, Const):
            return nodes.Const(expression.value)
        if isinstance(expression, Dot):
            return call("dot")
        if isinstance(expression, Logic):
            kind = nodes.And if expression.operator == "&&" else nodes.Or
            return kind(self._truth(expression.left), self._truth(expression.right))
        if isinstance(expression, Not):
            return nodes.Not(self._truth(expression.operand))
        if isinstance(expression, Ternary):
            condition = self._truth(expression.condition)
            return nodes.CondExpr(condition, self._expr(expression.yes), self._expr(expression.no))
        if isinstance(expression, Call):
            return self._function(expression)
        return self._operation(expression)

    def _operation(self, expression: Expr) -> nodes.Expr:
        at = self._note(expression.at)
        if isinstance(expression, Name):
            return call("get", expression.name, at)
        if isinstance(expression, Field):
            base = self._expr(expression.base)
            return call("element", base, expression.name, source_text(expression.base), at)
        if isinstance(expression, Index):
            base, key = self._expr(expression.base), self._expr(expression.key)
            return call("element", base, key, source_text(expression.base), at)
        if isinstance(expression, Slice):
            bounds = [
                self._expr(e) if e else nodes.Const(None) for e in (expression.low, expression.high)
            ]
            return call(
                "cut", self._expr(expression.base), *bounds, source_text(expression.base), at
            )
        if isinstance(expression, Method):
            return call("method", self._expr(expression.base), expression.name, at)
        if isinstance(expression, Negative):
            return call("calculate", "-", 0, self._expr(expression.operand), at)
        assert isinstance(expression, Binary)  # a slot is refused before anything is compiled
        left, right = self._expr(expression.left), self._expr(expression.right)
        if expression.operator == "==":
            return call("equal", left, right)
        if expression.operator == "!=":
            return nodes.Not(call("equal", left, right))
        kind = "calculate" if expression.operator in "+-*/%" else "compare"
        return call(kind, expression.operator, left, right, at)

    def _function(self, called: Call) -> nodes.Expr:
        if called.name == "isset":
            made = self._isset(called.arguments[0])
            for argument in called.arguments[1:]:
                made = nodes.And(made, self._isset(argument))
            return made
        arguments = [self._expr(argument) for argument in called.arguments]
        return call("call", called.name, self._note(called.at), *arguments)

    def _isset(self, argument: Expr) -> nodes.Expr:
        """Whether a path exists, checked step by step so that nothing fails."""
        keys: list[nodes.Expr] = []
        base = argument
        while isinstance(base, Field | Index):
            key = nodes.Const(base.name) if isinstance(base, Field) else self._expr(base.key)
            keys.insert(0, key)
            base = base.base
        steps = nodes.List(keys)
        if isinstance(base, Name):
            return call("has_name", base.name, steps)
        if isinstance(base, Call) and base.name == "lookup" and len(base.arguments) == 1:
            return call("has_path", self._expr(base.arguments[0]), steps, self._note(base.at))
        return call("has", self._expr(base), steps)


def source_text(expression: Expr) -> str:
    """The source text of a value, shortened for a message."""
    if isinstance(expression, Name):
        return expression.name
    if isinstance(expression, Field):
        base = source_text(expression.base)
        return f".{expression.name}" if base == "." else f"{base}.{expression.name}"
    if isinstance(expression, Index):
        key = expression.key
        shown = source_text(key) if not isinstance(key, Const) else repr(key.value)
        return f"{source_text(expression.base)}[{shown}]"
    if isinstance(expression, Call):
        return f"{expression.name}(…)"
    return "." if isinstance(expression, Dot) else "(…)"


def call(name: str, *arguments: Any) -> nodes.Call:
    """A call of ``jet_NAME``; plain values become constants."""
    made = [a if isinstance(a, nodes.Node) else nodes.Const(a) for a in arguments]
    return nodes.Call(nodes.Name(f"jet_{name}", "load"), made, [], None, None)
