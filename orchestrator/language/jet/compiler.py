"""Turns the tree of a Jet template into a Jinja2 tree (controller).

Text, branches and loops become Jinja2's own; Jet's own features (variables with the lifetime of
their statement list, blocks, contexts, Go's operators) become calls of ``jet_…`` functions, which a
``Run`` provides. Every body that may be run from elsewhere becomes a separate macro.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from jinja2 import nodes

from orchestrator.language.jet.syntax import (
    Binary,
    Block,
    Call,
    Const,
    Dot,
    Expr,
    Field,
    If,
    Include,
    Index,
    Logic,
    Method,
    Name,
    Negative,
    Not,
    Output,
    Plain,
    Range,
    Return,
    Set,
    Slice,
    Statement,
    Ternary,
    Tree,
    Try,
    Yield,
    YieldContent,
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


class BlockBodies(NamedTuple):
    """The macros of a block: one for its body, and those for its place of definition
    ("" for none).
    """

    body: str
    context: str
    content: str


class Compiled(NamedTuple):
    """A Jinja2 tree that defines macros, with the macro of the whole text and those of
    the blocks.
    """

    tree: nodes.Template
    root: str
    blocks: dict[str, BlockBodies]


class Compiler(ExpressionCompiler):
    """Compiles one template. ``note`` stores an offset and returns its number.

    ``prefix`` makes the names of the macros unique among all templates.
    """

    def __init__(self, prefix: str, note: Callable[[int], int]) -> None:
        super().__init__(note)
        self._prefix = prefix
        self._macros: list[nodes.Node] = []
        self._blocks: dict[str, BlockBodies] = {}

    def compile(self, tree: Tree) -> Compiled:
        """The whole template."""
        root = self._macro(self._body(tree.body))
        for name, block in tree.blocks.items():
            self._blocks[name] = self._block_bodies(block)
        template = nodes.Template(self._macros, lineno=1)
        template.set_lineno(1)
        return Compiled(template, root, self._blocks)

    def _macro(self, body: list[nodes.Node]) -> str:
        name = f"{self._prefix}{len(self._macros)}"
        self._macros.append(nodes.Macro(name, [], [], body))
        return name

    def _block_bodies(self, block: Block) -> BlockBodies:
        body = [self._parameter(name, default, block.at) for name, default in block.parameters]
        context = content = ""
        if block.context is not None:
            context = self._macro([nodes.ExprStmt(call("give", self._expr(block.context)))])
        if block.content is not None:
            content = self._macro(self._sized(block.content))
        return BlockBodies(self._macro([*body, *self._sized(block.body)]), context, content)

    def _parameter(self, name: str, default: Expr | None, at: int) -> nodes.Node:
        if default is None:
            return nodes.ExprStmt(call("need", name, self._note(at)))
        let = nodes.ExprStmt(call("default", name, self._expr(default)))
        return nodes.If(call("lacks", name), [let], [], [])

    def _sized(self, body: list[Statement]) -> list[nodes.Node]:
        """A body that reports the size of its text, for the limits."""
        return [nodes.ExprStmt(call("spend", _size(body))), *self._body(body)]

    def _body(self, statements: Sequence[Statement]) -> list[nodes.Node]:
        found = [node for statement in statements for node in self._statement(statement)]
        if any(isinstance(statement, Set) and statement.let for statement in statements):
            return [nodes.ExprStmt(call("enter")), *found, nodes.ExprStmt(call("leave"))]
        return found

    def _statement(self, statement: Statement) -> list[nodes.Node]:
        if isinstance(statement, Plain):
            return [nodes.Output([nodes.TemplateData(statement.text)])]
        if isinstance(statement, If):
            return self._if(statement)
        if isinstance(statement, Range):
            return [self._range(statement)]
        if isinstance(statement, Set):
            return [nodes.ExprStmt(self._set(statement))]
        if isinstance(statement, Return):
            return [nodes.ExprStmt(call("return", self._expr(statement.value)))]
        return [nodes.Output([self._written(statement)])]

    def _written(
        self, statement: Output | Block | Yield | YieldContent | Include | Try
    ) -> nodes.Expr:
        at = self._note(statement.at)
        if isinstance(statement, Output):
            return call("write", self._expr(statement.value), at)
        if isinstance(statement, Block):
            return call("block", statement.name, at)
        if isinstance(statement, Try):
            otherwise = self._macro(self._sized(statement.otherwise))
            body = self._macro(self._sized(statement.body))
            return call("attempt", body, otherwise, statement.error)
        context = self._optional(statement.context)
        if isinstance(statement, Yield):
            content = ""
            if statement.content is not None:
                content = self._macro(self._sized(statement.content))
            pairs = [nodes.Pair(nodes.Const(k), self._expr(v)) for k, v in statement.arguments]
            return call("yield", statement.name, at, nodes.Dict(pairs), context, content)
        if isinstance(statement, YieldContent):
            return call("content", at, context)
        path = self._expr(statement.path)
        return call("include", path, at, context, statement.optional)

    def _optional(self, expression: Expr | None) -> nodes.Expr:
        """A list with one value or none, so that nil can be distinguished from a missing value."""
        return nodes.List([] if expression is None else [self._expr(expression)])

    def _if(self, statement: If) -> list[nodes.Node]:
        condition = self._truth(statement.condition)
        branches, otherwise = [], statement.otherwise
        while len(otherwise) == 1 and isinstance(otherwise[0], If) and not otherwise[0].first:
            branch = otherwise[0]
            test = self._truth(branch.condition)
            branches.append(nodes.If(test, self._body(branch.body), [], []))
            otherwise = branch.otherwise
        made = nodes.If(condition, self._body(statement.body), branches, self._body(otherwise))
        if statement.first is None:
            return [made]
        first = nodes.ExprStmt(self._set(statement.first))
        return [nodes.ExprStmt(call("enter")), first, made, nodes.ExprStmt(call("leave"))]

    def _range(self, statement: Range) -> nodes.Node:
        items = call(
            "range",
            self._expr(statement.items),
            statement.index,
            statement.value,
            _size(statement.body),
            self._note(statement.items.at),
        )
        body, otherwise = self._body(statement.body), self._body(statement.otherwise)
        return nodes.For(nodes.Name("item", "store"), items, body, otherwise, None, False)

    def _set(self, statement: Set) -> nodes.Expr:
        at = self._note(statement.at)
        names = nodes.List([nodes.Const(name) for name in statement.names])
        if statement.found:
            index = statement.values[0]
            assert isinstance(index, Index)  # so the parser has it
            base, key = self._expr(index.base), self._expr(index.key)
            return call("set_found", statement.let, names, base, key, at)
        values = nodes.List([self._expr(value) for value in statement.values])
        return call("set", statement.let, names, values, at)


def _size(statements: Sequence[Statement]) -> int:
    """The size of the text that one run of a list may write itself, without its loops and other
    bodies.
    """
    total = 0
    for statement in statements:
        if isinstance(statement, Plain):
            total += len(statement.text)
        elif isinstance(statement, If):
            total += _size(statement.body) + _size(statement.otherwise)
    return total
