"""The state of a host from its last runs: its outcome, since when, and whether it flaps
(controller).
"""

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orchestrator.fleet import outcome

LOOKED_AT = 1_000  # runs
RECENT = 10  # runs that decide whether a host flaps
FLAPS = 3  # changes between success and failure in them
TROUBLE, NEVER_REACHED, FLAPPING, NO_RUN, FINE = range(5)
"""The ranks of hosts, in the order in which pages show them."""

_GOOD = ("changed", outcome.OK)
_MAX_SORT_LENGTH = 300
_DIGITS = 10


class PastResult(NamedTuple):
    """The result of a host in one run, for ``state_of``."""

    run: int
    outcome: str
    started: bool
    is_push: bool


class HostState(NamedTuple):
    """``outcome`` is the outcome in the run ``last``, "" for none; it has been the same since the
    run ``since``.

    ``flips`` counts the changes between success and failure in recent runs. ``flaps_since`` is the
    run of the first change in the period in which it flaps, None if it does not flap.
    """

    outcome: str = ""
    last: int | None = None
    since: int | None = None
    reached: bool = False
    flips: int = 0
    flaps_since: int | None = None
    rank: int = NO_RUN


def is_good(outcome: str) -> bool:
    """Whether an outcome requires no attention."""
    return outcome in _GOOD


def state_of(results: Iterable[PastResult]) -> HostState:
    """The state after these results, which are sorted newest first.

    Pushes determine the state; other runs count only for a host without a push. A run in which the
    host did not start, or has not ended, is ignored.
    """
    told = [one for one in results if one.started and one.outcome not in ("running", "waiting")]
    counted = [one for one in told if one.is_push] or told
    if not counted:
        return HostState()
    last = counted[0]
    good = is_good(last.outcome)
    since = last
    for one in counted:
        if is_good(one.outcome) != good or (not good and one.outcome != last.outcome):
            break
        since = one
    reached = any(one.outcome != outcome.UNREACHABLE for one in told)
    flips = len(_flips(counted[:RECENT]))
    return HostState(
        last.outcome,
        last.run,
        since.run,
        reached,
        flips=flips,
        flaps_since=_flaps_since(counted),
        rank=_rank(good, reached, flips),
    )


def _flips(results: Sequence[PastResult]) -> list[int]:
    """The runs in which the result changed between success and failure, newest first."""
    return [
        one.run
        for one, before in itertools.pairwise(results)
        if is_good(one.outcome) != is_good(before.outcome)
    ]


def _flaps_since(results: Sequence[PastResult]) -> int | None:
    since = None
    for at in range(len(results)):
        flips = _flips(results[at : at + RECENT])
        if len(flips) < FLAPS:
            break
        since = flips[-1]
    return since


def _rank(good: bool, reached: bool, flips: int) -> int:
    if not reached:
        return NEVER_REACHED
    if not good:
        return TROUBLE
    return FLAPPING if flips >= FLAPS else FINE


def sort_key(name: str) -> str:
    """Key that sorts names as people do: web2 before web10."""
    padded = re.sub(r"\d{1,10}", lambda found: found[0].zfill(_DIGITS), name)
    return padded[:_MAX_SORT_LENGTH]
