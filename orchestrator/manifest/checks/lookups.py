"""The lookups of ``ccm.ask`` that expressions and templates read, and which of these are not
declared (controller).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from orchestrator.expressions import Expression
from orchestrator.language.cursor import Positions
from orchestrator.manifest.checks.schema_errors import suggestion
from remote_runtime.errors import Position, Problem

if TYPE_CHECKING:
    from orchestrator.manifest.lookups import Asks

ASKED = "Asked"
_HEADER = "#jinja2:"
_READ = re.compile(
    r"\bAsked\b(?:\??\.(?P<name>[A-Za-z_]\w*)(?!\w*\s*\()"
    r"|\[\s*(?P<sign>['\"])(?P<text>[^'\"]+)(?P=sign)\s*\])?"
    r"(?:\??\.(?P<value>[A-Za-z_]\w*)(?!\w*\s*\()|\[\s*['\"](?P<key>[^'\"]+)['\"]\s*\])?"
)
"""Matches where an expression reads answers: the name is written in one of two ways or computed,
and so is the value of the answer.
"""
_TEXT = re.compile(r"(\[\s*(?:'[^']*'|\"[^\"]*\")\s*\])|'[^']*'|\"[^\"]*\"")
"""Matches a key in brackets, which is kept, or a string literal."""
_JINJA = "jinja"
_BLOCK = ("{%", "%}")
_COMMENT = {
    _JINJA: r"\{%[-+]?\s*raw\b.*?\{%[-+]?\s*endraw\b|\{#.*?#\}",
    "jet": r"\{\*.*?\*\}|\[\*.*?\*\]",
    "go": r"/\*.*?\*/",
}
"""Matches the parts that each template language ignores, even if they contain delimiters."""


def names_read(source: str) -> Iterator[str]:
    """Yield the literal lookups in an expression or a template; "" for a computed one."""
    if ASKED not in source:
        return
    for match in _READ.finditer(source):
        yield match["name"] or match["text"] or ""


def unknown_names(
    expressions: Iterable[Expression], declared: Iterable[str], asks: Asks | None = None
) -> list[Problem]:
    """A problem for each expression that reads a lookup that the manifest does not declare, or a
    value that the answer to one of its ``asks`` never has.
    """
    known = list(declared)
    return [
        problem
        for expression in expressions
        for match in _READ.finditer(_without_texts(expression.source))
        for problem in _wrong(match, known, asks or {}, expression.where)
    ]


def _wrong(
    match: re.Match[str], known: list[str], asks: Asks, where: Position | None
) -> Iterator[Problem]:
    name, value = match["name"] or match["text"], match["value"] or match["key"]
    if name and name not in known:
        yield undeclared(name, known, where)
    elif name in asks and value and value not in asks[name].answers:
        answers = asks[name].answers
        hint = suggestion(value, answers) or f"its values: {', '.join(answers)}"
        message = f"the answer to {asks[name].kind} has no value {value!r}"
        yield Problem(message, where, hint, "template")


def unknown_in_template(
    text: str, file: str, asks: Asks, syntax: tuple[str, tuple[str, str]]
) -> list[Problem]:
    """The same for the text of a template, with the position of each problem in ``file``;
    ``syntax``: its engine and the delimiters of its code.
    """
    if ASKED not in text:
        return []
    known, place = list(asks), Positions(file, text)
    return [
        problem
        for match in _READ.finditer(_without_texts(_code(text, *syntax)))
        for problem in _wrong(match, known, asks, place.of(match.start()))
    ]


def undeclared(name: str, known: list[str], where: Position | None) -> Problem:
    """The problem of an undeclared lookup."""
    hint = suggestion(name, known) if known else "declare it under ccm.ask"
    return Problem(f"the manifest declares no lookup {name!r}", where, hint, "template")


def _code(text: str, engine: str, delimiters: tuple[str, str]) -> str:
    """The text of a template with everything except code replaced by spaces."""
    if engine == _JINJA and text.startswith(_HEADER):
        return text  # it may have other delimiters
    text = re.sub(_COMMENT[engine], lambda match: _blank(match[0]), text, flags=re.DOTALL)
    code = "|".join(
        rf"{re.escape(left)}(?:'[^'\n]*'|\"[^\"\n]*\"|(?!{re.escape(right)}).)*{re.escape(right)}"
        for left, right in (delimiters, *([_BLOCK] if engine == _JINJA else ()))
    )
    kept, end = [], 0
    for match in re.finditer(code, text, re.DOTALL):
        kept += [_blank(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*kept, _blank(text[end:])])


def _without_texts(code: str) -> str:
    """Return the code with spaces in place of its string literals, except keys in brackets."""
    return _TEXT.sub(lambda match: match[1] or _blank(match[0]), code)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)
