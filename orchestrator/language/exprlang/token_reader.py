"""Iterates over the tokens of an expression (controller)."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jinja2 import nodes

from orchestrator.language.cursor import Cursor, ParseError
from orchestrator.language.exprlang import PREFIX
from orchestrator.language.exprlang.lexer import tokenize

MAX_DEPTH = 100

_OTHER_SIGNS = {
    "=": "write == to compare",
    ";": "only let ends with ;",
    "<>": "write !=",
}


def operation(name: str, at: int, *arguments: Any) -> nodes.Call:
    """A call of ``Evaluation``; a plain value becomes a constant without a source position."""
    made = [a if isinstance(a, nodes.Node) else nodes.Const(a) for a in arguments]
    called = nodes.Name(PREFIX + name, "load", lineno=at)
    return nodes.Call(called, made, [], None, None, lineno=at)


class Reader(Cursor, ABC):
    """The tokens of an expression, read from left to right. ``bodies`` are (tree, children).

    The classes of the reader call each other recursively: ``expression`` belongs to the outermost
    one.
    """

    def __init__(self, source: str, known: tuple[str, ...], extra: tuple[str, ...]) -> None:
        super().__init__(tokenize(source))
        self._depth = 0
        self.predicates = 0
        self.known = known
        self.extra = extra
        self.variables: set[str] = set()
        self.children: list[int] = []
        self.bodies: list[tuple[nodes.Expr, tuple[int, ...]]] = []

    @abstractmethod
    def expression(self) -> nodes.Expr:
        """A whole expression."""

    def divided(self) -> None:
        """Whether the last value is in parentheses."""

    def unexpected(self, wanted: str, hint: str = "") -> ParseError:
        """The error for a token that does not belong here."""
        before = self._tokens[self._next - 1].sign if self._next else ""
        known = _OTHER_SIGNS.get(before + self.sign) or _OTHER_SIGNS.get(self.sign, "")
        return super().unexpected(wanted, hint or known)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Enter one more level of nesting."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ParseError("it is nested too deeply", self.token.at, "split it")
        yield
        self._depth -= 1

    def variable(self, name: str) -> str:
        """The name of a ``let`` variable in the tree."""
        return f"{PREFIX}let_{name}"

    def body(self) -> nodes.Name:
        """Read the following part as a separate tree; return its name."""
        outer, self.children = self.children, []
        self.bodies.append((self.expression(), tuple(self.children)))
        number = len(self.bodies) - 1
        self.children = [*outer, number]
        return nodes.Name(f"{PREFIX}body_{number}", "load")
