"""Whether a preview said what the push did: each resource of a scenario falls into one class."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from .scenario import Scenario

Event = dict[str, Any]

EXACT = "exact"
RECORD = "record"
ASSUMED = "assumed"
UNKNOWN = "unknown"
WRONG = "wrong"
INHERENT = "inherent"
CLASSES = (EXACT, RECORD, ASSUMED, UNKNOWN, WRONG, INHERENT)
"""Certain and right in every record; certain, the status right, a record not; assumed; unknown;
certain and wrong; certain and wrong where only running can tell."""


@dataclass(frozen=True)
class Verdict:
    """One resource on one host. ``right`` is whether the push did what the preview said;
    ``open`` whether the scenario says that it cannot be known beforehand."""

    scenario: str
    host: str
    resource: str
    kind: str
    right: bool
    open: bool
    preview: Event | None
    push: Event | None

    @property
    def type(self) -> str:
        return self.resource.partition("#")[0]

    @property
    def missed(self) -> bool:
        """Whether a better preview would have said more, or something else."""
        return self.kind in (RECORD, WRONG) or (self.kind in (ASSUMED, UNKNOWN) and not self.open)

    def told(self) -> str:
        """The class, and below it what either run said."""
        return (
            f"{self.kind}: {self.host} {self.resource}\n"
            f"    preview: {told(self.preview)}\n"
            f"    push:    {told(self.push)}"
        )


def judge(scenario: Scenario, preview: Sequence[Event], push: Sequence[Event]) -> list[Verdict]:
    """A verdict for each resource that either run told of, in the order of the preview."""
    foretold, done = _numbered(preview), _numbered(push)
    return [
        _verdict(scenario, key, foretold.get(key), done.get(key))
        for key in dict.fromkeys([*foretold, *done])
    ]


Key = tuple[str, str, int]


def _numbered(events: Sequence[Event]) -> dict[Key, Event]:
    """By host and resource; one that two manifests of a run hold comes once for each."""
    found: dict[Key, Event] = {}
    for event in events:
        resource = f"{event['type']}#{event['name']}"
        number = sum(1 for host, name, _ in found if (host, name) == (event["host"], resource))
        found[event["host"], resource, number] = event
    return found


def _verdict(scenario: Scenario, key: Key, preview: Event | None, push: Event | None) -> Verdict:
    host, resource, _ = key
    right = _end(preview) == _end(push)
    exact = right and records(preview) == records(push)
    prediction = (preview or {}).get("prediction", "certain")
    if prediction != "certain":
        kind = ASSUMED if prediction == "assumed" else UNKNOWN
    elif right:
        kind = EXACT if exact else RECORD
    else:
        kind = INHERENT if resource in scenario.inherent else WRONG
    is_open = resource in scenario.open or resource in scenario.inherent
    return Verdict(scenario.name, host, resource, kind, exact, is_open, preview, push)


def _end(event: Event | None) -> tuple[object, ...]:
    return (event["status"], event["refreshed"]) if event else ("no event",)


def records(event: Event | None) -> list[tuple[Any, Any, Any]]:
    """The change records of an event: what, from and to."""
    changes = event["changes"] if event else []
    return [(change["what"], change["from"], change["to"]) for change in changes]


def told(event: Event | None) -> str:
    """One event on one line, as far as it is judged, with the reasons that stand in it."""
    if event is None:
        return "no event"
    parts = [event["status"], *(["refreshed"] if event["refreshed"] else [])]
    if "prediction" in event:
        parts.append(f"({event['prediction']})")
    parts += [f"{what}: {old!r} -> {new!r};" for what, old, new in records(event)]
    reasons = [event.get("prediction_reason", ""), *event["error"], *event["unmet_requirements"]]
    return " ".join([*parts, *(f"[{reason}]" for reason in reasons if reason)])


def moved_again(scenario: Scenario, again: Sequence[Event]) -> list[str]:
    """What a second push did that is neither marked nor a failure that the scenario wants."""
    return [
        f"{event['host']}: {resource}: {told(event)}"
        for event in again
        for resource in [f"{event['type']}#{event['name']}"]
        if event["status"] in ("changed", "failed")
        and resource not in scenario.again
        and not (event["status"] == "failed" and resource in scenario.fails)
    ]


def told_to_undo(said: str) -> list[tuple[str, str]]:
    """The pairs of resources that the output of a preview says undo each other."""
    return re.findall(r"(\S+#\S+) and (\S+#\S+) undo each other", " ".join(said.split()))


def told_in_vain(pairs: Sequence[tuple[str, str]], again: Collection[str]) -> list[str]:
    """Of the pairs that a preview says undo each other, those that a second push lets be."""
    return [
        f"{one} and {other} do not undo each other"
        for one, other in pairs
        if not {one, other} & set(again)
    ]


def not_as_meant(scenario: Scenario, push: Sequence[Event]) -> list[str]:
    """Where the push did not come to what the scenario is about: its failures, and no others.

    What nobody can know beforehand may fail or not.
    """
    failed = {f"{event['type']}#{event['name']}": event for event in push if event["failed"]}
    sure = [name for name in scenario.fails if name not in scenario.open]
    held = [f"{name} was to fail" for name in sure if name not in failed]
    broke = [
        f"{name} was not to fail: {told(event)}"
        for name, event in failed.items()
        if name not in scenario.fails
    ]
    return held + broke
