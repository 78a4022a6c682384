"""Goss's patterns for the lines of an output or a file (both sides).

``text``: some line contains it. ``!text``: none does. ``/re/``: some line matches. ``!/re/``: none
does. ``\\!text``: some line contains ``!text``.
"""

from typing import Any, List, NamedTuple, Sequence

from remote_runtime.health.go_regex import compiled


class Pattern(NamedTuple):
    """``expression`` is compiled, or None if ``text`` is searched literally."""

    text: str
    expression: Any
    inverse: bool

    def meets(self, line: str) -> bool:
        """Return whether the line contains the pattern, or lacks it if the pattern is inverse."""
        if self.expression is not None:
            return self.expression.search(line) is not None
        return self.text in line


def parse(written: str) -> Pattern:
    """Read one pattern; ``ValueError`` for a bad regular expression."""
    inverse = written.startswith("!")
    text = written[1:] if inverse else written
    if len(text) > 1 and text.startswith("/") and text.endswith("/"):
        return Pattern(text, compiled(text[1:-1]), inverse)
    return Pattern(text[1:] if text.startswith("\\!") else text, None, inverse)


def unmet(written: Sequence[Any], text: str) -> List[str]:
    """Return the patterns that the lines of a text do not satisfy."""
    text_lines = lines(text) or [""]
    bad = []
    for entry in written:
        pattern = parse(pattern_text(entry))
        met = any(pattern.meets(line) for line in text_lines)
        if met == pattern.inverse and (pattern.text or pattern.inverse):
            bad.append(pattern_text(entry))
    return bad


def lines(text: str) -> List[str]:
    """Return the lines of a text, without their ends."""
    lines = [line[:-1] if line.endswith("\r") else line for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]


def pattern_text(entry: Any) -> str:
    """Return a pattern as text: YAML parses ``200`` and ``true`` as other types."""
    return str(entry).lower() if isinstance(entry, bool) else str(entry)
