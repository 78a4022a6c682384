"""What earlier commands of the same session came to on this host (target).

A shell script's ``ccm ensure`` commands each make a plan of one resource; this is what one of them
knows of those before it, as if they stood in one manifest.
"""

from typing import Any, Dict, List, NamedTuple

from remote_runtime.changes import Condition
from remote_runtime.engine import Turn
from remote_runtime.errors import ProtocolError
from remote_runtime.pending import ANYTHING

_FLAGS = ("met", "changed", "noop")


class Earlier(NamedTuple):
    """``turns`` by reference; ``pending`` are conditions that a preview may have brought about."""

    turns: Dict[str, Turn]
    pending: List[Condition]


def parse(entry: Dict[str, Any]) -> Earlier:
    """Return what the ``earlier`` of a plan says. ``ProtocolError`` names what is broken."""
    resources, pending = entry.get("resources", {}), entry.get("pending", False)
    if not isinstance(resources, dict) or not isinstance(pending, bool):
        raise _broken("it")
    turns = {}
    for reference, latest in resources.items():
        if not isinstance(latest, dict) or not all(latest.get(f) in (True, False) for f in _FLAGS):
            raise _broken(reference)
        turns[reference] = Turn(*(bool(latest[flag]) for flag in _FLAGS))
    return Earlier(turns, [Condition(ANYTHING)] if pending else [])


def _broken(what: str) -> ProtocolError:
    return ProtocolError(
        "the plan is broken: earlier: %s is not what it should be" % what, kind="protocol.plan"
    )
