"""What earlier commands of the same session came to on this host (target).

A shell script's ``ccm ensure`` commands each make a plan of one resource; this is what one of them
knows of those before it, as if they stood in one manifest.
"""

from typing import Any, Dict, List, NamedTuple

from remote_runtime.effects import ASSUMED, Doubt, Fog, everything
from remote_runtime.engine import Turn
from remote_runtime.errors import ProtocolError

_DOUBT = Doubt(ASSUMED, "an earlier command of the session may change this before its turn")
_FLAGS = ("met", "changed", "noop")


class Earlier(NamedTuple):
    """``turns`` by reference; ``pending`` is what those that were previews would have done."""

    turns: Dict[str, Turn]
    pending: List[Fog]


def parse(entry: Dict[str, Any]) -> Earlier:
    """Return what the ``earlier`` of a plan says. ``ProtocolError`` names what is broken."""
    resources, pending = entry.get("resources", {}), entry.get("pending", False)
    if not isinstance(resources, dict) or not isinstance(pending, bool):
        raise _broken("it")
    turns = {}
    for reference, latest in resources.items():
        if not isinstance(latest, dict) or not all(latest.get(f) in (True, False) for f in _FLAGS):
            raise _broken(reference)
        met, changed, noop = (bool(latest[flag]) for flag in _FLAGS)
        turns[reference] = Turn(met, changed, noop=noop)
    return Earlier(turns, [Fog(_DOUBT, everything)] if pending else [])


def _broken(what: str) -> ProtocolError:
    return ProtocolError(
        "the plan is broken: earlier: %s is not what it should be" % what, kind="protocol.plan"
    )
