"""Evaluates ``test`` and ``[`` in a maintainer script (target; in previews only)."""

from typing import Callable, List, Optional, Sequence

from remote_runtime.text.numbers import is_number

UNKNOWN = "\0"  # in a word: unknown text

Look = Callable[[str, str], Optional[bool]]

_NUMBERS = {
    "-eq": int.__eq__,
    "-ne": int.__ne__,
    "-lt": int.__lt__,
    "-le": int.__le__,
    "-gt": int.__gt__,
    "-ge": int.__ge__,
}
_PATHS = "efdLhsrwxSpbcgukOG"


def negated(result: Optional[bool]) -> Optional[bool]:
    """Return the opposite; None if unknown."""
    return None if result is None else not result


def every(results: Sequence[Optional[bool]]) -> Optional[bool]:
    """Return whether all are true; None if one may be true and no other is false."""
    if False in results:
        return False
    return None if None in results else True


def some(results: Sequence[Optional[bool]]) -> Optional[bool]:
    """Return whether one is true; None if one may be true and no other is."""
    if True in results:
        return True
    return None if None in results else False


def test(words: Sequence[str], check: Look) -> Optional[bool]:
    """Return the result of a test of these words, without brackets; None if unknown.

    ``check(kind, path)`` answers ``-e``, ``-d`` and similar tests, by their letter.
    """
    if "(" in words:
        return None
    return some([_all(part, check) for part in _split(words, "-o")])


def _split(words: Sequence[str], operator: str) -> List[List[str]]:
    parts: List[List[str]] = [[]]
    for at, word in enumerate(words):
        between = 0 < at < len(words) - 1
        if word == operator and between and len(parts[-1]) not in (0,):
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _all(words: Sequence[str], check: Look) -> Optional[bool]:
    return every([_one(part, check) for part in _split(words, "-a")])


def _one(words: Sequence[str], check: Look) -> Optional[bool]:
    if words[:1] == ["!"] and len(words) > 1:
        return negated(_one(words[1:], check))
    if len(words) == 1:
        return None if UNKNOWN in words[0] else bool(words[0])
    if len(words) == 2:
        return _unary(words[0], words[1], check)
    if len(words) == 3:
        return _binary(words[0], words[1], words[2])
    return None if words else False


def _unary(operator: str, word: str, check: Look) -> Optional[bool]:
    if operator in ("-n", "-z"):
        # A word with any known text is not empty.
        known = word.replace(UNKNOWN, "")
        if UNKNOWN in word and not known:
            return None
        return bool(word) is (operator == "-n")
    if len(operator) == 2 and operator[0] == "-" and operator[1] in _PATHS:
        return None if UNKNOWN in word else check(operator[1], word) if word else False
    return None


def _binary(left: str, operator: str, right: str) -> Optional[bool]:
    if UNKNOWN in left or UNKNOWN in right:
        return None
    if operator in ("=", "=="):
        return left == right
    if operator == "!=":
        return left != right
    if operator in _NUMBERS and is_number(left) and is_number(right):
        return bool(_NUMBERS[operator](int(left), int(right)))
    return None
