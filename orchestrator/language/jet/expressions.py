"""Reads the expressions and pipelines of one action (controller).

Jet's own precedence: ``* / %``, ``+ -``, ``< <= > >=``, ``== !=``, then ``&&`` and ``||`` as one
level from left to right, then the ternary; ``!`` applies to a whole comparison.
"""

from orchestrator.language.cursor import Cursor, ParseError
from orchestrator.language.jet.syntax import (
    METHODS,
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
    Slot,
    Ternary,
)

_CONSTANTS = {"true": True, "false": False, "nil": None}
_LEVELS = (("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))


class ActionParser(Cursor):
    """Reads the tokens of one action from left to right."""

    def close(self, hint: str = "") -> None:
        """Require the end of the action."""
        if self.sign != "close":
            raise self.unexpected("the end of the action", hint)

    def found(self) -> str:
        """The source text of the next token, for messages."""
        token = self.token
        if token.kind in ("field", "number"):
            return repr(f".{token.value}" if token.kind == "field" else str(token.value))
        return super().found()

    def pipeline(self, first: Expr | None = None) -> Expr:
        """``command | command | …``, where each command receives the result of the previous one.

        ``first`` is an expression that was already read.
        """
        value = self._command(first)
        while self.accept("|"):
            value = self._piped(value)
        return value

    def _command(self, first: Expr | None = None) -> Expr:
        value = first or self.expression()
        if self.sign != ":":
            return value
        if not isinstance(value, Name):
            raise ParseError("only a function is allowed before a colon", value.at)
        self.take()
        return Call(value.at, value.name, self._arguments())

    def _piped(self, value: Expr) -> Expr:
        stage = self._command()
        if isinstance(stage, Name):
            return Call(stage.at, stage.name, [value])
        if not isinstance(stage, Call):
            hint = 'write a function, such as "x" | upper'
            raise ParseError("only functions are allowed after a pipe", stage.at, hint)
        slots = sum(isinstance(argument, Slot) for argument in stage.arguments)
        if slots > 1:
            raise ParseError("_ is allowed only once in a call", stage.at)
        if slots:
            filled = [value if isinstance(a, Slot) else a for a in stage.arguments]
        else:
            filled = [value, *stage.arguments]
        return Call(stage.at, stage.name, filled)

    def expression(self) -> Expr:
        """An expression without pipes."""
        condition = self._logic()
        if self.sign != "?":
            return condition
        at = self.take().at
        yes = self.expression()
        self.expect(":", "':' of the ternary")
        return Ternary(at, condition, yes, self.expression())

    def _logic(self) -> Expr:
        left = self._binary()
        while self.sign in ("&&", "||"):
            operator, at = self.sign, self.take().at
            left = Logic(at, operator, left, self._binary())
        return left

    def _binary(self, level: int = 0) -> Expr:
        """Read operators of this precedence or higher."""
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self.sign in _LEVELS[level]:
            operator, at = self.sign, self.take().at
            left = Binary(at, operator, left, self._binary(level + 1))
        return left

    def _unary(self) -> Expr:
        if self.sign == "!":
            return Not(self.take().at, self._binary())
        if self.sign == "-":
            return Negative(self.take().at, self._operand())
        if self.sign == "+":
            self.take()
        return self._operand()

    def _operand(self) -> Expr:
        value = self._term()
        while True:
            token = self.token
            if token.kind == "field" and not token.spaced:
                value = self._field(value)
            elif token.kind == "(" and isinstance(value, Name | Dot | Field | Index):
                value = self._call(value)
            elif token.kind == "[" and not isinstance(value, Const):
                value = self._index(value)
            else:
                return value

    def _field(self, base: Expr) -> Expr:
        token = self.take()
        if isinstance(base, Const):
            raise ParseError("a literal has no fields", token.at)
        return Field(token.at, base, token.value)

    def _call(self, called: Expr) -> Expr:
        self.take()
        arguments = self._arguments()
        self.expect(")", "')' or a comma")
        if isinstance(called, Name):
            return Call(called.at, called.name, arguments)
        if isinstance(called, Field) and called.name in METHODS and not arguments:
            return Method(called.at, called.base, called.name)
        hint = "call a function with the value as its argument"
        raise ParseError("values have no methods here", called.at, hint)

    def _arguments(self) -> list[Expr]:
        found: list[Expr] = []
        while self.sign not in (")", "|", "close"):
            found.append(self.expression())
            if not self.accept(","):
                break
        return found

    def _index(self, base: Expr) -> Expr:
        at = self.take().at
        low = None if self.sign == ":" else self.expression()
        if not self.accept(":"):
            self.expect("]", "']'")
            assert low is not None  # there was no colon
            return Index(at, base, low)
        high = None if self.sign == "]" else self.expression()
        self.expect("]", "']'")
        return Slice(at, base, low, high)

    def _term(self) -> Expr:
        token = self.token
        if token.kind in ("number", "string"):
            self.take()
            return Const(token.at, token.value)
        if token.kind == "keyword" and token.value in _CONSTANTS:
            self.take()
            return Const(token.at, _CONSTANTS[token.value])
        if token.kind == "name":
            self.take()
            if token.value == "_":
                return Slot(token.at)
            return Name(token.at, token.value)
        if token.kind == ".":
            self.take()
            return Dot(token.at)
        if token.kind == "field":
            self.take()
            return Field(token.at, Dot(token.at), token.value)
        if self.accept("("):
            value = self.expression()
            self.expect(")", "')'")
            return value
        raise self.unexpected("a value")
