"""Finds f-strings that only newer Pythons accept (controller).

Python 3.12 and newer parse them into the same tree, for every requested version of the grammar;
older ones refuse them.
"""

from __future__ import annotations

import io
import re
import token
import tokenize
from collections.abc import Iterator
from itertools import pairwise

from remote_runtime.errors import Position, Problem

_START: int = getattr(token, "FSTRING_START", -1)
_END: int = getattr(token, "FSTRING_END", -1)
_QUOTE = re.compile("[A-Za-z]*(\"\"\"|'''|\"|')")
_AFTER_VALUE = ("}", "!", ":")


def fstring_problems(source: bytes, file: str) -> list[Problem]:
    """The syntax in f-strings of a module that Python 3.6 does not support."""
    return [
        Problem(f"{what}, and hosts may have Python 3.6", Position(file, line, column + 1), hint)
        for what, hint, (line, column) in _newer(source)
    ]


def _newer(source: bytes) -> Iterator[tuple[str, str, tuple[int, int]]]:
    tokens = list(tokenize.tokenize(io.BytesIO(source).readline))
    within: list[str] = []  # the quotes of the f-strings around a token
    for found, after in pairwise(tokens):
        if found.type == _END:
            within.pop()
        elif found.type in (_START, token.STRING):
            match = _QUOTE.match(found.string)
            quote = match[1] if match else ""
            if within and quote.startswith(within[-1]):
                hint = "use the other kind of quotes"
                yield (
                    "reusing the f-string's own quotes inside it requires Python 3.12",
                    hint,
                    found.start,
                )
            if found.type == _START:
                within.append(quote)
        elif not within:
            continue
        elif found.type == token.OP and found.string == "=" and after.string in _AFTER_VALUE:
            yield "an f-string with '=' requires Python 3.8", "write the name as text", found.start
        elif found.type in (token.NL, token.COMMENT) and len(within[-1]) == 1:
            hint = "assign the value to a variable first"
            yield "a line break in an f-string requires Python 3.12", hint, found.start
