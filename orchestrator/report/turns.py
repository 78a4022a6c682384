"""Which resources of a host's plan had no turn (controller)."""

from collections.abc import Iterable

from orchestrator.fleet import events as happening
from orchestrator.fleet.kept_runs import KeptRecord
from orchestrator.fleet.outcome import HostResult


class _Plan:
    """The names of a plan, and at which places each one stands."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.places: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            self.places.setdefault(name, []).append(place)


class Turns:
    """Takes a run's events; ``left`` has the resources that had no turn on hosts that were cut
    short, in the order of their plans.

    A plan that hosts share is held once, and of each host a byte per resource while it is at work.
    """

    def __init__(self) -> None:
        self.left: dict[str, tuple[str, ...]] = {}
        self._plans: dict[tuple[str, ...], _Plan] = {}
        self._heard: dict[str, tuple[_Plan, bytearray]] = {}
        self._same: dict[tuple[str, ...], tuple[str, ...]] = {}

    def handle(self, event: happening.Event) -> None:
        """Take note of an event."""
        if isinstance(event, happening.HostPlanned):
            plan = self._plans.get(event.resources)
            if plan is None:
                plan = self._plans[event.resources] = _Plan(event.resources)
            self._heard[event.host] = plan, bytearray(len(plan.names))
        elif isinstance(event, happening.ResourceEvent):
            self._mark(event.host, f"{event.event['type']}#{event.event['name']}")
        elif isinstance(event, happening.HostFinished):
            self._end(event.result)

    def _mark(self, host: str, name: str) -> None:
        plan, heard = self._heard.get(host, (None, bytearray()))
        for place in plan.places.get(name, ()) if plan else ():
            if not heard[place]:
                heard[place] = 1
                break

    def _end(self, result: HostResult) -> None:
        plan, heard = self._heard.pop(result.host, (None, bytearray()))
        if plan is not None and _is_cut_short(result):
            left = tuple(name for name, told in zip(plan.names, heard, strict=True) if not told)
            if left:
                self.left[result.host] = self._same.setdefault(left, left)


def turns_of(kept: KeptRecord, results: Iterable[HostResult]) -> Turns:
    """Those of a kept run, whose events are not read where all hosts came to their end."""
    turns = Turns()
    if any(map(_is_cut_short, results)):
        for event in kept.replay():
            turns.handle(event)
    return turns


def _is_cut_short(result: HostResult) -> bool:
    return bool(result.message or result.untried)
