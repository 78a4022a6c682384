"""Makes events of the turns that ``stable.py`` gathers (controller).

Of the same turn and the same plan always comes the same event, member for member that of a resource
whose event was sent whole.
"""

from typing import Any, Dict, Iterable, Iterator, Sequence, Tuple

from remote_runtime.events import LARGEST, PROTOCOL, EventMaker, Outcome, spelt_out, timestamp_of
from remote_runtime.item import Item

LATEST = 253402300800 * 10**6  # microseconds since the epoch; until then a year has four digits
_SMALL = LARGEST // 8  # characters, of which a mask may make more
_OF_PLAN = ("type", "name", "alias", "manifest", "properties", "requested_ensure")


def is_plain(item: Item, maker: EventMaker, text: str) -> bool:
    """Whether an event shows of an item what its JSON ``text`` says, neither masked nor cut."""
    return len(text) < _SMALL and maker.leaves_plain(item, text)


def implied_members(item: Item, maker: EventMaker, text: str = "") -> Dict[str, Any]:
    """What an event of a resource has of its plan, masked; ``maker`` is that of its host's run.

    ``requested_ensure`` only where the plan says it. The JSON ``text`` of the item, where there is
    one, tells of most that nothing is to be masked or too large for an event.
    """
    quick = text and len(text) < _SMALL
    event = maker.of_plan(item, text) if quick else maker.make(Outcome(item), False, 0.0)
    if item.properties.get("ensure") is None:
        del event["requested_ensure"]
    return {key: event[key] for key in _OF_PLAN if key in event}


def whole_events(
    number: int, at: int, groups: Iterable[Tuple[Dict[str, Any], Sequence[int], Iterable[Any]]]
) -> Iterator[Dict[str, Any]]:
    """The events of a message; ``number`` is the id of the first as one.

    Each group is what it says but for the index, its durations, and what the plan implies of each
    of its resources.
    """
    elapsed = -1  # nanoseconds since the end of the first turn
    for told, durations, implied in groups:
        for duration, of_plan in zip(durations, implied):
            elapsed = 0 if elapsed < 0 else elapsed + duration
            event = _event(of_plan, told, number=number, at=at + elapsed // 1000)
            event["duration"] = duration
            yield event
            number += 1


def _event(
    implied: Dict[str, Any], told: Dict[str, Any], *, number: int, at: int
) -> Dict[str, Any]:
    requested = implied.get("requested_ensure")
    requested = told["requested_ensure"] if requested is None else requested
    event: Dict[str, Any] = {
        "protocol": PROTOCOL,
        "event_id": spelt_out(number),
        "timestamp": timestamp_of(at),
        "type": implied["type"],
        "name": implied["name"],
        "provider": told["provider"],
        "requested_ensure": requested,
        "final_ensure": told.get("final_ensure", requested),
        "duration": 0,
        "properties": implied["properties"],
        "status": "stable",
        "changes": [],
        "error": [],
        "changed": False,
        "refreshed": False,
        "failed": False,
        "skipped": False,
        "noop": told["noop"],
        "unmet_requirements": [],
    }
    for key, source in (("alias", implied), ("manifest", implied), ("prediction", told)):
        if key in source:
            event[key] = source[key]
    return event
