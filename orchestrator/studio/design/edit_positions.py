"""The positions of an edit in a YAML text (controller).

The lines of an entry are its value, the comments directly above it in its column, and the comments
after it that are indented deeper. Blank lines between entries are kept in place.
"""

import re
from typing import NamedTuple

from orchestrator.studio.design.value_spans import Span
from orchestrator.studio.design.yaml_writer import YamlLines

_TAIL = re.compile(r"[ \t]+#[^\n]*|[ \t]+(?=\r?$)", re.MULTILINE)
_BLANK = re.compile(r"(?:[ \t]*\r?\n)+")


class Splice(NamedTuple):
    """``text[start:end]`` is replaced by ``new``, whose lines end with only a newline."""

    start: int
    end: int
    new: str


def apply(text: str, splices: list[Splice]) -> str:
    """Apply edits that do not overlap to the text; new lines get the line ends of the text."""
    ending = "\r\n" if "\r\n" in text else "\n"
    for one in sorted(splices, reverse=True):
        new = one.new.replace("\n", ending) if ending != "\n" else one.new
        text = text[: one.start] + new + text[one.end :]
    return text


class Places:
    """Finds the lines of entries in block collections, and positions between entries
    in brackets.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def column(self, index: int) -> int:
        """The column of a character, from 0."""
        return index - (self._text.rfind("\n", 0, index) + 1)

    def added(self, span: Span, at: int, lines: list[str]) -> list[Splice]:
        """Insert the lines of a new entry of a block collection at its position."""
        text = "\n".join(lines)
        count = len(span.values)
        if at == 0 and not self._is_first_on_line(span.head(0)):
            head = span.head(0)
            column = self.column(head)
            return [Splice(head, head, text.lstrip(" ") + "\n" + " " * column)]
        if at == 0:
            start = self._begin(span, 0)
            blank = "\n" if count > 1 and self._gap(span, 0) else ""
            return [Splice(start, start, f"{text}\n{blank}")]
        end = self._end(span, at - 1)
        near = at - 2 if at > 1 else 0
        blank = "\n" if count > 1 and self._gap(span, near) else ""
        if end and self._text[end - 1] == "\n":
            return [Splice(end, end, f"{blank}{text}\n")]
        return [Splice(end, end, f"\n{blank}{text}")]

    def removed(self, span: Span, at: int) -> list[Splice]:
        """Remove an entry that is not the only one in a block collection."""
        if span.flow:
            return [self._removed_in_brackets(span, at)]
        head = span.head(at)
        end = self._end(span, at)
        if not self._is_first_on_line(head):
            return [self._removed_behind_dash(span, at)]
        start = self._begin(span, at)
        if at + 1 < len(span.values):
            between = self._begin(span, at + 1)
            if _BLANK.fullmatch(self._text, end, between):
                end = between
        else:
            before = self._end(span, at - 1)
            if _BLANK.fullmatch(self._text, before, start):
                start = before
        return [Splice(start, end, "")]

    def _removed_behind_dash(self, span: Span, at: int) -> Splice:
        """Remove the first key of a map after a dash; the next key moves up."""
        head, following = span.head(at), span.head(at + 1)
        end = self._end_of_line(span.values[at].end)
        if self._text[end:following].strip() or "#" in self._text[span.values[at].end : end]:
            tail = _TAIL.match(self._text, span.values[at].end)
            start = head - (self._text[head - 1] == " ")
            return Splice(start, tail.start() if tail else span.values[at].end, "")
        return Splice(head, following, "")

    def _removed_in_brackets(self, span: Span, at: int) -> Splice:
        start, end = self._entry(span, at)
        if at + 1 < len(span.values):
            following = self._entry(span, at + 1)[0]
            if "#" not in self._text[end:following]:
                return Splice(start, following, "")
            comma = self._text.find(",", end, following)
            return Splice(start, comma + 1 if comma >= 0 else end, "")
        if at and "#" not in self._text[self._entry(span, at - 1)[1] : start]:
            return Splice(self._entry(span, at - 1)[1], end, "")
        return Splice(start, end, "")

    def _entry(self, span: Span, at: int) -> tuple[int, int]:
        value = span.values[at]
        return (span.keys[at].start if span.kind == "map" else value.start), value.end

    def inserted(self, span: Span, at: int, new: str) -> Splice:
        """Put a new entry between brackets."""
        if not span.values:
            return Splice(
                span.start, span.end, f"{self._text[span.start]}{new}{self._text[span.end - 1]}"
            )
        if at < len(span.values):
            start = self._entry(span, at)[0]
            return Splice(start, start, f"{new}, ")
        end = self._entry(span, len(span.values) - 1)[1]
        return Splice(end, end, f", {new}")

    def moved(self, span: Span, index: int, to: int) -> list[Splice]:
        """Swap the lines of entries; lines between them do not move."""
        low, high = min(index, to), max(index, to)
        order = list(range(low, high + 1))
        order.insert(to - low, order.pop(index - low))
        find = self._entry if span.flow else self._piece
        pieces = [find(span, at) for at in range(low, high + 1)]
        texts = [self._text[slice(*pieces[at - low])] for at in order]
        return [Splice(*piece, text) for piece, text in zip(pieces, texts)]

    def _piece(self, span: Span, at: int) -> tuple[int, int]:
        """The lines of an entry without their indentation and without the last line break."""
        start = self._begin(span, at)
        head = span.head(at)
        if not self._is_first_on_line(head):
            return head, self._without_break(self._end(span, at))
        return start + self.column(head), self._without_break(self._end(span, at))

    def _without_break(self, end: int) -> int:
        if end and self._text[end - 1] == "\n":
            end -= 1
        if end and self._text[end - 1] == "\r":
            end -= 1
        return end

    def replaced(self, parent: Span, at: int, new: YamlLines) -> Splice:
        """Write a new value for an entry of a block collection; a comment on its line is kept."""
        span = parent.values[at]
        lead = self._lead(parent, at)
        on_lead = span.kind != "scalar" or span.start >= lead
        if not new.body and not span.is_block and span.style not in ("|", ">") and on_lead:
            blank = " " if span.start == lead else ""
            return Splice(span.start, span.end, blank + new.first)
        start, end = lead, span.end
        line = self._text[lead : min(self._end_of_line(lead), self._first(span))]
        tail = ""
        if span.style in ("|", ">"):
            line = self._text[span.start : self._end_of_line(span.start)]
        else:
            found = _TAIL.match(self._text, span.end)
            end += len(found.group()) if found else 0
            tail = found.group() if found and not span.is_block else ""
        comment = re.search(r"[ \t]+#[^\r\n]*", line)
        tail = (comment.group() if comment else "") + tail.rstrip()
        first = f" {new.first}" if new.first else ""
        body = "".join(f"\n{line}" for line in new.body)
        if not first and not tail and self._text[lead - 1] == "-" and new.body:
            return Splice(start, end, " " + "\n".join(new.body).lstrip(" "))
        return Splice(start, end, first + tail + body)

    def _first(self, span: Span) -> int:
        return span.head(0) if span.is_block and span.values else span.start

    def _lead(self, parent: Span, at: int) -> int:
        """The position of the value after the colon or the dash of an entry."""
        if parent.kind == "list":
            return parent.dashes[at] + 1
        return self._text.index(":", parent.keys[at].end) + 1

    def _is_first_on_line(self, index: int) -> bool:
        return not self._text[index - self.column(index) : index].strip()

    def _end_of_line(self, index: int) -> int:
        found = self._text.find("\n", index)
        return len(self._text) if found < 0 else found

    def _begin(self, span: Span, at: int) -> int:
        """The beginning of the first line of an entry or of the comments directly above it."""
        head = span.head(at)
        column = self.column(head)
        start = head - column
        least = self._end(span, at - 1) if at else 0
        while start > least:
            above = self._text.rfind("\n", 0, start - 1) + 1
            line = self._text[above:start]
            if above < least or len(line) - len(line.lstrip(" ")) != column:
                break
            if not line.lstrip(" ").startswith("#"):
                break
            start = above
        return start

    def _end(self, span: Span, at: int) -> int:
        """The position after the last line of an entry, with its line break."""
        column = self.column(span.head(at))
        end = min(self._end_of_line(span.values[at].end) + 1, len(self._text))
        found = end
        while end < len(self._text):
            following = min(self._end_of_line(end) + 1, len(self._text))
            line = self._text[end:following]
            bare = line.strip()
            if bare and not (bare[0] == "#" and len(line) - len(line.lstrip(" ")) > column):
                break
            end = following
            found = end if bare else found
        return found

    def _gap(self, span: Span, at: int) -> bool:
        """Whether a blank line follows an entry that is not the last one."""
        if at + 1 >= len(span.values):
            return False
        end = self._end(span, at)
        return bool(_BLANK.match(self._text, end, self._begin(span, at + 1)))
