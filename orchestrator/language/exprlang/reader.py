"""Goes over the tokens of an expression (controller)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jinja2 import nodes

from orchestrator.language.exprlang import PREFIX
from orchestrator.language.exprlang.lexer import ExpressionSyntaxError, Token, tokenize

MAX_DEPTH = 100

_OTHER_SIGNS = {
    "=": "write == to compare",
    ";": "only let ends with ;",
    "<>": "write !=",
}


def operation(name: str, at: int, *arguments: Any) -> nodes.Call:
    """A call of ``Evaluation``; a plain value becomes a constant that no manifest has spelt out."""
    made = [a if isinstance(a, nodes.Node) else nodes.Const(a) for a in arguments]
    called = nodes.Name(PREFIX + name, "load", lineno=at)
    return nodes.Call(called, made, [], None, None, lineno=at)


class Reader:
    """The tokens of an expression, read from left to right. ``bodies`` are (tree, children).

    Reading is done by recursion over several classes: ``expression`` is the outermost one's.
    """

    def __init__(self, source: str, known: tuple[str, ...], extra: tuple[str, ...]) -> None:
        self._tokens = tokenize(source)
        self._next = 0
        self._depth = 0
        self.predicates = 0
        self.known = known
        self.extra = extra
        self.variables: set[str] = set()
        self.children: list[int] = []
        self.bodies: list[tuple[nodes.Expr, tuple[int, ...]]] = []

    def expression(self) -> nodes.Expr:
        """A whole expression."""
        raise NotImplementedError

    def divided(self) -> None:
        """What was read last stands in parentheses."""

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._next]

    @property
    def sign(self) -> str:
        """What the next token is, as written; empty for a text."""
        return self.token.sign

    def after(self) -> Token:
        """The token behind the next one."""
        return self._tokens[min(self._next + 1, len(self._tokens) - 1)]

    def take(self) -> Token:
        """The next token, which is then behind us."""
        token = self.token
        if token.kind != "end":
            self._next += 1
        return token

    def accept(self, sign: str) -> bool:
        """Take the next token if it is this one."""
        if self.sign != sign:
            return False
        self.take()
        return True

    def expect(self, sign: str, what: str) -> None:
        """Take the next token, which must be this one."""
        if not self.accept(sign):
            raise self.unexpected(what)

    def unexpected(self, wanted: str) -> ExpressionSyntaxError:
        """The error for a token that does not belong here."""
        token = self.token
        found = "the end" if token.kind == "end" else repr(token.value)
        before = self._tokens[self._next - 1].sign if self._next else ""
        hint = _OTHER_SIGNS.get(before + token.sign) or _OTHER_SIGNS.get(token.sign, "")
        return ExpressionSyntaxError(f"expected {wanted}, found {found}", token.at, hint)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """One level deeper."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ExpressionSyntaxError("it is nested too deeply", self.token.at, "split it")
        yield
        self._depth -= 1

    def variable(self, name: str) -> str:
        """How a variable of ``let`` is called in the tree."""
        return f"{PREFIX}let_{name}"

    def body(self) -> nodes.Name:
        """What follows as a tree of its own; the name that stands for it."""
        outer, self.children = self.children, []
        self.bodies.append((self.expression(), tuple(self.children)))
        number = len(self.bodies) - 1
        self.children = [*outer, number]
        return nodes.Name(f"{PREFIX}body_{number}", "load")
