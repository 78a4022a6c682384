"""Colors, widths and wrapped lines of terminal output (controller)."""

import os
import re
from typing import TextIO

_CODES = {
    "failed": "31;1",
    "refused": "31;1",
    "unreachable": "35;1",
    "interrupted": "33;1",
    "held": "33;1",
    "defect": "31;1",
    "changed": "33",
    "ok": "32",
    "stable": "32",
    "skipped": "36",
    "added": "32",
    "removed": "31",
    "place": "36",
    "same": "",
    "title": "1",
    "faint": "2",
}
NARROWEST, WIDEST = 40, 120


def wants_colour(stream: TextIO) -> bool:
    """Whether to use color: the terminal is not dumb, and NO_COLOR is not set."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def can_redraw(stream: TextIO) -> bool:
    """Whether a view can be redrawn in place: the terminal can move its cursor."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def width_of(stream: TextIO) -> int:
    """The width of text: that of the terminal, within limits; 100 without a terminal."""
    if not stream.isatty():
        return 100
    import shutil

    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))


class Style:
    """Adds color to words, or returns them unchanged."""

    def __init__(self, colour: bool = False, width: int = 100) -> None:
        self.colour = colour
        self.width = width

    @classmethod
    def of(cls, stream: TextIO) -> "Style":
        """The style that suits a stream."""
        return cls(wants_colour(stream), width_of(stream))

    def __call__(self, role: str, text: str) -> str:
        """Return the text in the style of ``role``."""
        code = _CODES[role]
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and code and text else text


# between quotes that are not inside a word
_QUOTED = r"(?<!\w)(?P<quote>['\"`])(?:(?!(?P=quote)).)+(?P=quote)(?!\w)"
_KEPT = "\0"  # a space without a line break; plain text does not contain it


def wrapped(text: str, width: int, command: str = "") -> list[str]:
    """The wrapped lines of one line of text; a quoted part is kept together, even if it is long.

    Empty for empty text. ``command`` follows the text and is also kept together.
    """
    if not command and 0 < len(text) <= width and text == " ".join(text.split()):
        return [text]
    import textwrap  # most reports have no long line

    # A gap wider than a line is not visible, and many of them make textwrap very slow.
    text = re.sub(rf"\s{{{width},}}", " ", text)
    joined = re.sub(_QUOTED, lambda found: found[0].replace(" ", _KEPT), text)
    if command:
        joined = f"{joined} {command.replace(' ', _KEPT)}"
    lines = textwrap.wrap(
        joined, width, break_on_hyphens=False, break_long_words=_KEPT not in joined
    )
    return [line.replace(_KEPT, " ") for line in lines]


def marked(mark: str, text: str, stream: TextIO) -> str:
    """Return a text after a mark. On a terminal, it is wrapped, and further lines are indented."""
    if not stream.isatty():
        return mark + text
    width = width_of(stream) - len(mark)
    first, *below = [part for line in text.split("\n") for part in wrapped(line, width) or [""]]
    indent = " " * len(mark)
    return "\n".join([mark + first, *(f"{indent}{line}".rstrip() for line in below)])
