"""Scans a YAML text into units with their positions and their new columns (controller).

A unit is a part of a line that is written as one piece: a dash, a key, a colon, a value. The parser
yields tokens with positions. Only spaces and comments are between two tokens.
"""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import yaml
from yaml.tokens import (
    AliasToken,
    AnchorToken,
    BlockEndToken,
    BlockEntryToken,
    BlockMappingStartToken,
    BlockSequenceStartToken,
    DirectiveToken,
    DocumentEndToken,
    DocumentStartToken,
    FlowMappingEndToken,
    FlowMappingStartToken,
    FlowSequenceEndToken,
    FlowSequenceStartToken,
    KeyToken,
    ScalarToken,
    StreamEndToken,
    StreamStartToken,
    TagToken,
    ValueToken,
)

STEP = 2
"""Columns per level of indentation."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BREAK = re.compile("\r\n|\r|\n")
_HEADER = re.compile(r"[|>][-+0-9]*")
_OPENING = (FlowMappingStartToken, FlowSequenceStartToken)
_CLOSING = (FlowMappingEndToken, FlowSequenceEndToken)
_MARKERS = (DocumentStartToken, DocumentEndToken, DirectiveToken)


class Level(NamedTuple):
    """An open block map or list: its column in the text and in the result."""

    old: int
    new: int
    is_list: bool
    implied: bool = False  # a list in the column of the key above it


@dataclass
class Unit:
    """A piece of the text; lines and columns count from 0.

    ``indent`` is its new column if it is the first on its line, ``inner`` the column of its other
    lines.
    """

    kind: str  # dash, question, colon, property, alias, scalar, block, flow, marker
    line: int
    column: int
    end_line: int
    end_column: int
    indent: int
    inner: int
    levels: tuple[Level, ...]
    tokens: list[Any]


class Scan:
    """One text with its lines, and the units on them."""

    def __init__(self, text: str) -> None:
        self.lines = _BREAK.split(text)
        self.lines[-1] = self.lines[-1] if self.lines[-1].strip() else ""
        self.tokens = _tokens(text)
        self.units: list[Unit] = []
        self._levels: list[Level] = []
        self._is_entry = False
        at = 0
        while at < len(self.tokens):
            at = self._take(at)

    def _take(self, at: int) -> int:
        token = self.tokens[at]
        if isinstance(token, (BlockMappingStartToken, BlockSequenceStartToken)):
            self._open(token)
        elif isinstance(token, BlockEndToken):
            self._leave_implied()
            self._levels.pop()
        elif isinstance(token, KeyToken):
            self._leave_implied()
            self._is_entry = True
            if token.end_mark.index > token.start_mark.index:
                self._add("question", [token], self._column)
                self._is_entry = False
        elif isinstance(token, ValueToken):
            self._add("colon", [token], self._column)
            self._is_entry = False
        elif isinstance(token, BlockEntryToken):
            self._add_dash(token)
        elif isinstance(token, _MARKERS):
            self._add("marker", [token], 0)
        elif isinstance(token, _OPENING):
            end = self._end_of_flow(at)
            self._add_value("flow", self.tokens[at : end + 1])
            return end + 1
        elif isinstance(token, (AnchorToken, TagToken)):
            self._add("property", [token], self._value_column)
        else:
            self._add_value("alias" if isinstance(token, AliasToken) else _style(token), [token])
        return at + 1

    @property
    def _column(self) -> int:
        """The new column of the entries of the innermost map or list."""
        return self._levels[-1].new if self._levels else 0

    @property
    def _value_column(self) -> int:
        """The new column of the next unit, if it begins a line."""
        return self._column if self._is_entry or not self._levels else self._column + STEP

    def _open(self, token: Any) -> None:
        new = self._levels[-1].new + STEP if self._levels else 0
        is_list = isinstance(token, BlockSequenceStartToken)
        self._levels.append(Level(token.start_mark.column, new, is_list))
        self._is_entry = False

    def _leave_implied(self) -> None:
        if self._levels and self._levels[-1].implied:
            self._levels.pop()

    def _add_dash(self, token: Any) -> None:
        if not self._levels or not self._levels[-1].is_list:
            column = token.start_mark.column
            self._levels.append(Level(column, self._column + STEP, True, implied=True))
        self._add("dash", [token], self._column)
        self._is_entry = False

    def _add_value(self, kind: str, tokens: list[Any]) -> None:
        self._add(kind, tokens, self._value_column)
        self._is_entry = False

    def _add(self, kind: str, tokens: list[Any], indent: int) -> None:
        start, end = tokens[0].start_mark, tokens[-1].end_mark
        line, column = end.line, end.column
        if kind == "block":
            header = _HEADER.match(self.lines[start.line], start.column)
            assert header is not None  # a block text begins with | or >
            line, column = start.line, header.end()
        inner = self._column + STEP if self._levels else 0
        if kind == "flow":
            inner = self._column
        place = (start.line, start.column, line, column)
        self.units.append(Unit(kind, *place, indent, inner, tuple(self._levels), tokens))

    def _end_of_flow(self, at: int) -> int:
        depth = 0
        for index in range(at, len(self.tokens)):
            token = self.tokens[index]
            depth += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
            if depth == 0:
                return index
        raise AssertionError("the parser accepted a bracket that is not closed")

    def text(self, unit: Unit) -> str:
        """The text of a unit on a single line."""
        return self.lines[unit.line][unit.column : unit.end_column]

    def block_body(self, unit: Unit) -> tuple[int, int]:
        """The first line after the body of a block text, and the column of its content.

        Blank lines after the last line belong to it only if the header has a plus.
        """
        header = self.text(unit)
        parent = unit.levels[-1].old if unit.levels else -1
        digits = re.sub(r"\D", "", header)
        indent = max(parent, 0) + int(digits) if digits else -1
        end = at = unit.line + 1
        while at < len(self.lines):
            line = self.lines[at]
            width = len(line) - len(line.lstrip(" "))
            if width < len(line) or (0 <= indent < width):
                if indent < 0:
                    indent = max(width, parent + 1)
                if width < indent:
                    break
                end = at + 1
            at += 1
        if "+" in header:
            end = at if at < len(self.lines) or self.lines[-1] else len(self.lines) - 1
        return max(end, unit.line + 1), max(indent, 0)


def _style(token: Any) -> str:
    return "block" if isinstance(token, ScalarToken) and token.style in ("|", ">") else "scalar"


def _tokens(text: str) -> list[Any]:
    edges = (StreamStartToken, StreamEndToken)
    return [token for token in yaml.scan(text, Loader=_Loader) if not isinstance(token, edges)]
