"""Converts Go's regular expressions, in which goss rules are written, to Python's (both sides).

The two syntaxes are the same for most patterns. Different spellings are rewritten, and constructs
that exist only in one of them are refused, so that no pattern means something else than in goss.
"""

from typing import Any, Dict, List, Tuple

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_GROUPS = ("(?:", "(?P<")  # the same in both languages
_SAME_ESCAPES = "dDwWsSbBAnrtfva"
_REFUSED_ESCAPES = {"C": r"\C", "p": r"\p{...}", "P": r"\P{...}", "Z": r"\Z"}

_compiled: Dict[str, Any] = {}


def compiled(pattern: str) -> Any:
    """Return the compiled pattern; ``ValueError`` names a construct that Go or both do
    not support.
    """
    import re

    if pattern not in _compiled:
        text, flags = translate(pattern)
        try:
            # Go's classes \d, \w, \s and \b match only ASCII.
            _compiled[pattern] = re.compile(text, flags | re.ASCII)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError("%r is not a regular expression: %s" % (pattern, error)) from error
    return _compiled[pattern]


def translate(pattern: str) -> Tuple[str, int]:
    """Return the pattern in Python's syntax, and its flags."""
    import re

    flags, at = 0, 0
    if pattern.startswith("(?") and pattern[2:3] in tuple("imsU"):
        letters, closed, _ = pattern[2:].partition(")")
        if closed and letters.isalpha():
            for letter in letters:
                if letter not in "ims":
                    raise ValueError("the flag %r of %r is not supported" % (letter, pattern))
                flags |= {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}[letter]
            at = 3 + len(letters)
    return _Translation(pattern, at, bool(flags & re.MULTILINE)).text(), flags


class _Translation(object):
    """One pass over a pattern."""

    def __init__(self, pattern: str, at: int, multiline: bool) -> None:
        self._pattern = pattern
        self._at = at
        self._multiline = multiline
        self._out: List[str] = []

    def text(self) -> str:
        """Translate everything from here to the end of the pattern."""
        while self._at < len(self._pattern):
            sign = self._pattern[self._at]
            if sign == "\\":
                self._escape(in_class=False)
            elif sign == "[":
                self._class()
            elif sign == "(":
                self._group()
            elif sign in "*+?}" and self._pattern[self._at + 1 : self._at + 2] == "+":
                raise self._unknown("a possessive repetition such as a++")
            elif sign == "$" and not self._multiline:
                self._put(r"\Z", 1)  # Python's $ also matches before a final newline
            else:
                self._put(sign, 1)
        return "".join(self._out)

    def _put(self, text: str, length: int) -> None:
        self._out.append(text)
        self._at += length

    def _unknown(self, what: str) -> ValueError:
        return ValueError("%r: goss does not support %s" % (self._pattern, what))

    def _group(self) -> None:
        rest = self._pattern[self._at :]
        if not rest.startswith("(?"):
            self._put("(", 1)
        elif rest.startswith(("(?=", "(?!", "(?<=", "(?<!")):
            raise self._unknown("look-around")
        elif rest.startswith("(?<"):
            self._put("(?P<", 3)
        elif rest.startswith(_GROUPS):
            self._put(rest[:3], 3)
        else:
            flags, colon, _ = rest[2:].partition(":")
            if not colon or not flags or flags.strip("ims"):
                raise self._unknown("the group %r" % rest[:4])
            self._put("(?%s:" % flags, 3 + len(flags))

    def _escape(self, in_class: bool) -> None:
        letter = self._pattern[self._at + 1 : self._at + 2]
        if not letter:
            raise ValueError("%r ends with a lone backslash" % self._pattern)
        if letter == "z":
            self._put(r"\Z", 2)
        elif letter == "Q":
            end = self._pattern.find(r"\E", self._at)
            end = end if end >= 0 else len(self._pattern)
            import re

            literal = self._pattern[self._at + 2 : end]
            self._put(re.escape(literal), end + 2 - self._at)
        elif letter == "x":
            self._code_point()
        elif letter in _REFUSED_ESCAPES:
            raise ValueError("%r: %s is not supported" % (self._pattern, _REFUSED_ESCAPES[letter]))
        elif letter in "123456789":
            raise self._unknown("back-reference")
        elif letter.isalpha() and letter not in _SAME_ESCAPES:
            raise self._unknown("escape \\%s" % letter)
        elif letter.isalnum() or not in_class or letter in r"\]^-[&~|":
            self._put("\\" + letter, 2)
        else:
            self._put(letter, 2)

    def _code_point(self) -> None:
        rest = self._pattern[self._at + 2 :]
        digits = rest[1:].partition("}")[0] if rest.startswith("{") else rest[:2]
        length = 2 + len(digits) + (2 if rest.startswith("{") else 0)
        try:
            self._put("\\U%08x" % int(digits, 16), length)
        except ValueError:
            raise ValueError("%r: \\x requires two hexadecimal digits" % self._pattern) from None

    def _class(self) -> None:
        """Translate a class in brackets; in Python, a bare ``[`` or ``&&`` may have another
        meaning.
        """
        self._put("[", 1)
        if self._pattern[self._at : self._at + 1] == "^":
            self._put("^", 1)
        if self._pattern[self._at : self._at + 1] == "]":
            self._put(r"\]", 1)
        while self._at < len(self._pattern):
            rest = self._pattern[self._at :]
            if rest[0] == "]":
                return self._put("]", 1)
            if rest.startswith("[:"):
                self._named_class(rest)
            elif rest[0] == "\\":
                self._escape(in_class=True)
            elif rest[0] in "[&~|":
                self._put("\\" + rest[0], 1)
            else:
                self._put(rest[0], 1)
        raise ValueError("%r: a [ is not closed" % self._pattern)

    def _named_class(self, rest: str) -> None:
        name = rest[2:].partition(":]")[0]
        if name not in _CLASSES:
            raise ValueError("%r: there is no class [:%s:]" % (self._pattern, name[:20]))
        self._put(_CLASSES[name], len(name) + 4)
