"""Makes text from hosts and files inert in Markdown on a forge (controller).

Backslashes are not enough: forges search the rendered text for mentions, references and bare links.
They do not search code, so everything that is not a simple word becomes code.
"""

import re
from itertools import groupby
from operator import itemgetter

_SIMPLE = re.compile(r"""[("']*(?:→|[^\W_]+(?:['-][^\W_]+|[.,]\d+)*)?[)"'.,;:!?%…]*""")
_REFERENCE = re.compile(
    r"""
    \b [0-9a-f]{7,64} \b            # a commit
    | \b (?: gh | [A-Z][A-Z0-9]+ ) - \d    # an issue
    """,
    re.VERBOSE,
)
_LIST_ITEM = re.compile(r"\d+[.)](?:\s|$)")
_ENDS = re.compile(r"(.*?)([.,;:]*)")


def inline(text: str) -> str:
    """Text on one line without active mentions, links or markup: words that could be any of these
    become a code span.
    """
    begins_list = bool(_LIST_ITEM.match(text.lstrip()))
    words = [
        (_is_simple(word) and not (begins_list and at == 0), word)
        for at, word in enumerate(text.split())
    ]
    runs = []
    for simple, run in groupby(words, itemgetter(0)):
        joined = " ".join(word for _, word in run)
        runs.append(joined if simple else _spanned(joined))
    return " ".join(runs)


def cell(text: str) -> str:
    """The same for a table cell, in which a bar ends even a code span unless a backslash precedes
    it; the text's own backslashes are separated from bars.
    """
    apart = re.sub(r"\\(?=\|)", r"\\ ", text)
    return inline(apart).replace("|", r"\|")


def code(text: str) -> str:
    """A code span on one line, with more backticks than any sequence in the text; empty for empty
    text.
    """
    line = " ".join(text.split())
    if not line:
        return ""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    return f"{ticks}{line}{ticks}" if ticks == "`" else f"{ticks} {line} {ticks}"


def fence(text: str, language: str) -> str:
    """A code block whose fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text.rstrip()}\n{ticks}\n"


def _is_simple(word: str) -> bool:
    return bool(_SIMPLE.fullmatch(word)) and not _REFERENCE.search(word)


def _spanned(text: str) -> str:
    """A code span, followed by the punctuation at the end of the text."""
    found = _ENDS.fullmatch(text)
    if found is None or not found[1]:
        return code(text)
    return code(found[1]) + found[2]
