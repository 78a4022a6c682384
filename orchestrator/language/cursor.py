"""Iterates over the tokens of a string, in any language, with their positions (controller)."""

from bisect import bisect_right
from typing import Any, NamedTuple

from remote_runtime.errors import Position


class Positions:
    """The positions in one text, which messages call ``name``."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._lines = [0, *(i + 1 for i, sign in enumerate(text) if sign == "\n")]

    def of(self, offset: int) -> Position:
        """The position of an offset."""
        line = bisect_right(self._lines, offset)
        return Position(self._name, line, offset - self._lines[line - 1] + 1)


class ParseError(Exception):
    """The syntax is invalid or not supported; ``at`` is an offset in the string."""

    def __init__(self, message: str, at: int, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.hint = hint


class Token(NamedTuple):
    """``kind``: name, number, string and so on. ``sign``: the operator for the parser; a string
    never has the sign of an operator. ``spaced``: a space precedes it.

    The last token has the kind ``end`` and a value that describes it in words.
    """

    kind: str
    sign: str
    value: Any
    at: int
    spaced: bool = False


class Cursor:
    """Tokens, read from left to right."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._next = 0

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._next]

    @property
    def sign(self) -> str:
        """The kind of the next token."""
        return self.token.sign

    def after(self, count: int = 1) -> Token:
        """The token at a distance after the next one, or the last token."""
        return self._tokens[min(self._next + count, len(self._tokens) - 1)]

    def take(self) -> Token:
        """Consume and return the next token."""
        token = self.token
        if token.kind != "end":
            self._next += 1
        return token

    def accept(self, sign: str) -> bool:
        """Consume the next token if it is this one."""
        if self.sign != sign:
            return False
        self.take()
        return True

    def expect(self, sign: str, what: str) -> Token:
        """Take the next token, which must be this one."""
        if self.sign != sign:
            raise self.unexpected(what)
        return self.take()

    def unexpected(self, wanted: str, hint: str = "") -> ParseError:
        """The error for a token that does not belong here."""
        return ParseError(f"expected {wanted}, found {self.found()}", self.token.at, hint)

    def found(self) -> str:
        """The next token as shown in a message."""
        return str(self.token.value) if self.token.kind == "end" else repr(self.token.value)
