"""What a worker tells becomes the events of the run again (controller)."""

import json
from typing import Any

from orchestrator.fleet import events as happening
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.phases import Phase
from orchestrator.fleet.stable_turns import Implied, StableGroup, StableTurns
from orchestrator.support.recurring import Recurring

Told = (
    happening.HostPhase
    | happening.HostPlanned
    | happening.ResourceProgress
    | happening.ResourceEvent
    | happening.ResourcesStable
    | happening.HostNotice
    | happening.HostKept
    | happening.HostFinished
)

_MOST_SHARED = 5_000


class SharedImplied:
    """What plans imply of resources, held once however many workers tell of it; see ``Implied``."""

    def __init__(self) -> None:
        self._met = Recurring()
        self._known: dict[str, Implied] = {}

    def of(self, text: str) -> Implied:
        """The one of that JSON text."""
        found = self._known.get(text)
        if found is None:
            found = Implied(None, text, shared=self._met.again(text))
            if found.shared:
                if len(self._known) >= _MOST_SHARED:
                    self._known.clear()
                self._known[text] = found
        return found


class Heard:
    """Reads the lines of one worker, in the order in which they come; see ``telling``.

    ``ValueError``, ``LookupError`` or ``TypeError`` for what is no such line.
    """

    def __init__(self, run_id: str, implications: SharedImplied) -> None:
        self._run_id = run_id
        self._implications = implications
        self._implied: list[Implied] = []
        self._names: list[happening.HostPlanned] = []

    def event(self, line: str) -> Told | None:
        """The event that a line tells; None for one that tells what plans have in common."""
        kind = line[0]
        if kind in "ionc":
            self._learn(kind, line[1:])
            return None
        host, _, text = line[1:].partition("\t")
        told = json.loads(text)
        if kind == "p":
            return happening.HostPhase(host, Phase(told[0]), told[1])
        if kind == "s":
            return self._stable(host, *told)
        if kind == "e":
            return happening.ResourceEvent(host, told, text)
        if kind == "h":
            names: happening.HostPlanned = self._names[told]
            return names._replace(host=host)
        if kind == "d":
            return happening.ResourceProgress(host, *told)
        if kind == "t":
            return happening.HostNotice(host, *told)
        if kind == "k":
            return happening.HostKept(host, told)
        if kind == "f":
            return happening.HostFinished(HostResult.from_record(told))
        raise ValueError(f"no worker tells {kind!r}")

    def _learn(self, kind: str, text: str) -> None:
        """Number what plans have, or begin to count anew."""
        if kind == "i":
            self._implied += map(self._implications.of, text.split("\t"))
        elif kind == "o":
            self._implied += [Implied(None, each) for each in text.split("\t")]
        elif kind == "n":
            self._names.append(_planned(*json.loads(text)))
        else:
            (self._implied if text == "i" else self._names).clear()

    def _stable(self, host: str, number: int, at: int, groups: list[Any]) -> Told:
        found = []
        for first, told, durations, spans in groups:
            implied: list[Implied] = []
            for begin, count in spans:
                implied += self._implied[begin : begin + count]
            found.append(StableGroup(first, told, durations, tuple(implied)))
        turns = StableTurns(host, self._run_id, number, at, tuple(found))
        return happening.ResourcesStable(host, turns)


def _planned(resources: list[str], subscribed: list[Any]) -> happening.HostPlanned:
    pairs = tuple((name, tuple(sources)) for name, sources in subscribed)
    return happening.HostPlanned("", tuple(resources), pairs)
