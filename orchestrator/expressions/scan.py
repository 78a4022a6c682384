"""Finds the expressions in a string, and the calls of templates in them (controller).

``{{ expr }}`` and ``${ expr }`` (with a blank or a tab after the brace) are expressions; everything
else is plain text: ``${NAME}``, ``$NAME``, ``{%``, ``{#``. An expression ends at the first closing
brace outside its string literals and brackets, so ``{{ '}}' }}`` and ``{{ {'a': {'b': 1}} }}`` are
one expression each.
"""

import re
from typing import NamedTuple

_OPENER = r"\{\{|\$\{(?=[ \t])"
_TOKEN = r"""(?s)'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`[^`]*`|/\*.*?\*/|[{}'"]"""


class Span(NamedTuple):
    """One expression: its source without the braces, and its start and end in the text."""

    source: str
    start: int
    end: int


class UnclosedError(ValueError):
    """An expression is not closed; ``start`` is its offset in the text."""

    def __init__(self, opener: str, start: int) -> None:
        closer = "}}" if opener == "{{" else "}"
        super().__init__(f"{opener} is not closed: {closer} is missing")
        self.start = start


def holds_expression(text: str) -> bool:
    """Whether the text contains anything other than plain text; cheap."""
    return ("{{" in text or "${" in text) and re.search(_OPENER, text) is not None


def scan(text: str) -> list[Span]:
    """Every expression of the text, in order; UnclosedError."""
    found = []
    at = 0
    openers = re.compile(_OPENER)
    while opener := openers.search(text, at):
        end = _end_of(text, opener)
        closer = 2 if opener.group() == "{{" else 1
        found.append(Span(text[opener.end() : end - closer], opener.start(), end))
        at = end
    return found


def _end_of(text: str, opener: re.Match[str]) -> int:
    double = opener.group() == "{{"
    depth = 0
    at = opener.end()
    tokens = re.compile(_TOKEN)
    while token := tokens.search(text, at):
        at = token.end()
        mark = token.group()
        if mark == "{":
            depth += 1
        elif mark == "}" and depth:
            depth -= 1
        elif mark == "}":
            if not double:
                return at
            if text.startswith("}", at):
                return at + 1
        elif len(mark) == 1:
            break  # an unclosed quote
    raise UnclosedError(opener.group(), opener.start())


BLOCKS = ("{%", "{#")
"""Delimiters that only whole templates have."""
JINJA = ("{{", *BLOCKS)
"""Delimiters of Jinja2; a string with none of these is not a template."""
_JET = ("[[", "[*", "{*", "\n")


class TemplateCall(NamedTuple):
    """A literal call: ``jet`` or ``template``, its template, and the names that it adds."""

    function: str
    text: str
    names: tuple[str, ...]

    @property
    def is_jet(self) -> bool:
        """Whether it calls ``jet()``."""
        return self.function == "jet" or self.text.endswith(".jet")

    @property
    def is_file(self) -> bool:
        """Whether the argument is a file name rather than a template."""
        if self.function == "jet":
            return not any(sign in self.text for sign in _JET)
        return not is_template(self.text)


def is_template(text: str) -> bool:
    """Whether the argument of ``template()`` is a template rather than a file name."""
    return "\n" in text or holds_expression(text) or any(sign in text for sign in BLOCKS)
