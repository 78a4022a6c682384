"""Reads members, indices, calls, filters and tests after a value (controller)."""

from typing import Any

from jinja2 import nodes

from orchestrator.language.cursor import ParseError
from orchestrator.language.exprlang.builtins import FUNCTIONS
from orchestrator.language.exprlang.literals import Literals
from orchestrator.language.exprlang.token_reader import operation


class Operands(Literals):
    """Reads the operands between operators."""

    def operand(self) -> nodes.Expr:
        """A value with its members, indices and calls."""
        return self.members(self.primary())

    def members(self, value: nodes.Expr) -> nodes.Expr:
        """The members, indices and calls after a value that was already read."""
        chained = False
        while True:
            sign, at = self.sign, self.token.at
            if sign in (".", "?."):
                chained = chained or sign == "?."
                value = self._member(value, chained)
            elif sign == "[":
                value = self._index(value, chained)
            elif sign == "(":
                if chained:
                    raise ParseError("a call after ?.", at, "call a function instead")
                value = self._call(value)
            else:
                return operation("chain", at, value) if chained else value

    def optional(self, value: nodes.Expr) -> nodes.Expr:
        """A value that may be missing; ``lookup`` then returns nil."""
        if (
            isinstance(value, nodes.Call)
            and isinstance(value.node, nodes.Name)
            and value.node.name == "lookup"
            and len(value.args) == 1
        ):
            value.args.append(nodes.Const(None))
        return value

    def filters(self, value: nodes.Expr) -> nodes.Expr:
        """Jinja2's filters; a pipe to a function of expr-lang is left to the caller."""
        while self.sign == "|" and not self.pipes():
            at = self.take().at
            if self.token.kind != "name":
                raise self.unexpected("a filter or a function after |")
            name = self.take()
            arguments, named = self._arguments() if self.sign == "(" else ([], [])
            value = nodes.Filter(value, name.value, arguments, named, None, None, lineno=name.at)
            value.lineno = name.at or at
        return value

    def pipes(self) -> bool:
        """Whether the next pipe calls a function of expr-lang."""
        return self.after().value in FUNCTIONS and self.after(2).sign == "("

    def tests(self, value: nodes.Expr) -> nodes.Expr:
        """Jinja2's tests, such as ``is defined``."""
        while self.sign == "is":
            self.take()
            negated = self.accept("not")
            if self.token.kind != "name":
                raise self.unexpected("a test after is")
            name = self.take()
            arguments: list[nodes.Expr] = []
            if self.sign == "(":
                arguments = self._arguments()[0]
            elif self.token.kind in ("number", "string"):
                arguments = [self.operand()]
            value = nodes.Test(value, name.value, arguments, [], None, None, lineno=name.at)
            value = nodes.Not(value, lineno=name.at) if negated else value
        return value

    def _member(self, value: nodes.Expr, chained: bool) -> nodes.Expr:
        sign = self.take().sign
        if sign == "?." and self.sign == "[":
            return self._index(value, True, True)
        token = self.token
        if token.kind == "number" and isinstance(token.value, int):
            self.take()
            key: Any = token.value
        elif token.kind == "name":
            key = self.take().value
        else:
            raise self.unexpected("a name after the dot")
        if chained:
            return operation("member", token.at, value, key, sign == "?.")
        if isinstance(key, int):
            return nodes.Getitem(value, nodes.Const(key), "load", lineno=token.at)
        return nodes.Getattr(value, key, "load", lineno=token.at)

    def _index(self, value: nodes.Expr, chained: bool, optional: bool = False) -> nodes.Expr:
        at = self.take().at
        parts: list[nodes.Expr | None] = []
        sliced = False
        while True:
            parts.append(None if self.sign in (":", "]") else self.expression())
            if len(parts) == 3 or not self.accept(":"):
                break
            sliced = True
        self.expect("]", "']'")
        if not sliced and parts[0] is None:
            raise ParseError("expected an index between [ and ]", at)
        if sliced:
            parts += [None] * (3 - len(parts))
            if chained:
                raise ParseError("a slice after ?.", at, "put the chain in parentheses")
            return nodes.Getitem(value, nodes.Slice(*parts), "load", lineno=at)
        if chained:
            return operation("member", at, value, parts[0], optional)
        return nodes.Getitem(value, parts[0], "load", lineno=at)

    def _call(self, called: nodes.Expr) -> nodes.Expr:
        at = self.token.at
        arguments, named = self._arguments()
        return nodes.Call(called, arguments, named, None, None, lineno=at)

    def _arguments(self) -> tuple[list[nodes.Expr], list[nodes.Keyword]]:
        self.expect("(", "'('")
        given: list[nodes.Expr] = []
        named: list[nodes.Keyword] = []
        while self.sign != ")":
            if self.token.kind == "name" and self.after().sign == "=":
                key = self.take().value
                self.take()
                named.append(nodes.Keyword(key, self.expression()))
            else:
                given.append(self.expression())
            if not self.accept(","):
                break
        self.expect(")", "')' or a comma")
        return given, named
