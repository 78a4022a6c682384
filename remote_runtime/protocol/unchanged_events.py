"""Expands the rows of ``unchanged_batch.py`` into events (controller).

The same row and plan always result in the same event, which equals in every member an event that is
sent completely.
"""

from typing import Any, Dict, Iterable, Iterator, List

from remote_runtime.plan_item import Item
from remote_runtime.reporting.events import (
    LARGEST,
    PROTOCOL,
    EventMaker,
    Outcome,
    encode_id,
    timestamp_of,
)

LATEST = 253402300800 * 10**6  # microseconds since the epoch; until then a year has four digits
_SMALL = LARGEST // 8  # characters; masking may make it longer
_OF_PLAN = ("type", "name", "alias", "manifest", "properties", "requested_ensure")


def is_plain(item: Item, event_builder: EventMaker, text: str) -> bool:
    """Return whether an event shows an item exactly as in its JSON ``text``, neither masked nor
    shortened.
    """
    return len(text) < _SMALL and event_builder.leaves_plain(item, text)


def implied_members(item: Item, event_builder: EventMaker, text: str = "") -> Dict[str, Any]:
    """The members of an event that follow from its plan, masked; ``event_builder`` is the event
    maker of its host's run.

    ``requested_ensure`` is included only if the plan contains it. For most resources, a search of
    the JSON ``text`` of the item shows that nothing must be masked and that nothing is too large.
    """
    quick = text and len(text) < _SMALL
    event = (
        event_builder.of_plan(item, text)
        if quick
        else event_builder.make(Outcome(item), False, 0.0)
    )
    if item.properties.get("ensure") is None:
        del event["requested_ensure"]
    return {key: event[key] for key in _OF_PLAN if key in event}


def whole_events(message: Dict[str, Any], implied: Iterable[Any]) -> Iterator[Dict[str, Any]]:
    """The complete events of a message, or of its stored part; ``implied`` has the implied members
    for the resource of each row.
    """
    number, at = message["id"], message["at"]
    elapsed = -1  # nanoseconds since the end of the first one
    for row, of_plan in zip(message["rows"], implied):
        elapsed = 0 if elapsed < 0 else elapsed + row[1]
        yield _event(of_plan, message, row=row, number=number, at=at + elapsed // 1000)
        number += 1


def _event(
    implied: Dict[str, Any], message: Dict[str, Any], *, row: List[Any], number: int, at: int
) -> Dict[str, Any]:
    _, duration, provider, final, requested = row if len(row) == 5 else (*row, None, None)
    if requested is None:
        requested = implied["requested_ensure"]
    event: Dict[str, Any] = {
        "protocol": PROTOCOL,
        "event_id": encode_id(number),
        "timestamp": timestamp_of(at),
        "type": implied["type"],
        "name": implied["name"],
        "provider": provider,
        "requested_ensure": requested,
        "final_ensure": requested if final is None else final,
        "duration": duration,
        "properties": implied["properties"],
        "status": "stable",
        "changes": [],
        "error": [],
        "changed": False,
        "refreshed": False,
        "failed": False,
        "skipped": False,
        "noop": message["noop"],
        "unmet_requirements": [],
    }
    for key in ("alias", "manifest"):
        if key in implied:
            event[key] = implied[key]
    if message["prediction"]:
        event["prediction"] = message["prediction"]
    return event
