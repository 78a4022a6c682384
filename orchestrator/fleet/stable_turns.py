"""Resources that are as desired, as they are told, kept and made events of (controller).

What is the same in the events of all hosts is held once; an event is made only for who asks for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, NamedTuple

from orchestrator.fleet.event_check import finished
from remote_runtime.expansion import whole_events

PREFIX = '{"stable":'

_encode = json.JSONEncoder(separators=(",", ":")).encode


class Form:
    """What the events of resources have of their plans, masked: its JSON text, cut where each of
    them has a value of its own. Equal to itself only."""

    __slots__ = ("_members", "pieces")

    def __init__(self, pieces: tuple[str, ...]) -> None:
        self.pieces = pieces
        self._members: dict[str, Any] | None = None

    @classmethod
    def read(cls, line: str) -> Form:
        """The form that a ``line`` says; ValueError where it says none."""
        if not line.startswith("["):
            return cls((line,))
        pieces = json.loads(line)
        if len(pieces) < 2 or not all(isinstance(piece, str) for piece in pieces):
            raise ValueError("texts around values were expected")
        return cls(tuple(pieces))

    @property
    def line(self) -> str:
        """JSON text on one line: the object itself, or a list of the pieces."""
        return self.pieces[0] if len(self.pieces) == 1 else _encode(self.pieces)

    @property
    def gaps(self) -> int:
        """How many values of its own a resource has."""
        return len(self.pieces) - 1

    def filled(self, own: Sequence[Any]) -> dict[str, Any]:
        """The members of an event of the resource with these values, as many as there are gaps."""
        if self is WHOLE:
            members: dict[str, Any] = own[0]
        elif own:
            first, *rest = self.pieces
            text = "".join(_encode(value) + piece for value, piece in zip(own, rest, strict=True))
            members = json.loads(first + text)
        else:
            members = self._members = self._members or json.loads(self.pieces[0])
        return members


WHOLE = Form(("", ""))
"""The form of what no other host has: all of the text is a value of its own. It has no number."""
NO_NUMBER = -1
_MOST_SPANS = 1_000


class Implied(NamedTuple):
    """What the event of one resource has of its plan: its form, and the JSON text of its own values
    with commas between. ``ensures``: the plan says what is desired."""

    form: Form
    own: str
    ensures: bool

    @classmethod
    def alone(cls, text: str, *, ensures: bool) -> Implied:
        """That of a resource of which no other host has this JSON text."""
        return cls(WHOLE, text, ensures)


class StableGroup(NamedTuple):
    """Resources that stand one behind the other in a plan, of which the same was told: ``told``,
    with each one's duration in nanoseconds and the form of what the plan implies of it. ``own`` is
    the JSON text of the values for all their gaps, with commas between.

    ``first`` is the index of the first one there; -1 where a kept run does not say it.
    """

    first: int
    told: dict[str, Any]
    durations: list[int]
    forms: tuple[Form, ...]
    own: str = ""

    def implied(self) -> Iterator[dict[str, Any]]:
        """What the plan implies of each; ValueError where there are not as many values as gaps."""
        own = json.loads(f"[{self.own}]")
        if len(own) != sum(form.gaps for form in self.forms):
            raise ValueError("as many values as gaps were expected")
        at = 0
        for form in self.forms:
            yield form.filled(own[at : at + form.gaps])
            at += form.gaps


class Numbering:
    """Gives forms their numbers, from 0. ``new`` are the lines of those that have got one since
    somebody took them away."""

    def __init__(self) -> None:
        self.new: list[str] = []
        self._numbers: dict[Form, int] = {}
        self._spans: dict[tuple[Form, ...], list[tuple[int, int]]] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def spans(self, forms: tuple[Form, ...]) -> list[tuple[int, int]]:
        """The numbers of these as the first and the count of those that follow one another, and
        ``NO_NUMBER`` with how often ``WHOLE`` comes."""
        found = self._spans.get(forms)
        if found is None:
            if len(self._spans) >= _MOST_SPANS:
                self._spans.clear()
            found = self._spans[forms] = self._found(forms)
        return found

    def forget(self, *, first: int | None = None) -> None:
        """All get other numbers, from the ``first`` one, or those that follow."""
        self._numbers.clear()
        self._spans.clear()
        self._next = self._next if first is None else first

    def _found(self, forms: tuple[Form, ...]) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        begun, count, after = 0, 0, None
        for number in map(self._number, forms):
            if number == after:
                count += 1
            else:
                found.append((begun, count))
                begun, count = number, 1
            after = number + (number != NO_NUMBER)
        return [*found[1:], (begun, count)]

    def _number(self, form: Form) -> int:
        if form is WHOLE:
            return NO_NUMBER
        number = self._numbers.get(form)
        if number is None:
            number = self._numbers[form] = self._next
            self._next += 1
            self.new.append(form.line)
        return number


class StableTurns(NamedTuple):
    """Turns of one host, one behind the other; ``number`` is the id of the first one's event and
    ``at`` its end, in microseconds since the epoch."""

    host: str
    run_id: str
    number: int
    at: int
    groups: tuple[StableGroup, ...]

    @property
    def is_placed(self) -> bool:
        """Whether it is known where in the plan each resource stands."""
        return all(group.first >= 0 for group in self.groups)

    @property
    def total(self) -> int:
        """How many there are."""
        return sum(len(group.durations) for group in self.groups)

    def events(self) -> Iterator[tuple[dict[str, Any], str]]:
        """Their transaction events, each with its JSON text on one line; always the same ones."""
        groups = ((group.told, group.durations, group.implied()) for group in self.groups)
        origin = {"host": self.host, "run_id": self.run_id}
        for event in whole_events(self.number, self.at, groups):
            yield finished({**event, **origin})

    def line(self, numbering: Numbering) -> str:
        """The JSON text that a run's folder keeps, which has of each form its number there."""
        told = _encode({"host": self.host, "id": self.number, "at": self.at})
        groups = ",".join([_kept(group, numbering) for group in self.groups])
        return f'{PREFIX}{told[:-1]},"groups":[{groups}]}}}}'


def _kept(group: StableGroup, numbering: Numbering) -> str:
    numbers = numbering.spans(group.forms)
    told = {**group.told, "index": group.first, "durations": group.durations}
    text = _encode({**told, "resources": numbers})
    return f'{text[:-1]},"own":[{group.own}]}}' if group.own else text


def read_line(line: str, run_id: str, form: Callable[[int], Form]) -> StableTurns:
    """The turns of such a line; ``form`` has that of a number. ValueError, KeyError, TypeError,
    AttributeError or IndexError where it is damaged."""
    told = json.loads(line)["stable"]
    return StableTurns(
        told["host"], run_id, told["id"], told["at"], tuple(_groups(told["groups"], form))
    )


def _groups(groups: list[dict[str, Any]], form: Callable[[int], Form]) -> Iterator[StableGroup]:
    for group in groups:
        first, durations = group.pop("index", -1), group.pop("durations")
        numbers, own = group.pop("resources"), group.pop("own", [])
        forms = forms_of(numbers, len(durations), form)
        yield StableGroup(
            first=int(first), told=group, durations=durations, forms=forms, own=_encode(own)[1:-1]
        )


def forms_of(
    numbers: Sequence[Sequence[int]], count: int, form: Callable[[int], Form]
) -> tuple[Form, ...]:
    """The forms of such spans, which are ``count``; ValueError where they are not, and whatever
    ``form`` raises."""
    if sum(each for _, each in numbers) != count or any(first < NO_NUMBER for first, _ in numbers):
        raise ValueError("as many durations as resources were expected")
    found: list[Form] = []
    for first, each in numbers:
        found += (
            repeat(WHOLE, each) if first == NO_NUMBER else map(form, range(first, first + each))
        )
    return tuple(found)
