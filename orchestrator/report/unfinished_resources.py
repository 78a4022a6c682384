"""Finds the resources of a host's plan that have no outcome, and the reasons (controller)."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from orchestrator.fleet import events as run_events
from orchestrator.fleet.outcome import REFUSED, HostResult, is_apply

if TYPE_CHECKING:
    from orchestrator.fleet.store.stored_runs import ReportSource

_DONE, _HELD_BACK = 1, 2  # below an unmet apply: its pending refreshes remain


class _Plan:
    """The names in a plan, the indexes of each name, and the subscribers of each."""

    def __init__(self, planned: run_events.HostPlanned) -> None:
        self.names = planned.resources
        self.applies = sum(map(is_apply, self.names))
        self.places: dict[str, list[int]] = {}
        for place, name in enumerate(self.names):
            self.places.setdefault(name, []).append(place)
        self.children = dict(planned.applied)
        self.subscribers: dict[str, list[str]] = {}
        for name, sources in planned.subscribed:
            for source in sources:
                self.subscribers.setdefault(source, []).append(name)


class _HostReports:
    """The reports of a host so far: a byte for each resource that ran, and pending refreshes."""

    def __init__(self, plan: _Plan) -> None:
        self.plan = plan
        self.told = bytearray(len(plan.names))
        self.uncounted = plan.applies
        self.due: set[str] = set()

    def mark(self, name: str, event: Mapping[str, Any]) -> None:
        """Record a resource; the resources of a skipped ``apply`` have no events."""
        place = self._take(name, _DONE)
        pending = [(name, place)] if event["status"] == "skipped" and place is not None else []
        state = _HELD_BACK if event["unmet_requirements"] or "left_out" in event else _DONE
        while pending:
            name, place = pending.pop()
            for child in self.plan.children.get(name, ()):
                below = self._take(child, state, place)
                if below is not None:
                    self.uncounted += not is_apply(child)
                    pending.append((child, below))

    def _take(self, name: str, state: int, after: int = -1) -> int | None:
        """Mark the first open resource with this name after a position; None without one."""
        for place in self.plan.places.get(name, ()):
            if place > after and not self.told[place]:
                self.told[place] = state
                return place
        return None


class UnfinishedResources:
    """Receives a run's events; ``left`` has the resources that did not run on incomplete hosts, in
    the order of their plans. ``due`` has those that the next push refreshes: among them, and below
    an ``apply`` with an unmet requirement, those that subscribe to a change. ``unknown`` has those
    without an outcome on hosts that never reported the end of their run: they may have run. A
    refused host has none, because nothing was attempted. ``uncounted`` is the number of resources
    in the plan of a host that do not count in totals: each ``apply``, and the resources of a
    skipped one.

    A shared plan is stored once, and for each active host a byte per resource.
    """

    def __init__(self) -> None:
        self.left: dict[str, tuple[str, ...]] = {}
        self.due: dict[str, tuple[str, ...]] = {}
        self.unknown: dict[str, tuple[str, ...]] = {}
        self.uncounted: dict[str, int] = {}
        self._plans: dict[run_events.HostPlanned, _Plan] = {}
        self._reports: dict[str, _HostReports] = {}
        self._same: dict[tuple[str, ...], tuple[str, ...]] = {}

    def handle(self, event: run_events.Event) -> None:
        """Process an event."""
        if isinstance(event, run_events.HostPlanned):
            key = event._replace(host="")
            plan = self._plans.get(key)
            if plan is None:
                plan = self._plans[key] = _Plan(event)
            self._reports[event.host] = _HostReports(plan)
        elif isinstance(event, run_events.ResourceEvent):
            self._mark(event.host, event.event)
        elif isinstance(event, run_events.ResourcesStable):
            self._mark_stable(event)
        elif isinstance(event, run_events.HostFinished):
            self._end(event.result)

    def _mark(self, host: str, event: Mapping[str, Any]) -> None:
        reports = self._reports.get(host)
        if reports is None:
            return
        name = f"{event['type']}#{event['name']}"
        if event["changed"] and not event["noop"]:
            reports.due.update(reports.plan.subscribers.get(name, ()))
        reports.mark(name, event)

    def _mark_stable(self, event: run_events.ResourcesStable) -> None:
        reports = self._reports.get(event.host)
        if reports is not None:
            for index in event.unchanged.indices:
                if index < len(reports.told):
                    reports.told[index] = _DONE

    def _end(self, result: HostResult) -> None:
        reports = self._reports.pop(result.host, None)
        if reports is None:
            return
        if reports.uncounted:  # also of a complete run, which a gate may still fail
            self.uncounted[result.host] = reports.uncounted
        if not result.is_incomplete:
            return
        if result.outcome == REFUSED and not any(reports.told):
            return  # nothing was attempted; its outcome reports this
        told = list(zip(reports.plan.names, reports.told, strict=True))
        left = tuple(name for name, state in told if not state)
        if not result.is_end_known:
            if left:
                self.unknown[result.host] = self._same.setdefault(left, left)
            return
        due = tuple(name for name, state in told if state != _DONE and name in reports.due)
        if left:
            self.left[result.host] = self._same.setdefault(left, left)
        if due:
            self.due[result.host] = self._same.setdefault(due, due)


def unfinished_resources(
    source: "ReportSource", results: Iterable[HostResult]
) -> UnfinishedResources:
    """The data of a stored run; its events are not read if all hosts completed."""
    unfinished = UnfinishedResources()
    if any(one.is_incomplete for one in results):
        for event in source.replay():
            unfinished.handle(event)
    return unfinished
