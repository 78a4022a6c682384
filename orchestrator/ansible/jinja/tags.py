"""The tags of a template and the text between them (controller)."""

import re
from dataclasses import dataclass

from orchestrator.ansible.problems import NotConvertible

_TAG = re.compile(r"\{\{|\{%|\{#")
_RAW_END = re.compile(r"\{%[-+]?\s*endraw\s*[-+]?%\}")
_LITERAL = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)


@dataclass
class Piece:
    """A part of a template: plain text, an expression, a statement or a comment."""

    kind: str
    text: str
    before: str = ""  # the tag's beginning with its sign and blanks
    after: str = ""
    line: int = 1


def pieces(text: str) -> list[Piece]:
    """The parts of a template; NotConvertible if a tag has no end."""
    found: list[Piece] = []
    position = 0
    while True:
        match = _TAG.search(text, position)
        if match is None:
            break
        start = match.start()
        found.append(Piece("text", text[position:start]))
        line = text.count("\n", 0, start) + 1
        end = _end(text, start)
        found.append(_tag(text[start:end], line))
        position = end
        if found[-1].kind == "statement" and found[-1].text == "raw":
            close = _RAW_END.search(text, position)
            if close is None:
                raise NotConvertible("{% raw %} without {% endraw %}")
            found.append(Piece("text", text[position : close.end()]))
            position = close.end()
    found.append(Piece("text", text[position:]))
    return found


def _end(text: str, start: int) -> int:
    close = {"{{": "}}", "{%": "%}", "{#": "#}"}[text[start : start + 2]]
    position, depth = start + 2, 0
    while position < len(text):
        if close != "#}":
            quoted = _LITERAL.match(text, position)
            if quoted:
                position = quoted.end()
                continue
            depth += text[position] == "{"
            if text[position] == "}" and depth:
                depth -= 1
                position += 1
                continue
        if text.startswith(close, position):
            return position + 2
        position += 1
    raise NotConvertible("a tag without an end tag")


def _tag(text: str, line: int) -> Piece:
    if text.startswith("{#"):
        return Piece("comment", text, line=line)
    inner = text[2:-2]
    before, after = text[:2], text[-2:]
    if inner[:1] in "-+" and inner:
        before, inner = before + inner[0], inner[1:]
    if inner[-1:] in ("-", "+"):
        after, inner = inner[-1] + after, inner[:-1]
    body = inner.strip()
    left = inner[: len(inner) - len(inner.lstrip())]
    right = inner[len(inner.rstrip()) :] if body else ""
    kind = "expression" if text.startswith("{{") else "statement"
    return Piece(kind, body, before + left, right + after, line)
