"""Classes of characters in a regular expression, as Go has them (controller)."""

from __future__ import annotations

from collections.abc import Callable

Test = Callable[[str], bool]


def _word(character: str) -> bool:
    return character == "_" or (character.isascii() and character.isalnum())


def _digit(character: str) -> bool:
    return "0" <= character <= "9"


def _space(character: str) -> bool:
    return character in "\t\n\f\r "


def inverse(test: Test) -> Test:
    """Every other character."""
    return lambda character: not test(character)


def _ascii(test: Callable[[str], bool]) -> Test:
    return lambda character: character.isascii() and test(character)


CLASSES: dict[str, Test] = {
    "d": _digit, "D": inverse(_digit),
    "s": _space, "S": inverse(_space),
    "w": _word, "W": inverse(_word),
}  # fmt: skip
NAMED: dict[str, Test] = {
    "alnum": _ascii(str.isalnum), "alpha": _ascii(str.isalpha), "ascii": str.isascii,
    "blank": lambda c: c in "\t ", "cntrl": lambda c: c < " " or c == "\x7f",
    "digit": _digit, "graph": lambda c: "!" <= c <= "~", "lower": _ascii(str.islower),
    "print": lambda c: " " <= c <= "~", "punct": lambda c: "!" <= c <= "~" and not c.isalnum(),
    "space": lambda c: c in "\t\n\v\f\r ", "upper": _ascii(str.isupper), "word": _word,
    "xdigit": lambda c: c in "0123456789abcdefABCDEF",
}  # fmt: skip
LETTERS: dict[str, Test] = {
    "L": str.isalpha, "Lu": str.isupper, "Ll": str.islower, "N": str.isnumeric,
    "Nd": str.isdecimal, "Letter": str.isalpha,
}  # fmt: skip
CONTROLS = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def boundary(before: str, behind: str) -> bool:
    """Whether a word begins or ends between two characters."""
    return (before != "" and _word(before)) != (behind != "" and _word(behind))
