"""The states that a regular expression comes to (controller)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from orchestrator.language.exprlang.regex_classes import Test

MAX_STATES = 5_000


class RegexError(ValueError):
    """The pattern cannot be used."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Single(NamedTuple):
    """One character that ``accepts``."""

    accepts: Test
    then: int


class Fork(NamedTuple):
    """Any of several states."""

    then: tuple[int, ...]


class Assertion(NamedTuple):
    """Goes on where it ``holds``, given the characters before and behind, empty at the ends."""

    holds: Callable[[str, str], bool]
    then: int


State = Single | Fork | Assertion


Build = Callable[[list[State], int], int]
"""Adds the states of a piece that goes on at the given state; where the piece begins."""


def _add(states: list[State], state: State) -> int:
    if len(states) >= MAX_STATES:
        raise RegexError("the pattern is too large", "use smaller repetitions")
    states.append(state)
    return len(states) - 1


def single(test: Test) -> Build:
    """One character."""
    return lambda states, then: _add(states, Single(test, then))


def assertion(holds: Callable[[str, str], bool]) -> Build:
    """A place between characters."""
    return lambda states, then: _add(states, Assertion(holds, then))


def sequence(parts: list[Build]) -> Build:
    """One piece after the other."""

    def build(states: list[State], then: int) -> int:
        for part in reversed(parts):
            then = part(states, then)
        return then

    return build


def either(parts: list[Build]) -> Build:
    """Any of the pieces."""

    def build(states: list[State], then: int) -> int:
        return _add(states, Fork(tuple(part(states, then) for part in parts)))

    return parts[0] if len(parts) == 1 else build


def repeated(part: Build, least: int, most: int | None) -> Build:
    """A piece several times; ``most`` None: without end."""

    def build(states: list[State], then: int) -> int:
        if most is None:
            fork = _add(states, Fork(()))
            states[fork] = Fork((part(states, fork), then))
            start = fork
        else:
            start = then
            for _ in range(most - least):
                start = _add(states, Fork((part(states, start), then)))
        for _ in range(least):
            start = part(states, start)
        return start

    return build
