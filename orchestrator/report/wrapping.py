"""Wraps text so that the commands in it can be copied whole (controller)."""

import re
import textwrap

# Between quotes that do not stand within a word, or behind "run:" or "then:" up to the end.
_COMMAND = re.compile(
    r"(?<!\w)(?P<quote>['\"`])(?:(?!(?P=quote)).)+(?P=quote)(?!\w)"
    r"|(?<=\brun: )\S.*|(?<=\bthen: )\S.*"
)
_KEPT = "\0"  # stands for a space that is no place to break; plain text does not hold it


def wrapped(text: str, width: int, behind: str = "") -> list[str]:
    """The lines of one line of text; a command is one word, however long. Empty for no text.

    ``behind`` follows the text and is no part of a command in it.
    """
    joined = _COMMAND.sub(lambda found: found[0].replace(" ", _KEPT), text) + behind
    lines = textwrap.wrap(
        joined, width, break_on_hyphens=False, break_long_words=_KEPT not in joined
    )
    return [line.replace(_KEPT, " ") for line in lines]
