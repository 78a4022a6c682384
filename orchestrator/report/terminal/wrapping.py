"""Wraps text so that commands in it can be copied (controller)."""

import re
from typing import TextIO

from orchestrator.report.terminal.style import width_of

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
