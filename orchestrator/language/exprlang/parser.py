"""Reads an expression with the operators of expr-lang and of Jinja2 (controller).

Shared operators have Jinja2's precedence and meaning; operators that only expr-lang has keep its
precedence.
"""

from typing import Any, NamedTuple

from jinja2 import nodes

from orchestrator.language.cursor import ParseError
from orchestrator.language.exprlang import PREFIX
from orchestrator.language.exprlang.builtins import FUNCTIONS
from orchestrator.language.exprlang.postfix import Operands
from orchestrator.language.exprlang.token_reader import operation
from remote_runtime.text.suggestions import nearest

_COMPARE = {
    "==": "eq", "!=": "ne", "<": "lt", "<=": "lteq", ">": "gt", ">=": "gteq", "in": "in",
}  # fmt: skip
TEXT_OPERATORS = ("contains", "startsWith", "endsWith", "matches")
_ARITHMETIC = {
    "+": nodes.Add,
    "-": nodes.Sub,
    "*": nodes.Mul,
    "/": nodes.Div,
    "%": nodes.Mod,
    "**": nodes.Pow,
}
PRECEDENCE = {
    "|": 0,
    "or": 10, "||": 10,
    "and": 15, "&&": 15,
    **dict.fromkeys((*_COMPARE, *TEXT_OPERATORS, "not"), 20),
    "..": 25,
    "+": 30, "-": 30,
    "~": 40,
    "*": 60, "/": 60, "%": 60, "//": 60,
    "**": 100, "^": 100,
    "??": 500,
}  # fmt: skip
"""Operators that bind more tightly have larger numbers. ``not`` is part of ``not in``."""

_UNARY = 50
_LOGIC = ("or", "||", "and", "&&")


class Body(NamedTuple):
    """A tree that is evaluated on its own: a predicate, or the part after a ``let``.

    ``children``: the numbers of the bodies that it contains.
    """

    tree: nodes.Expr
    children: tuple[int, ...]


class Parsed(NamedTuple):
    """``whole`` is the expression; ``names`` are the operations that it calls anywhere."""

    whole: Body
    bodies: tuple[Body, ...]
    names: frozenset[str]

    def trees(self) -> list[nodes.Expr]:
        """Every tree, the whole expression first."""
        return [self.whole.tree, *(body.tree for body in self.bodies)]


def parse(source: str, known: tuple[str, ...], extra: tuple[str, ...]) -> Parsed:
    """The trees of an expression; ``extra`` names take precedence over functions. ParseError.

    The ``lineno`` of a node is its offset in the source.
    """
    parser = Parser(source, known, extra)
    tree = parser.expression()
    if parser.sign != "end":
        raise parser.no_operator()
    bodies = tuple(Body(*body) for body in parser.bodies)
    whole = Body(tree, tuple(parser.children))
    trees = (tree, *(body.tree for body in bodies))
    names = {name.name for made in trees for name in _names(made)}
    return Parsed(whole, bodies, frozenset(n for n in names if n.startswith(PREFIX)))


def _names(tree: nodes.Expr) -> list[nodes.Name]:
    found = list(tree.find_all(nodes.Name))
    return [tree, *found] if isinstance(tree, nodes.Name) else found


class Parser(Operands):
    """Reads operators; ``Operands`` reads their operands."""

    def __init__(self, source: str, known: tuple[str, ...], extra: tuple[str, ...]) -> None:
        super().__init__(source, known, extra)
        self._undivided: nodes.Expr | None = None

    def expression(self) -> nodes.Expr:
        """A whole expression."""
        with self.nested():
            if self.sign == "let" and self.after().kind == "name":
                return self._let()
            value = self.binary(0)
            while self.sign in ("?", "if"):
                value = self._choice(value)
            return value

    def _let(self) -> nodes.Expr:
        at = self.take().at
        name = self.take()
        if name.value in (*FUNCTIONS, *self.known, *self.variables):
            raise ParseError(f"let {name.value}: the name is taken", name.at)
        self.expect("=", "'=' after the name")
        value = self.expression()
        self.expect(";", "';' after the value of let")
        self.variables.add(name.value)
        body = self.body()
        self.variables.discard(name.value)
        return operation("let", at, value, self.variable(name.value), body)

    def _choice(self, value: nodes.Expr) -> nodes.Expr:
        at, sign = self.token.at, self.take().sign
        self._undivided = None
        if sign == "if":
            test = self.binary(0)
            otherwise = self.expression() if self.accept("else") else None
            return nodes.CondExpr(test, value, otherwise, lineno=at)
        test = operation("truth", at, value, "?")
        if self.accept(":"):
            return nodes.CondExpr(test, value, self.expression(), lineno=at)
        yes = self.expression()
        self.expect(":", "':' and the value for false")
        return nodes.CondExpr(test, yes, self.expression(), lineno=at)

    def binary(self, least: int) -> nodes.Expr:
        """Operators with at least this precedence, and their operands."""
        return self.climb(self.unary(), least)

    def climb(self, left: nodes.Expr, least: int) -> nodes.Expr:
        """The operators after a value that was already read."""
        coalesced = False
        while PRECEDENCE.get(self.sign, -1) >= least:
            sign = self.sign
            if sign == "not" and self.after().sign not in ("in", *TEXT_OPERATORS):
                break
            if coalesced and sign not in ("??", "|"):
                hint = f"put one of them in parentheses: (a ?? b) {sign} c"
                raise ParseError(f"?? next to {sign}", self.token.at, hint)
            coalesced = sign == "??"
            left = self._pipe(left) if sign == "|" else self._operator(left)
        return left

    def _pipe(self, left: nodes.Expr) -> nodes.Expr:
        if not self.pipes():
            return self.filters(left)  # behind a function
        at = self.take().at
        if left is self._undivided:
            message = (
                "the pipe takes everything before it in expr-lang, but only one value in Jinja2"
            )
            hint = "put its input in parentheses: a == (b | lower())"
            raise ParseError(message, at, hint)
        return self.members(self.function(self.take(), left))

    def _operator(self, left: nodes.Expr) -> nodes.Expr:
        token = self.take()
        sign, at = token.sign, token.at
        if sign == "//":
            hint = "write /* */ for a comment, or floor(a / b)"
            raise ParseError("// is a comment in expr-lang, not in Jinja2", at, hint)
        if sign == "^":
            return operation("power", at, left, self.binary(PRECEDENCE["^"]))
        negated = sign == "not"
        if sign in _COMPARE or (negated and self.sign == "in"):
            made = self._comparison(left, sign, at)
        else:
            sign = self.take().sign if negated else sign
            made = self._combined(sign, left, self.binary(PRECEDENCE[sign] + 1), at)
            made = nodes.Not(made, lineno=at) if negated else made
        if PRECEDENCE[sign] <= PRECEDENCE["in"] or sign == "~":
            self._undivided = made
        return made

    def _comparison(self, left: nodes.Expr, sign: str, at: int) -> nodes.Expr:
        """One comparison, or a chain such as ``1 < x < 5``; the first operator has been
        consumed.
        """
        operands = [self._compared(sign)]
        first = operands[0].expr
        if sign in ("==", "!=") and (_is_nil(left) or _is_nil(first)):
            made = operation("missing", at, self.optional(first if _is_nil(left) else left))
            return made if sign == "==" else nodes.Not(made, lineno=at)
        while self.sign in _COMPARE or (self.sign == "not" and self.after().sign == "in"):
            operands.append(self._compared(self.take().sign))
        return nodes.Compare(left, operands, lineno=at)

    def _compared(self, sign: str) -> nodes.Operand:
        if sign == "not":
            self.take()
        right = self.binary(PRECEDENCE["in"] + 1)
        return nodes.Operand("notin" if sign == "not" else _COMPARE[sign], right)

    def _combined(self, sign: str, left: nodes.Expr, right: nodes.Expr, at: int) -> nodes.Expr:
        if sign in _LOGIC:
            kind = nodes.Or if sign in ("or", "||") else nodes.And
            if sign in ("||", "&&"):
                left, right = (operation("truth", at, side, sign) for side in (left, right))
            return kind(left, right, lineno=at)
        if sign == "??":
            held = operation("hold", at, self.optional(left))
            return operation("release", at, nodes.Or(held, right))
        if sign in _ARITHMETIC:
            return _ARITHMETIC[sign](left, right, lineno=at)
        if sign == "matches":
            self.check_pattern(right)
        names = {"..": "range", "~": "concat"}
        return operation(names.get(sign, sign), at, left, right)

    def unary(self) -> nodes.Expr:
        """A value with its signs, filters and tests."""
        at = self.token.at
        with self.nested():
            if self.accept("not"):
                return nodes.Not(self.binary(PRECEDENCE["in"]), lineno=at)
            if self.accept("!"):
                operand = operation("truth", at, self.binary(_UNARY), "!")
                return nodes.Not(operand, lineno=at)
            value = self._signed()
            while self.sign == "is" or (self.sign == "|" and not self.pipes()):
                value = self.tests(self.filters(value))
            return value

    def _signed(self) -> nodes.Expr:
        sign, at = self.sign, self.token.at
        if sign not in ("-", "+"):
            return self.operand()
        self.take()
        with self.nested():
            operand = self.climb(self._signed(), PRECEDENCE["??"])
        if self.sign == "^":
            operand = self.climb(operand, PRECEDENCE["^"])
        kind: Any = nodes.Neg if sign == "-" else nodes.Pos
        made: nodes.Expr = kind(operand, lineno=at)
        return made

    def no_operator(self) -> ParseError:
        """The error if an expression continues without an operator."""
        error = self.unexpected("an operator or the end")
        if self.token.kind == "name":
            likely = nearest(self.sign, [word for word in PRECEDENCE if word.isalpha()])
            error.hint = f"did you mean {likely}?" if likely else error.hint
        return error

    def divided(self) -> None:
        """Whether the last value is in parentheses."""
        self._undivided = None


def _is_nil(value: nodes.Expr) -> bool:
    return isinstance(value, nodes.Const) and value.value is None
