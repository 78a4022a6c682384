"""Results that differ from the predictions of a plan (controller)."""

from collections.abc import Iterable, Mapping
from typing import Any

from orchestrator.support.plain_text import one_line
from remote_runtime.changes import shortened

_MAX_LENGTH = 400  # characters
NOTHING = "nothing: it was not in the plan"

EventRecord = Mapping[str, Any]


class Predictions:
    """The predictions for the resources of one host, in order."""

    def __init__(self, records: Iterable[EventRecord]) -> None:
        self._left: dict[tuple[str, ...], list[EventRecord]] = {}
        for one in records:
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


def _name(record: EventRecord) -> tuple[str, ...]:
    return record["type"], record["name"], record.get("manifest", "")


def _came(record: EventRecord) -> tuple[Any, ...]:
    """The members of an outcome that must match; either side may lack diffs."""
    changes = [(change["what"], change["from"], change["to"]) for change in record["changes"]]
    return record["status"], record["refreshed"], changes


def _words(record: EventRecord) -> str:
    values = ((c["what"], [c["from"], c["to"]]) for c in record["changes"])
    changes = ", ".join(
        f"{what} {' → '.join(str(shortened(value)) for value in pair if value is not None)}"
        for what, pair in values
    )
    status = "unchanged" if record["status"] == "stable" else record["status"]
    refreshed = " (refresh)" if record["refreshed"] else ""
    uncertainty = record.get("prediction", "certain")
    sure = "" if uncertainty == "certain" else f" ({uncertainty})"
    return f"{status}{refreshed}{sure}{f', {changes}' if changes else ''}"
