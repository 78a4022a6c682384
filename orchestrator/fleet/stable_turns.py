"""Resources that are as desired, as they are told, kept and made events of (controller).

What is the same in the events of all hosts is held once; an event is made only for who asks for it.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from orchestrator.fleet.event_check import finished
from remote_runtime.expansion import whole_events

PREFIX = '{"stable":'

_encode = json.JSONEncoder(separators=(",", ":")).encode


class Implied:
    """What the events of a resource have of its plan, masked; equal to itself only.

    It is made of the ``members`` or of their JSON ``text``; the other one when it is asked for.
    ``shared``: more hosts have it, so that it is worth being kept at hand. ``ensures``: the plan
    says what is desired.
    """

    __slots__ = ("_members", "_text", "ensures", "shared")

    def __init__(
        self,
        members: dict[str, Any] | None,
        text: str = "",
        *,
        shared: bool = False,
        ensures: bool = False,
    ) -> None:
        self._members = members
        self._text = text
        self.shared = shared
        self.ensures = ensures

    @property
    def members(self) -> dict[str, Any]:
        """Those of an event."""
        if self._members is None:
            self._members = json.loads(self._text)
        return self._members

    @property
    def text(self) -> str:
        """The same as JSON text on one line."""
        if not self._text:
            self._text = _encode(self._members)
        return self._text


class StableGroup(NamedTuple):
    """Resources that stand one behind the other in a plan, of which the same was told: ``told``,
    with each one's duration in nanoseconds and what the plan implies of it.

    ``first`` is the index of the first one there; -1 in a run read back, which keeps no plan.
    """

    first: int
    told: dict[str, Any]
    durations: list[int]
    implied: tuple[Implied, ...]


class StableTurns(NamedTuple):
    """Turns of one host, one behind the other; ``number`` is the id of the first one's event and
    ``at`` its end, in microseconds since the epoch."""

    host: str
    run_id: str
    number: int
    at: int
    groups: tuple[StableGroup, ...]

    @property
    def total(self) -> int:
        """How many there are."""
        return sum(len(group.durations) for group in self.groups)

    def events(self) -> Iterator[tuple[dict[str, Any], str]]:
        """Their transaction events, each with its JSON text on one line; always the same ones."""
        groups = (
            (group.told, group.durations, (implied.members for implied in group.implied))
            for group in self.groups
        )
        origin = {"host": self.host, "run_id": self.run_id}
        for event in whole_events(self.number, self.at, groups):
            yield finished({**event, **origin})

    def line(self, number_of: Callable[[Implied], int]) -> str:
        """The JSON text that a run's folder keeps, which has of each resource its number there."""
        groups = [
            {
                **group.told,
                "durations": group.durations,
                "resources": spans(map(number_of, group.implied)),
            }
            for group in self.groups
        ]
        told = {"host": self.host, "id": self.number, "at": self.at, "groups": groups}
        return f"{PREFIX}{json.dumps(told, separators=(',', ':'))}}}"


def read_line(line: str, run_id: str, members: Callable[[int], dict[str, Any]]) -> StableTurns:
    """The turns of such a line; ``members`` has those of a number. ValueError, KeyError, TypeError,
    AttributeError or IndexError where it is damaged."""
    told = json.loads(line)["stable"]
    return StableTurns(
        told["host"], run_id, told["id"], told["at"], tuple(_groups(told["groups"], members))
    )


def _groups(
    groups: list[dict[str, Any]], members: Callable[[int], dict[str, Any]]
) -> Iterator[StableGroup]:
    for group in groups:
        durations, numbers = group.pop("durations"), group.pop("resources")
        if sum(count for _, count in numbers) != len(durations):
            raise ValueError("as many durations as resources were expected")
        implied = tuple(
            Implied(members(number))
            for first, count in numbers
            for number in range(first, first + count)
        )
        yield StableGroup(-1, group, durations, implied)


def spans(numbers: Iterable[int]) -> list[list[int]]:
    """Numbers as the first and the count of those that follow one another."""
    found: list[list[int]] = []
    after = -1
    for number in numbers:
        if number == after:
            found[-1][1] += 1
        else:
            found.append([number, 1])
        after = number + 1
    return found
