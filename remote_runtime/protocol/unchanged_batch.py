"""Gathers unchanged resources, which are reported in batches (target).

The plan contains nearly everything in the event of such a resource. One message therefore
represents many events, in the order of the run; ``unchanged_events.py`` expands it::

    stable  seq, id, at, noop, prediction, rows [row, ...]
    row     [index, duration, provider] or [index, duration, provider, final, requested]

``seq``, ``id`` as a number and ``at``, the microseconds since the epoch, are those of the first
event. Each event after it has the next number and the next ID, and ended later by its own duration,
in nanoseconds. ``index`` is the position of the resource in the plan. ``requested`` is its desired
state if the plan does not contain it, ``final`` the state if it is not the desired one; otherwise,
they are null. ``noop`` and ``prediction``, "" for none, apply to all rows.
"""

from typing import Any, Dict, List, NamedTuple, Optional

MAX_ROWS = 200  # of one message, which must fit in a frame regardless of their content
MAX_TEXT_LENGTH = (
    200  # characters of a text in a row; a longer one makes the event be sent completely
)
CERTAIN = "certain"


class Unplanned(NamedTuple):
    """The parts of an unchanged resource that the plan does not contain; see the module."""

    provider: str
    final_ensure: Optional[str]
    requested_ensure: Optional[str]
    noop: bool
    prediction: str


class UnchangedEvent(NamedTuple):
    """One event: its ``seq``, its ID as ``number``, and when and after how long the resource at a
    ``place`` in the plan ended.
    """

    seq: int
    number: int
    at: float
    nanoseconds: int
    place: int
    said: Unplanned

    def row(self) -> List[Any]:
        """Its row in a message."""
        row: List[Any] = [self.place, self.nanoseconds, self.said.provider]
        states: List[Any] = [self.said.final_ensure, self.said.requested_ensure]
        return row if states == [None, None] else row + states


class UnchangedBatch(object):
    """Rows that wait to be sent; the caller holds a lock."""

    def __init__(self) -> None:
        self._first: Optional[UnchangedEvent] = None
        self._rows: List[List[Any]] = []

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self._rows)

    def fits(self, event: UnchangedEvent) -> bool:
        """Return whether a row may be in the same message as the previous rows."""
        first = self._first
        return first is None or first.said[-2:] == event.said[-2:]

    def add(self, event: UnchangedEvent) -> None:
        """Add a row that fits."""
        if self._first is None:
            self._first = event
        self._rows.append(event.row())

    def take(self) -> Dict[str, Any]:
        """The message with the rows, of which there is at least one; the batch is
        empty afterwards.
        """
        first, rows = self._first, self._rows
        assert first is not None
        self._first, self._rows = None, []
        return {
            "t": "stable",
            "seq": first.seq,
            "id": first.number,
            "at": int(first.at * 1e6),
            "noop": first.said.noop,
            "prediction": first.said.prediction,
            "rows": rows,
        }
