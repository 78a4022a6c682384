"""The lines of a text file; unchanged lines are preserved byte for byte (target)."""

from typing import List, Optional, Sequence

from remote_runtime.text.linear_regex import Pattern

LARGEST = 4 << 20  # bytes of a file that is edited
_BOM = b"\xef\xbb\xbf"
START, END = "BOF", "EOF"  # places that are no patterns, as Ansible spells them


class Document(object):
    """The lines of a file without their ends, which are stored separately.

    Bytes that are not UTF-8 and the byte order mark are preserved. New lines get the line ends of
    adjacent lines. ``ValueError`` for binary data.
    """

    def __init__(self, data: bytes) -> None:
        self._bom = _BOM if data.startswith(_BOM) else b""
        if b"\0" in data:
            raise ValueError("it is not a text file: it contains NUL bytes")
        text = data[len(self._bom) :].decode("utf-8", "surrogateescape")
        self.texts: List[str] = []
        self._ends: List[str] = []
        parts = text.split("\n")
        for part in parts[:-1]:
            ended = part.endswith("\r")
            self.texts.append(part[:-1] if ended else part)
            self._ends.append("\r\n" if ended else "\n")
        if parts[-1]:
            self.texts.append(parts[-1])
            self._ends.append("")

    def data(self) -> bytes:
        """The bytes of the file."""
        text = "".join([text + end for text, end in zip(self.texts, self._ends)])
        return self._bom + text.encode("utf-8", "surrogateescape")

    def insert(self, at: int, texts: Sequence[str]) -> None:
        """Insert lines before the line ``at``, or at the end."""
        end = self._end_at(at)
        if at == len(self.texts) and at and not self._ends[-1]:
            self._ends[-1] = end
        self.texts[at:at] = texts
        self._ends[at:at] = [end] * len(texts)

    def _end_at(self, at: int) -> str:
        for beside in (at - 1, at, 0):
            if 0 <= beside < len(self._ends) and self._ends[beside]:
                return self._ends[beside]
        return "\n"

    def replace(self, first: int, last: int, texts: Sequence[str]) -> None:
        """Replace the lines from ``first`` up to but not including ``last``."""
        if last - first == len(texts):
            self.texts[first:last] = texts
            return
        end = self._ends[last - 1] if last > first else None
        self.remove(first, last)
        self.insert(first, texts)
        if end == "" and texts and first + len(texts) == len(self.texts):
            self._ends[-1] = ""  # the file still ends without a line break

    def remove(self, first: int, last: int) -> None:
        """Remove the lines from ``first`` up to but not including ``last``."""
        del self.texts[first:last], self._ends[first:last]

    def matching(self, pattern: Pattern) -> List[int]:
        """The numbers of the lines that match a pattern, starting at 0."""
        return [at for at, text in enumerate(self.texts) if pattern.matches(text)]


class Place(object):
    """The position of a new line: ``after`` or ``before`` the last line that matches a pattern.

    Without a pattern, or if nothing matches, it is the end of the file. ``BOF`` as ``before`` is
    its beginning. ``ValueError`` for a bad pattern.
    """

    def __init__(self, after: Optional[str] = None, before: Optional[str] = None) -> None:
        text = after if after is not None else before
        self._before = after is None and before is not None
        self._first = self._before and text == START
        named = text is not None and text != END and not self._first
        self._pattern = Pattern(str(text)) if named else None

    def find(self, document: Document) -> int:
        """Return the number of the line before which the new line is inserted."""
        if self._first:
            return 0
        anchors = self._anchors(document)
        if not anchors:
            return len(document.texts)
        return anchors[-1] if self._before else anchors[-1] + 1

    def holds(self, document: Document, at: int) -> bool:
        """Return whether a line is on the correct side: not above the first line that matches
        ``after``, and not below the last one that matches ``before``. The line may be that line
        itself.
        """
        anchors = self._anchors(document)
        if not anchors:
            return True
        return at <= anchors[-1] if self._before else at >= anchors[0]

    def _anchors(self, document: Document) -> List[int]:
        return [] if self._pattern is None else document.matching(self._pattern)
