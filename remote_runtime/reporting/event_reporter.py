"""Reports the event of each resource to the controller, and counts them (target)."""

import time
from typing import Any, Dict, Optional

from remote_runtime.protocol.channel import Channel
from remote_runtime.protocol.unchanged_batch import (
    CERTAIN,
    MAX_TEXT_LENGTH,
    UnchangedEvent,
    Unplanned,
)
from remote_runtime.reporting.events import EventMaker, Outcome, requested_of

# Members that a plan does not imply: an event with any of them is sent completely.
_MORE = frozenset(
    (
        "failed",
        "skipped",
        "changed",
        "refreshed",
        "noop_message",
        "prediction_reason",
        "drift",
        "due_since",
        "ended",
        "tries",
        "changes",
        "health",
        "health_only",
        "errors",
        "left_as",
    )
)


class EventReporter(object):
    """The reporter of one run; ``events`` is the number of reported events, ``tally`` counts those
    with an action.

    ``whole``: each resource has its own event. ``observer`` makes the digests for a plan file that
    is being written.
    """

    def __init__(self, channel: Channel, event_builder: EventMaker) -> None:
        self.maker = event_builder
        self.events = 0
        self.tally: Dict[str, int] = {}
        self.whole = False
        self.observer: Any = None
        self._channel = channel

    def ended(self, outcome: Outcome, noop: bool, seconds: float) -> None:
        """Report a resource that took this many seconds."""
        said = None if self.whole else unplanned_of(outcome, noop, self.maker)
        event, text = ({}, "") if said is not None else self.maker.make_text(outcome, noop, seconds)
        self.events += 1
        if not noop:
            self._count(outcome.status)
            if outcome.refreshed:
                self._count("refreshed")
        self._channel.settled()
        if said is not None:
            self._gather(outcome.item.index, said, seconds)
        elif text and self.observer is None:
            self._channel.send_text('{"t":"event","seq":%d,"event":%s}' % (self.events, text))
        else:
            if self.observer is not None:
                event["observed"] = self.observer.digest(outcome)
            self._channel.send({"t": "event", "seq": self.events, "event": event})

    def _count(self, word: str) -> None:
        self.tally[word] = self.tally.get(word, 0) + 1

    def _gather(self, index: int, unplanned: Unplanned, seconds: float) -> None:
        ids = self.maker.ids
        number = ids.follow() if self._channel.gathers else ids.advance()
        unchanged = UnchangedEvent(
            seq=self.events,
            number=number,
            at=time.time(),
            nanoseconds=int(seconds * 1e9),
            place=index,
            said=unplanned,
        )
        self._channel.send_unchanged(unchanged)


def unplanned_of(outcome: Outcome, noop: bool, event_builder: EventMaker) -> Optional[Unplanned]:
    """The row of a resource; None if its event must be sent completely."""
    item = outcome.item
    said = vars(outcome)  # of an outcome: most of these are as they were at first
    for name in _MORE.intersection(said):
        if said[name]:
            return None
    if not item.implied or outcome.prediction not in ("", CERTAIN):
        return None
    requested = None
    wanted = item.properties.get("ensure")
    if wanted is None:
        wanted = requested_of(item)
        requested = event_builder.labelled(item, wanted)
    final = None
    if outcome.final_ensure != str(wanted):
        final = event_builder.labelled(item, outcome.final_ensure)
    for text in (outcome.provider, final or "", requested or ""):
        if len(text) > MAX_TEXT_LENGTH:
            return None
    return Unplanned(
        provider=outcome.provider,
        final_ensure=final,
        requested_ensure=requested,
        noop=noop,
        prediction=outcome.prediction,
    )
