"""Reads the tokens of an expression one by one (controller)."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jinja2 import nodes

from orchestrator.language.cursor import Cursor, ParseError, Token
from orchestrator.language.exprlang import PREFIX

_TOKEN = re.compile(
    r"""(?P<blank>\s+|/\*.*?\*/)
    |(?P<number>0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+
        |(?:[0-9][0-9_]*)?\.[0-9][0-9_]*(?:[eE][+-]?[0-9]+)?|[0-9][0-9_]*(?:[eE][+-]?[0-9]+)?)
    |(?P<string>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")
    |(?P<raw>`[^`]*`)
    |(?P<name>[^\W\d]\w*)
    |(?P<pointer>\#\w*)
    |(?P<op>\?\.(?![0-9])|\?\?|\.\.|\*\*|&&|\|\||==|!=|<=|>=|//|[-+*/%^~!?:.,;|<>()\[\]{}=])""",
    re.VERBOSE | re.DOTALL,
)
_INTEGER = re.compile(r"[0-9]+")
_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\\'\"`])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3}))"
)
_PLAIN = dict(zip("abfnrtv\\'\"`", "\a\b\f\n\r\t\v\\'\"`", strict=True))
_OTHER = {
    "&": "write && or and",
    "$": "write the name alone, such as Data instead of $env.Data",
}


def tokenize(source: str) -> list[Token]:
    """The tokens of a whole expression, the last of kind ``end``; ParseError."""
    tokens: list[Token] = []
    at = 0
    while at < len(source):
        match = _TOKEN.match(source, at)
        if match is None:
            sign = source[at]
            if sign in "'\"`":
                raise ParseError(f"the string is not closed: {sign} is missing", at)
            raise ParseError(f"unexpected {sign!r}", at, _OTHER.get(sign, ""))
        kind, text = str(match.lastgroup), match.group()
        if kind == "number" and tokens:
            kind, text = _as_member(source, at, tokens[-1], text)
        if kind != "blank":
            tokens.append(_token(kind, text, at, source))
        at += len(text)
    tokens.append(Token("end", "end", "the end of the expression", len(source)))
    return tokens


def _as_member(source: str, at: int, before: Token, text: str) -> tuple[str, str]:
    """``list.0.1``: numbers after dots are integers, and a dot after a value does not
    start a fraction.
    """
    if before.sign in (".", "?."):
        digits = _INTEGER.match(source, at)
        return ("number", digits.group()) if digits else ("number", text)
    behind_value = before.kind in ("name", "string", "pointer") or before.sign in (")", "]", "}")
    if text.startswith(".") and behind_value and not source[at - 1].isspace():
        return "op", "."
    return "number", text


def _token(kind: str, text: str, at: int, source: str) -> Token:
    if kind == "number":
        following = source[at + len(text) : at + len(text) + 1]
        if following.isalnum() or following == "_":
            raise ParseError(f"{text + following!r} is not a number", at)
        return Token(kind, "number", _number(text, at), at)
    if kind == "string":
        return Token(kind, "", _ESCAPE.sub(_unescape, text[1:-1]), at)
    if kind == "raw":
        return Token("string", "", text[1:-1].replace("\r", ""), at)
    return Token(kind, text, text, at)


def _number(text: str, at: int) -> int | float:
    digits = text.replace("_", "").lower()
    try:
        if digits[:2] in ("0x", "0o", "0b"):
            return int(digits, 0)
        return float(digits) if "." in digits or "e" in digits else int(digits)
    except ValueError as error:
        raise ParseError(f"{text!r} is not a number", at) from error


def _unescape(match: re.Match[str]) -> str:
    plain, *codes, octal = match.groups()
    if plain:
        return _PLAIN[plain]
    code = int(octal, 8) if octal else int(next(filter(None, codes)), 16)
    return chr(code) if code < 0x110000 else match.group()


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
