"""Reads a regular expression as Go writes them (controller)."""

from __future__ import annotations

from typing import NamedTuple

from orchestrator.language.exprlang.regex_classes import (
    CLASSES,
    CONTROLS,
    LETTERS,
    NAMED,
    Test,
    boundary,
    inverse,
)
from orchestrator.language.exprlang.regex_states import (
    Build,
    RegexError,
    State,
    assertion,
    either,
    repeated,
    sequence,
    single,
)

MAX_PATTERN = 1_000
MAX_REPEAT = 1_000
_MAX_DEPTH = 50


def parse_pattern(pattern: str) -> tuple[list[State], int]:
    """The states of a pattern and where it begins; -1 is its end. RegexError."""
    if len(pattern) > MAX_PATTERN:
        raise RegexError(f"a pattern of at most {MAX_PATTERN} characters, this has {len(pattern)}")
    reader = _Reader(pattern)
    build = reader.alternatives(0)
    if reader.more():
        raise RegexError("unexpected )", r"write \) for the character")
    states: list[State] = []
    return states, build(states, -1)


class _Flags(NamedTuple):
    fold: bool = False
    lines: bool = False
    dot: bool = False


class _Reader:
    """One pass over a pattern."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._flags = _Flags()

    def more(self) -> bool:
        """Whether anything is left."""
        return self._at < len(self._text)

    def _take(self) -> str:
        if not self.more():
            raise RegexError("it ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _accept(self, sign: str) -> bool:
        if not self._text.startswith(sign, self._at):
            return False
        self._at += len(sign)
        return True

    def alternatives(self, depth: int) -> Build:
        """``a|b``, up to a closing parenthesis or the end."""
        if depth > _MAX_DEPTH:
            raise RegexError("it is nested too deeply")
        flags = self._flags
        found = [self._pieces(depth)]
        while self._accept("|"):
            found.append(self._pieces(depth))
        self._flags = flags
        return either(found)

    def _pieces(self, depth: int) -> Build:
        found = []
        while self.more() and self._text[self._at] not in "|)":
            piece = self._piece(depth)
            found.append(self._repetition(piece))
        return sequence(found)

    def _repetition(self, piece: Build) -> Build:
        counts = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        sign = self._text[self._at : self._at + 1]
        if sign in counts:
            self._at += 1
            least, most = counts[sign]
        else:
            found = self._count()
            if found is None:
                return piece
            least, most = found
        self._accept("?")
        if self._text[self._at : self._at + 1] in ("*", "+", "?"):
            raise RegexError("two repetitions in a row", "put the first in parentheses")
        return repeated(piece, least, most)

    def _count(self) -> tuple[int, int | None] | None:
        """``{2}``, ``{2,}`` or ``{2,3}``; braces with anything else in them are characters."""
        end = self._text.find("}", self._at)
        if not self._text.startswith("{", self._at) or end < 0:
            return None
        low, comma, high = self._text[self._at + 1 : end].partition(",")
        if not (low.isascii() and low.isdigit()) or (high and not high.isdigit()):
            return None
        self._at = end + 1
        least, most = int(low), (int(high) if high else None) if comma else int(low)
        if least > MAX_REPEAT or (most is not None and not least <= most <= MAX_REPEAT):
            raise RegexError(f"a repetition counts from 0 to {MAX_REPEAT}, the smaller first")
        return least, most

    def _piece(self, depth: int) -> Build:
        sign = self._take()
        if sign == "(":
            return self._group(depth)
        if sign == "[":
            return single(self._set())
        if sign == ".":
            return single((lambda c: True) if self._flags.dot else (lambda c: c != "\n"))
        if sign == "^":
            lines = self._flags.lines
            return assertion(lambda before, _: not before or (lines and before == "\n"))
        if sign == "$":
            lines = self._flags.lines
            return assertion(lambda _, behind: not behind or (lines and behind == "\n"))
        if sign in "*+?":
            raise RegexError(f"{sign} has nothing to repeat", f"write \\{sign} for the character")
        if sign == "\\":
            return self._escaped()
        return self._literal(sign)

    def _literal(self, character: str) -> Build:
        return single(self._folded(lambda c: c == character))

    def _folded(self, test: Test) -> Test:
        if not self._flags.fold:
            return test
        return lambda c: test(c) or test(c.lower()) or test(c.upper())

    def _group(self, depth: int) -> Build:
        flags = self._flags
        if self._accept("?"):
            if self._accept("P<") or (
                self._text[self._at : self._at + 1] == "<"
                and self._text[self._at + 1 : self._at + 2] not in ("=", "!")
                and self._accept("<")
            ):
                while self._take() != ">":
                    pass
            elif not self._set_flags():
                return sequence([])
        made = self.alternatives(depth + 1)
        if not self._accept(")"):
            raise RegexError("( is not closed", r"write \( for the character")
        self._flags = flags
        return made

    def _set_flags(self) -> bool:
        """``(?i)`` for what follows, or ``(?i:…)``; whether a group follows."""
        value = True
        while (sign := self._take()) not in ":)":
            if sign == "-":
                value = False
            elif sign in "ims":
                name = {"i": "fold", "m": "lines", "s": "dot"}[sign]
                self._flags = self._flags._replace(**{name: value})
            else:
                hint = "Go's patterns have no look-around and no back-references"
                raise RegexError(f"(?{sign} is not supported", hint)
        return sign == ":"

    def _escaped(self) -> Build:
        sign = self._take()
        if sign in CLASSES:
            return single(CLASSES[sign])
        if sign == "b":
            return assertion(boundary)
        if sign == "B":
            return assertion(lambda before, behind: not boundary(before, behind))
        if sign == "A":
            return assertion(lambda before, _: not before)
        if sign == "z":
            return assertion(lambda _, behind: not behind)
        if sign in "pP":
            return single(self._category(sign == "P"))
        if sign == "Q":
            end = self._text.find("\\E", self._at)
            end = len(self._text) if end < 0 else end
            quoted, self._at = self._text[self._at : end], end + 2
            return sequence([self._literal(character) for character in quoted])
        return self._literal(self._character(sign))

    def _category(self, negated: bool) -> Test:
        name = self._take()
        if name == "{":
            name = self._braced()
        if name not in LETTERS:
            known = ", ".join(LETTERS)
            raise RegexError(f"\\p{{{name}}} is not supported", f"there are {known}")
        return inverse(LETTERS[name]) if negated else LETTERS[name]

    def _character(self, sign: str) -> str:
        """The character behind a backslash."""
        if sign in CONTROLS:
            return CONTROLS[sign]
        if sign == "x":
            return self._hexadecimal()
        if sign.isalnum():
            hint = "write a backslash only before signs, or \\\\ for the backslash itself"
            raise RegexError(f"\\{sign} is not supported", hint)
        return sign

    def _hexadecimal(self) -> str:
        if self._accept("{"):
            digits = self._braced()
        else:
            digits, self._at = self._text[self._at : self._at + 2], self._at + 2
        try:
            return chr(int(digits, 16))
        except (ValueError, OverflowError) as error:
            raise RegexError(f"\\x{digits} is not a character") from error

    def _braced(self) -> str:
        """What stands before the next closing brace."""
        end = self._text.find("}", self._at)
        if end < 0:
            raise RegexError("{ is not closed")
        found, self._at = self._text[self._at : end], end + 1
        return found

    def _set(self) -> Test:
        negated = self._accept("^")
        singles: set[str] = set()
        ranges: list[tuple[str, str]] = []
        tests: list[Test] = []
        first = True
        while first or not self._accept("]"):
            first = False
            low = self._member(tests)
            if low is None:
                continue
            if self._text[self._at : self._at + 1] != "-" or self._text.startswith("-]", self._at):
                singles.add(low)
                continue
            self._at += 1
            high = self._member(tests)
            if high is None or high < low:
                raise RegexError("a range in [ ] goes from the smaller character to the larger")
            ranges.append((low, high))

        def holds(c: str) -> bool:
            found = c in singles or any(low <= c <= high for low, high in ranges)
            return found or any(test(c) for test in tests)

        folded = self._folded(holds)
        return inverse(folded) if negated else folded

    def _member(self, tests: list[Test]) -> str | None:
        """One character of a set; None where it was a class, which is then in ``tests``."""
        if not self.more():
            raise RegexError("[ is not closed", r"write \[ for the character")
        if self._accept("[:"):
            end = self._text.find(":]", self._at)
            name = self._text[self._at : end].lstrip("^")
            if end < 0 or name not in NAMED:
                raise RegexError(f"[:{name}:] is not supported", "there are " + ", ".join(NAMED))
            tests.append(inverse(NAMED[name]) if self._text[self._at] == "^" else NAMED[name])
            self._at = end + 2
            return None
        sign = self._take()
        if sign != "\\":
            return sign
        sign = self._take()
        if sign in CLASSES:
            tests.append(CLASSES[sign])
            return None
        if sign in "pP":
            tests.append(self._category(sign == "P"))
            return None
        return self._character(sign)
