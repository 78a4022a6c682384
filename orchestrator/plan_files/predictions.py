"""Results that differ from the predictions of a plan (controller)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from orchestrator.support.plain_text import one_line
from remote_runtime.changes import shortened

_MAX_LENGTH = 400  # characters
NOTHING = "nothing: it was not in the plan"

EventRecord = Mapping[str, Any]


class Predictions:
    """The predictions for the resources of one host, in order."""

    def __init__(self, told: Iterable[EventRecord]) -> None:
        self._left: dict[tuple[str, ...], list[EventRecord]] = {}
        for one in told:
            self._left.setdefault(_name(one), []).append(one)

    def misprediction(self, event: EventRecord) -> str:
        """The prediction of a resource as text; "" if it was right.

        For a resource with several runs, the next run is compared.
        """
        left = self._left.get(_name(event))
        if not left:
            return NOTHING
        told = left.pop(0)
        return "" if _came(told) == _came(event) else one_line(_words(told), _MAX_LENGTH)


def _name(told: EventRecord) -> tuple[str, ...]:
    return told["type"], told["name"], told.get("manifest", "")


def _came(told: EventRecord) -> tuple[Any, ...]:
    """The members of an outcome that must match; either side may lack diffs."""
    changes = [(change["what"], change["from"], change["to"]) for change in told["changes"]]
    return told["status"], told["refreshed"], changes


def _words(told: EventRecord) -> str:
    values = ((c["what"], [c["from"], c["to"]]) for c in told["changes"])
    changes = ", ".join(
        f"{what} {' → '.join(str(shortened(value)) for value in pair if value is not None)}"
        for what, pair in values
    )
    status = "unchanged" if told["status"] == "stable" else told["status"]
    refreshed = " (refresh)" if told["refreshed"] else ""
    uncertainty = told.get("prediction", "certain")
    sure = "" if uncertainty == "certain" else f" ({uncertainty})"
    return f"{status}{refreshed}{sure}{f': {changes}' if changes else ''}"
