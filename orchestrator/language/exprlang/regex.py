"""The regular expressions of ``matches``, in linear time (controller).

Go's syntax (RE2). Python's ``re`` tries alternatives one after the other, so a pattern such as
``(a+)+$`` takes ages on a text that a host made up. Here all alternatives advance together, one
character at a time, and what a set of states comes to at a character is remembered.
"""

from __future__ import annotations

from functools import lru_cache

from orchestrator.language import bounds
from orchestrator.language.exprlang.regex_states import (
    Assertion,
    Fork,
    RegexError,
    Single,
    State,
)
from orchestrator.language.exprlang.regex_syntax import parse_pattern

MAX_STEPS = 3_000_000
_MAX_REMEMBERED = 2_000

__all__ = ["Regex", "RegexError", "compile_regex"]


class Regex:
    """A compiled pattern; may be shared by threads."""

    def __init__(self, states: list[State], start: int) -> None:
        self._states = states
        self._start = start

    def search(self, text: str) -> bool:
        """Whether the pattern matches anywhere in the text; TooLargeError."""
        return self.measured(text)[0]

    def measured(self, text: str) -> tuple[bool, int]:
        """The same, and how many steps it took."""
        run = _Run(self._states, self._start)
        before = ""
        for character in text:
            if run.step(before, character):
                return True, run.steps
            before = character
        return run.step(before, ""), run.steps


class _Run:
    """One search: the states that are alive before the next character."""

    def __init__(self, states: list[State], start: int) -> None:
        self._states = states
        self._start = start
        self._alive: frozenset[int] = frozenset()
        self.steps = 0
        self._seen: dict[tuple[frozenset[int], str, str], tuple[bool, frozenset[int]]] = {}

    def step(self, before: str, character: str) -> bool:
        """Advance over one character, or the end where it is empty; whether a match is complete."""
        key = (self._alive, before, character)
        found = self._seen.get(key)
        if found is None:
            found = self._advance(before, character)
            if len(self._seen) < _MAX_REMEMBERED:
                self._seen[key] = found
        self.steps += 1
        complete, self._alive = found
        return complete

    def _advance(self, before: str, character: str) -> tuple[bool, frozenset[int]]:
        reached = self._closure(before, character)
        self.steps += len(reached)
        if self.steps > MAX_STEPS:
            raise bounds.TooLargeError("the regular expression takes too long on this text")
        if -1 in reached:
            return True, frozenset()
        alive = set()
        for number in reached:
            state = self._states[number]
            if isinstance(state, Single) and character and state.accepts(character):
                alive.add(state.then)
        return False, frozenset(alive)

    def _closure(self, before: str, character: str) -> set[int]:
        """Every state that is reached without a character; -1 is the end of the pattern."""
        reached: set[int] = set()
        open_ = [self._start, *self._alive]
        while open_:
            number = open_.pop()
            if number in reached:
                continue
            reached.add(number)
            if number < 0:
                return reached
            state = self._states[number]
            if isinstance(state, Fork):
                open_ += state.then
            elif isinstance(state, Assertion) and state.holds(before, character):
                open_.append(state.then)
        return reached


@lru_cache(maxsize=512)
def compile_regex(pattern: str) -> Regex:
    """The pattern, ready to search; RegexError."""
    return Regex(*parse_pattern(pattern))
