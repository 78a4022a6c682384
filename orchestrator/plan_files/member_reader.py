"""Reads the members of a plan one by one, and stops at the first unknown one (controller).

Parsing a file of a few megabytes that is not a plan could take hundreds of megabytes.
"""

import json
import re
from collections.abc import Collection
from typing import Any

_BLANK = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode


class UnknownMemberError(ValueError):
    """An unknown member; ``at`` is its offset in the text, ``before`` has the members before it."""

    def __init__(self, name: str, at: int, before: dict[str, Any]) -> None:
        super().__init__(f"no plan has the member {name!r}")
        self.name, self.at, self.before = name, at, before


def members_of(text: str, known: Collection[str]) -> dict[str, Any]:
    """The members of a non-empty JSON object.

    ValueError, UnknownMemberError, RecursionError.
    """
    result: dict[str, Any] = {}
    at = _after(text, 0, "{")
    comma = ","
    while comma == ",":
        start = at
        name, at = _decode(text, at)
        if not isinstance(name, str) or name in result:
            raise ValueError(f"no new member at {start}")
        if name not in known:
            raise UnknownMemberError(name[:80], start, result)
        result[name], at = _decode(text, _after(text, at, ":"))
        at = _blank(text, at)
        comma = text[at : at + 1]
        at = _blank(text, at + 1)
    if comma != "}" or at != len(text):
        raise ValueError(f"not the end of an object at {at}")
    return result


def _after(text: str, at: int, mark: str) -> int:
    """The offset after a punctuation mark."""
    at = _blank(text, at)
    if not text.startswith(mark, at):
        raise ValueError(f"no {mark!r} at {at}")
    return _blank(text, at + len(mark))


def _blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at
