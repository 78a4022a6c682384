"""Writes the tree of a Jinja2 expression as text (controller)."""

from typing import Any

from jinja2 import nodes

from orchestrator.ansible.problems import NotConvertible

_CONDITIONAL, _OR, _AND, _NOT, _COMPARE, _SUM, _CONCAT, _PRODUCT, _POWER, _UNARY, _POSTFIX = range(
    11
)
_BINARY = {
    "Or": ("or", _OR),
    "And": ("and", _AND),
    "Add": ("+", _SUM),
    "Sub": ("-", _SUM),
    "Mul": ("*", _PRODUCT),
    "Div": ("/", _PRODUCT),
    "FloorDiv": ("//", _PRODUCT),
    "Mod": ("%", _PRODUCT),
    "Pow": ("**", _POWER),
}
_COMPARISONS = {
    "eq": "==", "ne": "!=", "lt": "<", "lteq": "<=", "gt": ">", "gteq": ">=",
    "in": "in", "notin": "not in",
}  # fmt: skip


def unparse(node: nodes.Node) -> str:
    """The text of an expression, without braces."""
    return _text(node)[0]


def operand(node: nodes.Node) -> str:
    """Return the source of an expression as the operand of a filter."""
    return _at(node, _POSTFIX)


def iterable(node: nodes.Node) -> str:
    """Return the source of an expression for use after ``in`` of a ``{% for %}``."""
    return _at(node, _OR)


def literal(value: Any) -> str:
    """A constant as an expression."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(literal(one) for one in value)}]"
    if isinstance(value, dict):
        pairs = (f"{literal(key)}: {literal(one)}" for key, one in value.items())
        return "{" + ", ".join(pairs) + "}"
    raise NotConvertible(f"a value of the type {type(value).__name__}")


def _quoted(text: str) -> str:
    escapes = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    body = "".join(escapes.get(char, char) for char in text)
    if "'" not in body:
        return f"'{body}'"
    if '"' not in body:
        return f'"{body}"'
    return "'" + body.replace("'", "\\'") + "'"


def _at(node: nodes.Node, level: int) -> str:
    text, own = _text(node)
    return text if own >= level else f"({text})"


def _text(node: nodes.Node) -> tuple[str, int]:
    kind = type(node).__name__
    if isinstance(node, nodes.BinExpr):
        return _binary(node, kind)
    writer = _WRITERS.get(kind)
    if writer is None:
        raise NotConvertible(f"the Jinja2 construct {kind}")
    found: tuple[str, int] = writer(node)
    return found


def _binary(node: nodes.BinExpr, kind: str) -> tuple[str, int]:
    sign, level = _BINARY[kind]
    left, right = (level, level + 1) if kind not in ("Or", "And") else (level, level)
    return f"{_at(node.left, left)} {sign} {_at(node.right, right)}", level


def _conditional(node: Any) -> tuple[str, int]:
    text = f"{_at(node.expr1, _OR)} if {_at(node.test, _OR)}"
    if node.expr2 is not None:
        text += f" else {_at(node.expr2, _CONDITIONAL)}"
    return text, _CONDITIONAL


def _compare(node: Any) -> tuple[str, int]:
    text = _at(node.expr, _SUM)
    for operand in node.ops:
        text += f" {_COMPARISONS[operand.op]} {_at(operand.expr, _SUM)}"
    return text, _COMPARE


def _not(node: Any) -> tuple[str, int]:
    inner = node.node
    if isinstance(inner, nodes.Test):
        return _test(inner, "is not ")
    if isinstance(inner, nodes.Compare) and len(inner.ops) == 1:
        opposite = {"in": "notin", "eq": "ne", "notin": "in", "ne": "eq"}.get(inner.ops[0].op)
        if opposite:
            operand = nodes.Operand(opposite, inner.ops[0].expr)
            return _compare(nodes.Compare(inner.expr, [operand]))
    return f"not {_at(inner, _NOT)}", _NOT


def _arguments(node: Any) -> str:
    words = [_at(one, _CONDITIONAL) for one in node.args]
    words += [f"{one.key}={_at(one.value, _CONDITIONAL)}" for one in node.kwargs]
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        raise NotConvertible("a call with * or **")
    return ", ".join(words)


def _filter(node: Any) -> tuple[str, int]:
    if node.node is None:
        raise NotConvertible("a filter block")
    arguments = _arguments(node)
    text = f"{_at(node.node, _POSTFIX)} | {node.name}"
    return text + (f"({arguments})" if arguments else ""), _POSTFIX


def _test(node: Any, word: str = "is ") -> tuple[str, int]:
    arguments = _arguments(node)
    text = f"{_at(node.node, _POSTFIX)} {word}{node.name}"
    return text + (f"({arguments})" if arguments else ""), _UNARY


def _call(node: Any) -> tuple[str, int]:
    return f"{_base(node.node)}({_arguments(node)})", _POSTFIX


def _base(node: nodes.Node) -> str:
    """The operand before a dot, bracket or call; a filter needs parentheses there."""
    text, level = _text(node)
    simple = level >= _POSTFIX and not isinstance(node, nodes.Filter)
    number = isinstance(node, nodes.Const) and isinstance(node.value, (int, float))
    return text if simple and not number else f"({text})"


def _getattr(node: Any) -> tuple[str, int]:
    return f"{_base(node.node)}.{node.attr}", _POSTFIX


def _getitem(node: Any) -> tuple[str, int]:
    if isinstance(node.arg, nodes.Slice):
        parts = [node.arg.start, node.arg.stop, node.arg.step]
        words = ["" if one is None else unparse(one) for one in parts]
        text = ":".join(words[:2] if parts[2] is None else words)
        return f"{_base(node.node)}[{text}]", _POSTFIX
    return f"{_base(node.node)}[{unparse(node.arg)}]", _POSTFIX


def _concat(node: Any) -> tuple[str, int]:
    return " ~ ".join(_at(one, _PRODUCT) for one in node.nodes), _CONCAT


def _items(node: Any) -> str:
    return ", ".join(_at(one, _CONDITIONAL) for one in node.items)


def _tuple(node: Any) -> tuple[str, int]:
    comma = "," if len(node.items) == 1 else ""
    return f"({_items(node)}{comma})", _POSTFIX


def _dict(node: Any) -> tuple[str, int]:
    pairs = (f"{unparse(one.key)}: {_at(one.value, _CONDITIONAL)}" for one in node.items)
    return "{" + ", ".join(pairs) + "}", _POSTFIX


_WRITERS: dict[str, Any] = {
    "Name": lambda node: (node.name, _POSTFIX),
    "NSRef": lambda node: (f"{node.name}.{node.attr}", _POSTFIX),
    "Const": lambda node: (
        literal(node.value),
        _UNARY if isinstance(node.value, (int, float)) and node.value < 0 else _POSTFIX,
    ),
    "TemplateData": lambda node: (literal(node.data), _POSTFIX),
    "CondExpr": _conditional,
    "Compare": _compare,
    "Not": _not,
    "Neg": lambda node: (f"-{_at(node.node, _UNARY)}", _UNARY),
    "Pos": lambda node: (f"+{_at(node.node, _UNARY)}", _UNARY),
    "Filter": _filter,
    "Test": _test,
    "Call": _call,
    "Getattr": _getattr,
    "Getitem": _getitem,
    "Concat": _concat,
    "List": lambda node: (f"[{_items(node)}]", _POSTFIX),
    "Tuple": _tuple,
    "Dict": _dict,
}
