"""Splits a Jet text into plain text and actions made of tokens (controller)."""

import re
from typing import Any, NamedTuple

from orchestrator.language.cursor import ParseError, Token

BLANKS = " \t\r\n"
KEYWORDS = {
    "extends", "import", "include", "block", "yield", "content", "return", "try", "catch",
    "if", "else", "end", "range", "nil", "true", "false", "and", "or", "not", "trans", "msg",
}  # fmt: skip
_WORDS = {"and": "&&", "or": "||", "not": "!"}

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\n]+)
    |(?P<hex>0[xX][0-9a-fA-F]+)
    |(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |"(?P<string>(?:\\.|[^"\\\n])*)"
    |`(?P<raw>[^`]*)`
    |(?P<field>\.[^\W\d]\w*)
    |(?P<name>[^\W\d]\w*)
    |(?P<op>:=|&&|\|\||==|!=|<=|>=|[.|,;()\[\]+\-*/%:?<>!=])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(
    r"\\(?:(?P<plain>[abfnrtv\\\"])|x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})"
    r"|U(?P<U>[0-9a-fA-F]{8})|(?P<octal>[0-7]{3})|(?P<bad>.?))",
    re.DOTALL,
)
_PLAIN = dict(zip('abfnrtv\\"', '\a\b\f\n\r\t\v\\"', strict=True))


class Text(NamedTuple):
    """The text outside of actions, which is copied unchanged."""

    text: str
    at: int


class Action(NamedTuple):
    """The tokens between delimiters; the sign of the last one is ``close``.

    ``spaced`` prevents ``a .b`` from being read as a field of ``a``.
    """

    tokens: list[Token]
    at: int


class Delimiters(NamedTuple):
    """The delimiters of actions."""

    left: str = "[["
    right: str = "]]"

    def problem(self) -> str:
        """The reason why they cannot be used, or ""."""
        for word in self:
            if not word or any(c.isspace() or c.isalnum() or c in "\"`'_" for c in word):
                return f"a delimiter consists of symbols such as [[ or <<, not {word!r}"
        return "the two delimiters must differ" if self.left == self.right else ""

    def comments(self) -> dict[str, str]:
        """The delimiters of comments: Jet's own, and those derived from the action delimiters."""
        found = {"{*": "*}"}
        if len(self.left) > 1 and len(self.right) > 1:
            found[f"{self.left[0]}*"] = f"*{self.right[-1]}"
        return found


class Lexer:
    """One pass over a string."""

    def __init__(self, text: str, delimiters: Delimiters) -> None:
        self._text = text
        self._left, self._right = delimiters
        self._comments = delimiters.comments()
        openers = [re.escape(self._left)]
        for opener, closer in self._comments.items():
            # {*} and [*] are not comments: such text is common, and a comment cannot end there
            openers.append(re.escape(opener) + f"(?!{re.escape(closer[-1])})")
        self._opener = re.compile("|".join(openers))

    def split(self) -> list[Text | Action]:
        """Text and actions in order; ParseError."""
        found: list[Text | Action] = []
        at, trim = 0, False
        while True:
            match = self._opener.search(self._text, at)
            end = match.start() if match else len(self._text)
            text, start = self._text[at:end], at
            if trim:
                stripped = text.lstrip(BLANKS)
                start += len(text) - len(stripped)
                text, trim = stripped, False
            action = match is not None and match.group() == self._left
            if action and self._trims_before(end + len(self._left)):
                text = text.rstrip(BLANKS)
            if text:
                found.append(Text(text, start))
            if match is None:
                return found
            if action:
                tokens, at, trim = self._tokens(end)
                found.append(Action(tokens, end))
            else:
                at = self._after_comment(match.group(), end)

    def _after_comment(self, opener: str, start: int) -> int:
        closer = self._comments[opener]
        end = self._text.find(closer, start + len(opener))
        if end < 0:
            hint = f'end it with {closer}, or write {self._left} "{opener}" {self._right}'
            raise ParseError(f"the comment {opener} is not closed", start, hint)
        return end + len(closer)

    def _trims_before(self, at: int) -> bool:
        return self._text[at : at + 1] == "-" and self._text[at + 1 : at + 2] in (*BLANKS,)

    def _tokens(self, start: int) -> tuple[list[Token], int, bool]:
        """The tokens of one action, its end, and whether the text after it is trimmed."""
        at = start + len(self._left)
        at += 1 if self._trims_before(at) else 0
        tokens: list[Token] = []
        depth = {"(": 0, "[": 0}
        spaced = False
        while at < len(self._text):
            if spaced and self._text.startswith("-" + self._right, at):
                tokens.append(Token("end", "close", "the end of the action", at))
                return tokens, at + 1 + len(self._right), True
            if self._closes(at, depth):
                tokens.append(Token("end", "close", "the end of the action", at))
                return tokens, at + len(self._right), False
            match = _TOKEN.match(self._text, at)
            if match is None:
                raise self._unreadable(at)
            if match.lastgroup != "blank":
                tokens.append(self._token(match, spaced))
                _count(match.group(), depth)
            spaced = match.lastgroup == "blank"
            at = match.end()
        raise ParseError(f"{self._left} is not closed: {self._right} is missing", start)

    def _closes(self, at: int, depth: dict[str, int]) -> bool:
        """Whether the action ends here: ``]]`` inside an index closes the index first."""
        pending = {"]": "[", ")": "("}.get(self._right[0], "")
        return self._text.startswith(self._right, at) and not depth.get(pending)

    def _token(self, match: re.Match[str], spaced: bool) -> Token:
        at, text = match.start(), match.group()
        kind = str(match.lastgroup)
        value: Any = text
        sign = ""
        if kind in ("hex", "number"):
            following = self._text[match.end() : match.end() + 1]
            if following.isalnum() or following == "_":
                raise ParseError(f"{text + following!r} is not a number", at)
            return Token("number", "number", _number(text, at), at, spaced)
        if kind == "string":
            return Token("string", "string", _unescape(match.group("string"), at + 1), at, spaced)
        if kind == "raw":
            return Token("string", "string", match.group("raw").replace("\r", ""), at, spaced)
        if kind == "field":
            value = text[1:]
        elif kind == "name" and text in KEYWORDS:
            kind, sign = "keyword", _WORDS.get(text, text)
        elif kind == "op":
            kind = text
        return Token(kind, sign or kind, value, at, spaced)

    def _unreadable(self, at: int) -> ParseError:
        sign = self._text[at]
        if sign == "'":
            return ParseError("single quotes are not supported", at, 'write "text"')
        if sign in '"`':
            return ParseError(f"the string that starts with {sign} is not closed", at)
        if sign == "$":
            return ParseError("names have no $ in Jet", at, "remove it")
        return ParseError(f"unexpected {sign!r} in an action", at)


def _count(sign: str, depth: dict[str, int]) -> None:
    if sign in depth:
        depth[sign] += 1
    elif sign in ("]", ")"):
        opener = "[" if sign == "]" else "("
        depth[opener] = max(0, depth[opener] - 1)


def _number(text: str, at: int) -> int | float:
    if text[:2] in ("0x", "0X"):
        return int(text, 16)
    if text.isdigit():
        if len(text) > 1 and text[0] == "0":
            hint = f'quote it to keep the digits: "{text}"'
            raise ParseError(f"{text} would be read as an octal number", at, hint)
        if len(text) > 18:
            raise ParseError(f"the number {text} is too large", at)
        return int(text)
    number = float(text)
    if number == float("inf"):
        raise ParseError(f"the number {text} is too large", at)
    return number


def _unescape(text: str, at: int) -> str:
    def replace(match: re.Match[str]) -> str:
        """The character of an escape sequence. ParseError."""
        if match["plain"]:
            return _PLAIN[match["plain"]]
        if match["octal"]:
            return chr(int(match["octal"], 8))
        code = match["x"] or match["u"] or match["U"]
        number = int(code, 16) if code else -1
        if number < 0 or number > 0x10FFFF or 0xD800 <= number < 0xE000:
            where = at + match.start()
            raise ParseError(
                f"{match.group()} is not an escape sequence", where, "write \\\\ for \\"
            )
        return chr(number)

    return _ESCAPE.sub(replace, text)
