"""Colors and widths of terminal output (controller)."""

import os
from collections.abc import Mapping
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


def wants_colour(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether to use color: the terminal is not dumb, and NO_COLOR is not set."""
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return stream.isatty()


def can_redraw(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a view can be redrawn in place: the terminal can move its cursor."""
    return stream.isatty() and environment.get("TERM", "dumb") != "dumb"


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
