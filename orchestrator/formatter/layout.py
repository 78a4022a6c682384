"""Writes the lines of a YAML text with canonical indentation and spaces (controller)."""

import re
from typing import NamedTuple

from yaml.tokens import (
    FlowMappingEndToken,
    FlowMappingStartToken,
    FlowSequenceEndToken,
    FlowSequenceStartToken,
)

from orchestrator.formatter.flow_style import Rank, flow_text, scalar_text
from orchestrator.formatter.yaml_scan import STEP, Level, Scan, Unit

COMMENT_GAP = 2
"""The minimum number of spaces between a value and a comment after it."""

_OPENING = (FlowMappingStartToken, FlowSequenceStartToken)
_CLOSING = (FlowMappingEndToken, FlowSequenceEndToken)

Ranks = dict[tuple[int, int], Rank]
"""The order of properties for maps in brackets, by line and column."""


class _Line(NamedTuple):
    """A line of the result. A ``fixed`` one is part of a string, even if it is blank."""

    text: str
    fixed: bool = False


class Layout:
    """The canonical lines of one text, and the comments that it contains."""

    def __init__(self, text: str, ranks: Ranks | None = None) -> None:
        self.scan = Scan(text)
        self._ranks = ranks or {}
        self._out: dict[int, _Line] = {}
        self.comments: list[str] = []
        self._by_line: dict[int, list[Unit]] = {}
        for unit in self.scan.units:
            self._by_line.setdefault(unit.line, []).append(unit)
        for line in sorted(self._by_line):
            if line not in self._out:
                self._write_line(line)
            self._write_further_lines(self._by_line[line][-1])
        self._write_comments()

    def result(self) -> str:
        """The text without blank lines in a row or at the edges, and with one final line end."""
        kept: list[_Line] = []
        for number in range(len(self.scan.lines)):
            line = self._out.get(number, _Line(""))
            if line.text or line.fixed or (kept and (kept[-1].text or kept[-1].fixed)):
                kept.append(line)
        while kept and not (kept[-1].text or kept[-1].fixed):
            kept.pop()
        return "".join(f"{line.text}\n" for line in kept)

    def _write_line(self, number: int) -> None:
        raw = self.scan.lines[number]
        text = ""
        last: Unit | None = None
        for unit in self._by_line[number]:
            if last is None:
                text = " " * unit.indent
            elif unit.kind != "colon" or last.kind == "alias":
                text += " "
            text += self._text(unit)
            last = unit
            if unit.end_line > number:
                self._out[number] = _Line(text)
                return
        assert last is not None
        self._out[number] = _Line(text + self._comment_behind(raw[last.end_column :]))

    def _text(self, unit: Unit) -> str:
        raw = self.scan.lines[unit.line]
        if unit.end_line > unit.line:
            if unit.kind == "flow":
                self._note_flow_comments(unit)
            return _without_blanks_behind(raw[unit.column :])
        if unit.kind == "flow":
            ranks = {column: rank for (at, column), rank in self._ranks.items() if at == unit.line}
            return flow_text(raw, unit.tokens, ranks)
        text = self.scan.text(unit)
        if unit.kind == "scalar":
            return scalar_text(text, unit.tokens[0])
        if unit.kind == "block":
            return self._header(unit, text)
        return text

    def _header(self, unit: Unit, text: str) -> str:
        """The header of a block text. At the end of a file without a line end, it gets a minus: the
        result has a line end there, which must not become a part of the text.
        """
        end, _ = self.scan.block_body(unit)
        if end == len(self.scan.lines) and self.scan.lines[-1]:
            text = re.sub(r"[-+]", "", text) + "-"
        return re.sub(r"\d+", str(STEP), text)

    def _comment_behind(self, rest: str) -> str:
        comment = rest.strip()
        if not comment:
            return ""
        self.comments.append(comment)
        gap = rest[: len(rest) - len(rest.lstrip())]
        return " " * (COMMENT_GAP if "\t" in gap else max(len(gap), COMMENT_GAP)) + comment

    def _write_further_lines(self, unit: Unit) -> None:
        """Write the lines of a string or of brackets after the first one."""
        lines = self.scan.lines
        if unit.kind == "block":
            end, indent = self.scan.block_body(unit)
            for number in range(unit.line + 1, end):
                content = lines[number][indent:]
                self._out[number] = _Line(" " * unit.inner + content if content else "", True)
            return
        for number in range(unit.line + 1, unit.end_line + 1):
            content = _without_blanks_behind(lines[number].lstrip(" \t"))
            inner = unit.inner + self._depth(unit, number) * STEP
            self._out[number] = _Line(" " * inner + content if content else "", True)
        if unit.end_line > unit.line and unit.kind != "flow":
            self._comment_behind(lines[unit.end_line][unit.end_column :])

    def _depth(self, unit: Unit, number: int) -> int:
        """Return the open brackets at the start of a line, except the ones that it first closes."""
        if unit.kind != "flow":
            return 0
        depth = 0
        for token in unit.tokens:
            if token.start_mark.line >= number:
                if token.start_mark.line > number or not isinstance(token, _CLOSING):
                    break
                before = self.scan.lines[number][: token.start_mark.column]
                if before.strip(" \t]}"):
                    break
            depth += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
        return depth

    def _note_flow_comments(self, unit: Unit) -> None:
        """Record the comments between the tokens of brackets on several lines, and after them."""
        ends = [(t.end_mark.line, t.end_mark.column) for t in unit.tokens]
        starts = [(t.start_mark.line, t.start_mark.column) for t in unit.tokens[1:]]
        lines = self.scan.lines
        starts.append((ends[-1][0], len(lines[ends[-1][0]])))
        for (line, column), (until, until_column) in zip(ends, starts, strict=True):
            for number in range(line, until + 1):
                begin = column if number == line else 0
                end = until_column if number == until else len(lines[number])
                self.comments += [part for part in [lines[number][begin:end].strip()] if part]

    def _write_comments(self) -> None:
        """Write the lines that are only a comment, in the column of their unit."""
        following: list[Unit] = []
        waiting: list[int] = []
        for number in reversed(range(len(self.scan.lines))):
            units = self._by_line.get(number)
            if units:
                for line in waiting:
                    self._write_comment(line, units[-1].levels, following)
                following, waiting = units, []
            elif number not in self._out and self.scan.lines[number].strip():
                waiting.append(number)
        for line in waiting:
            self._write_comment(line, (), following)

    def _write_comment(self, number: int, levels: tuple[Level, ...], following: list[Unit]) -> None:
        """Write a comment between the open ``levels`` of the line above and the line that follows.

        A comment indented deeper than a key does not belong to the key (see ``comments_before``),
        and is kept there.
        """
        raw = self.scan.lines[number]
        comment = raw.strip()
        self.comments.append(comment)
        old = len(raw) - len(raw.lstrip())
        enclosing = [one.new for one in levels if one.old < old + (not one.implied)]
        new = enclosing[-1] if enclosing else 0
        if following:
            new = _beside(following, levels, old, new)
        self._out[number] = _Line(" " * new + comment)


def _beside(following: list[Unit], levels: tuple[Level, ...], old: int, new: int) -> int:
    """The column of a comment above a line, ``new`` if nothing in that line decides."""
    first = following[0]
    dashes = [unit for unit in following if unit.kind == "dash"]
    if old == first.column:
        return first.indent
    if len(dashes) == len(following):
        return new if old > first.column else min(new, first.indent)
    key = following[len(dashes)]
    column = first.indent + STEP * len(dashes)
    if old <= key.column:
        return min(new, column)
    deeper = (level.new for level in levels if level.new > column)
    return max(new, next(deeper, column + (STEP if key.kind == "flow" else 1)))


def _without_blanks_behind(text: str) -> str:
    """The text without trailing spaces, except after a backslash, to which they belong."""
    bare = text.rstrip(" \t")
    return text if bare.endswith("\\") else bare
