"""dpkg's patterns for paths, as the C library's fnmatch(3) interprets them (target; in previews
only).

dpkg runs with LC_ALL=C, so ``?`` matches one byte, and ``*`` also matches slashes.
"""

import re
from typing import FrozenSet, List, Optional, Pattern, Tuple

from remote_runtime.changes import Unknowable

SPECIAL = b"*?[\\"
_CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "space": " \\t\\n\\v\\f\\r",
    "punct": "!-/:-@\\[-`{-~", "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_OTHERS = re.compile(rb"\[([:.=])(.*?)\1\]", re.DOTALL)

Bytes = FrozenSet[int]


def compiled(pattern: bytes) -> "Pattern[bytes]":
    """Return a regular expression for the paths of a pattern; ``Unknowable`` if they cannot be
    determined.

    Its time grows only linearly with the length of a path: after a star, the first match is used.
    """
    parts = [b""]
    place = 0
    while place < len(pattern):
        char = pattern[place : place + 1]
        place += 1
        if char == b"*":
            parts += [b""] if parts[-1] or len(parts) == 1 else []
        elif char == b"?":
            parts[-1] += b"."
        elif char == b"[":
            bracket = _bracket(pattern, place)
            parts[-1] += _any_of(bracket[0]) if bracket else re.escape(char)
            place = bracket[1] if bracket else place
        elif char == b"\\":
            parts[-1] += re.escape(pattern[place : place + 1]) or b"(?!)"
            place += 1
        else:
            parts[-1] += re.escape(char)
    return re.compile(_joined(parts), re.DOTALL)


def _joined(parts: List[bytes]) -> bytes:
    text = parts[0]
    for number, part in enumerate(parts[1:-1], 1):
        text += b"(?=(.*?%s))\\%d" % (part, number)
    return text + (b".*" + parts[-1] if len(parts) > 1 else b"") + b"\\Z"


def _any_of(chars: Bytes) -> bytes:
    return b"[%s]" % b"".join(b"\\x%02x" % char for char in sorted(chars)) if chars else b"(?!)"


def _bracket(pattern: bytes, place: int) -> Optional[Tuple[Bytes, int]]:
    """Return the bytes that a bracket expression matches, which starts before ``place``, and where
    it ends. None if it has no end, and so is not a bracket expression.
    """
    others = pattern[place : place + 1] in (b"!", b"^")
    place += others
    chars: List[int] = []
    first = True
    while first or pattern[place : place + 1] != b"]":
        first = False
        special = _OTHERS.match(pattern, place)
        if special:
            chars += _class(special)
            place = special.end()
            continue
        begin, place = _char(pattern, place)
        end = begin
        if pattern[place : place + 1] == b"-" and pattern[place + 1 : place + 2] not in (b"]", b""):
            end, place = _char(pattern, place + 1)
        if place > len(pattern) or place == len(pattern):
            return None
        chars += range(begin, end + 1)
    matching = frozenset(chars)
    return (frozenset(range(256)) - matching if others else matching), place + 1


def _char(pattern: bytes, place: int) -> Tuple[int, int]:
    """Return a byte, possibly escaped with a backslash, and the position after it; 0 after
    the end.
    """
    place += pattern[place : place + 1] == b"\\"
    return (pattern[place] if place < len(pattern) else 0), place + 1


def _class(special: "re.Match[bytes]") -> List[int]:
    name = special.group(2).decode("latin-1")
    if special.group(1) != b":":
        if len(special.group(2)) == 1:
            return list(special.group(2))
        raise Unknowable("cannot predict which of dpkg's paths %r matches" % special.group())
    if name not in _CLASSES:
        return []
    known = re.compile("[%s]" % _CLASSES[name])
    return [code for code in range(128) if known.match(chr(code))]
