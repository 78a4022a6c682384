"""Edits of whole lines: one line, a block between markers, and replacements in lines (target).

Each takes a ``Document`` and changes it. ``present`` adds or changes the part, ``absent`` removes
it. Neither changes a file in the desired state. ``part`` is the part in its current form in the
file.
"""

from typing import Any, List, Optional, Tuple

from remote_runtime.resources.edit.document import Document, Place
from remote_runtime.text.linear_regex import Pattern, Template

MARK = "{mark}"
MARKER = "# {mark} managed by ccm"
_MAX_LENGTH = 64 << 10  # characters of a line in which something is replaced


class LineEdit(object):
    """One line: it replaces the last line that matches ``match``, or is added."""

    def __init__(self, line: Optional[str], match: Optional[str], place: Place) -> None:
        self._line, self._place = line, place
        self._match = None if match is None else Pattern(match)

    def present(self, document: Document) -> None:
        """Make the line exist, once."""
        line = str(self._line)
        match = self._match
        same = [at for at, text in enumerate(document.texts) if text == line]
        if match is not None:
            if same and not match.matches(line):
                return  # as an earlier run left it
            numbers = document.matching(match)
            if numbers:
                document.replace(numbers[-1], numbers[-1] + 1, [line])
                return
        if not any(self._place.holds(document, at) for at in same):
            document.insert(self._place.find(document), [line])

    def absent(self, document: Document) -> None:
        """Remove every line that matches ``match``; without it, every identical line."""
        for at in reversed(self._found(document)):
            document.remove(at, at + 1)

    def part(self, document: Document) -> Any:
        """The lines that this edit concerns."""
        return [document.texts[at] for at in self._found(document)]

    def _found(self, document: Document) -> List[int]:
        match = self._match
        return [
            at
            for at, text in enumerate(document.texts)
            if (text == self._line if match is None else match.matches(text))
        ]


class BlockEdit(object):
    """Lines between two marker lines."""

    def __init__(self, block: str, marker: str, place: Place) -> None:
        self._texts = texts_of(block)
        self._begin, self._end = marks_of(marker)
        self._place = place

    def present(self, document: Document) -> None:
        """Make these lines exist between the markers, which are added if they are missing."""
        block = self._find(document)
        if block is None:
            lines = [self._begin, *self._texts, self._end]
            document.insert(self._place.find(document), lines)
        elif document.texts[block[0] + 1 : block[1]] != self._texts:
            document.replace(block[0] + 1, block[1], self._texts)

    def absent(self, document: Document) -> None:
        """Remove the markers and the lines between them."""
        block = self._find(document)
        if block is not None:
            document.remove(block[0], block[1] + 1)

    def part(self, document: Document) -> Any:
        """The lines between the markers."""
        block = self._find(document)
        return None if block is None else document.texts[block[0] + 1 : block[1]]

    def _find(self, document: Document) -> Optional[Tuple[int, int]]:
        """The lines of the markers. ``ValueError`` unless there is exactly one pair."""
        begins = [at for at, text in enumerate(document.texts) if text == self._begin]
        ends = [at for at, text in enumerate(document.texts) if text == self._end]
        if not begins and not ends:
            return None
        if len(begins) == len(ends) == 1 and begins < ends:
            return begins[0], ends[0]
        raise ValueError(
            "the markers of the block do not form a pair: %r on %s, %r on %s"
            % (self._begin, _lines(begins), self._end, _lines(ends))
        )


def _lines(numbers: List[int]) -> str:
    if not numbers:
        return "no line"
    numbers_text = ", ".join(str(number + 1) for number in numbers[:3])
    return "line%s %s%s" % ("s" * (len(numbers) > 1), numbers_text, " ..." * (len(numbers) > 3))


def texts_of(block: str) -> List[str]:
    """The lines of a text; a line break at its end belongs to the last line."""
    texts = block.replace("\r\n", "\n").split("\n")
    return texts if texts[-1] else texts[:-1]


def marks_of(marker: str) -> Tuple[str, str]:
    """The lines before and after a block."""
    return marker.replace(MARK, "BEGIN"), marker.replace(MARK, "END")


class Replacement(object):
    """Replaces the matches of a pattern, in every line."""

    def __init__(self, match: str, text: str) -> None:
        self._pattern = Pattern(match)
        self._template = Template(text, self._pattern)

    def present(self, document: Document) -> None:
        """Replace every match. ``ValueError`` if the next run would replace something again."""
        for at in document.matching(self._pattern):
            text = document.texts[at]
            if len(text) > _MAX_LENGTH:
                raise ValueError(
                    "line %d has %d characters, but replace only changes lines of up to %d"
                    % (at + 1, len(text), _MAX_LENGTH)
                )
            new = self._pattern.replaced(text, self._template)
            if new != text and self._pattern.replaced(new, self._template) != new:
                raise ValueError(
                    "line %d would change in every run: the pattern %r also matches the replacement"
                    % (at + 1, self._pattern.text)
                )
            document.replace(at, at + 1, [new])

    def part(self, document: Document) -> Any:
        """The lines that match."""
        return [document.texts[at] for at in document.matching(self._pattern)]
