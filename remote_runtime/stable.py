"""Gathers the turns of resources that are as desired, which are told together (target).

Of such a resource the plan says nearly all that its event would. So one message stands for many
events, in the order of the run; ``expansion.py`` makes them of it::

    stable  seq, id, at, groups [group, ...]
    group   index, durations [ns, ...], provider, noop, final_ensure?, requested_ensure?,
            prediction?

``seq``, ``id`` as a number and ``at``, the microseconds since the epoch, are those of the first
event. Each event behind it has the next number and the next id, and its turn ended its own duration
later. A group holds resources that stand one behind the other in the plan, from ``index`` on, and
of which the same is to be told: ``requested_ensure`` where the plan does not say it,
``final_ensure`` where that is not what was requested.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

MOST_TURNS = 200  # of one message, which has to fit a frame whatever they say
LONGEST = 200  # characters of a text that is told with a turn; the event is sent whole beyond
CERTAIN = "certain"


class Told(NamedTuple):
    """What the plan does not say of a resource that is as desired; see the module."""

    provider: str
    noop: bool
    final_ensure: Optional[str]
    requested_ensure: Optional[str]
    prediction: Optional[str]

    def members(self) -> Dict[str, Any]:
        """Those of a group."""
        said = zip(self._fields, self)
        return {key: value for key, value in said if value is not None}


class Turn(NamedTuple):
    """A turn of the ``resource`` at an index that is as desired; its end, and ``number``, the id of
    its event."""

    seq: int
    number: int
    at: float
    nanoseconds: int
    resource: int
    told: Told


class StableTurns(object):
    """Turns on their way; whoever uses it holds a lock."""

    def __init__(self) -> None:
        self._first: Optional[Turn] = None
        self._groups: List[Tuple[int, List[int], Told]] = []
        self.count = 0

    def add(self, turn: Turn) -> None:
        """Have a turn sent with those that came before it."""
        if self._first is None:
            self._first = turn
        self.count += 1
        if self._groups:
            index, durations, told = self._groups[-1]
            if turn.resource == index + len(durations) and turn.told == told:
                durations.append(turn.nanoseconds)
                return
        self._groups.append((turn.resource, [turn.nanoseconds], turn.told))

    def take(self) -> Dict[str, Any]:
        """The message with those that were added, of which there is one; none is left."""
        first, groups = self._first, self._groups
        assert first is not None
        self._first, self._groups, self.count = None, [], 0
        return {
            "t": "stable",
            "seq": first.seq,
            "id": first.number,
            "at": int(first.at * 1e6),
            "groups": [
                dict(told.members(), index=index, durations=durations)
                for index, durations, told in groups
            ],
        }
