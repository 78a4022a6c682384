"""Splits a command line into words by the quoting rules of a POSIX shell, without a shell (both
sides).

Nothing is expanded: ``$``, ``*``, ``>``, ``;`` and ``#`` are ordinary characters. Inside double
quotes, a backslash escapes only ``$``, the backtick, ``"``, the backslash and newline.
"""

from typing import List, Optional, Tuple

_BLANK = " \t\r\n"
_ESCAPED_IN_QUOTES = '$`"\\'


def split(text: str) -> List[str]:
    """Return the words of a command line. ``ValueError`` says which quote is not closed."""
    words: List[str] = []
    word: Optional[str] = None
    at = 0
    while at < len(text):
        char = text[at]
        if char in _BLANK:
            if word is not None:
                words.append(word)
                word = None
            at += 1
            continue
        piece, at = _piece(text, at)
        if piece is not None:
            word = (word or "") + piece
    if word is not None:
        words.append(word)
    return words


def _piece(text: str, at: int) -> Tuple[Optional[str], int]:
    """Return the next part of a word and where it ends; None for an escaped newline, which is
    removed.
    """
    char = text[at]
    if char == "'":
        end = text.find("'", at + 1)
        if end < 0:
            raise ValueError("a single quote at character %d is not closed" % (at + 1))
        return text[at + 1 : end], end + 1
    if char == '"':
        return _double(text, at)
    if char == "\\":
        if at + 1 == len(text):
            raise ValueError("a backslash at the end escapes nothing")
        escaped = text[at + 1]
        return (None if escaped == "\n" else escaped), at + 2
    end = at + 1
    while end < len(text) and text[end] not in _BLANK + "'\"\\":
        end += 1
    return text[at:end], end


def _double(text: str, start: int) -> Tuple[str, int]:
    out: List[str] = []
    at = start + 1
    while at < len(text):
        char = text[at]
        if char == '"':
            return "".join(out), at + 1
        if char == "\\" and at + 1 < len(text) and text[at + 1] in _ESCAPED_IN_QUOTES + "\n":
            if text[at + 1] != "\n":
                out.append(text[at + 1])
            at += 2
            continue
        out.append(char)
        at += 1
    raise ValueError("a double quote at character %d is not closed" % (start + 1))
