"""Earlier results on this host (target): of commands of the same session, or of the part of the run
before a reboot.

Each ``ccm ensure`` command of a shell script makes a plan with one resource; this module gives a
command the results of earlier ones, as if all of them were in one manifest.
"""

from typing import Any, Dict, List, NamedTuple, Optional

from remote_runtime.context import Context
from remote_runtime.effects import UnknownEffect, everything
from remote_runtime.errors import ProtocolError
from remote_runtime.execution.plan_executor import ResourceResult
from remote_runtime.execution.reboot_resume import Boot
from remote_runtime.execution.reboot_resume import parse as parse_boot
from remote_runtime.uncertainty import ASSUMED, Uncertainty

_DOUBT = Uncertainty(ASSUMED, "an earlier command of the session may change the host first")
_FLAGS = ("met", "changed", "noop")


class EarlierResults(NamedTuple):
    """``results`` by reference; ``pending`` has the actions of earlier previews; ``boot`` is the
    reboot after which the run continues, None if there is none.
    """

    results: Dict[str, ResourceResult]
    pending: List[UnknownEffect]
    boot: Optional[Boot] = None


def parse(entry: Dict[str, Any]) -> EarlierResults:
    """The content of a plan's ``earlier``. ``ProtocolError`` names the broken part."""
    resources, pending = entry.get("resources", {}), entry.get("pending", False)
    if not isinstance(resources, dict) or not isinstance(pending, bool):
        raise _broken("it")
    results = {}
    for reference, latest in resources.items():
        if not isinstance(latest, dict) or not all(latest.get(f) in (True, False) for f in _FLAGS):
            raise _broken(reference)
        met, changed, noop = (bool(latest[flag]) for flag in _FLAGS)
        results[reference] = ResourceResult(
            met, changed, noop=noop, apart=str(latest.get("apart", ""))
        )
    boot = parse_boot(entry["reboot"], list(results)) if "reboot" in entry else None
    return EarlierResults(results, [UnknownEffect(_DOUBT, everything)] if pending else [], boot)


def earlier_results(entry: Dict[str, Any], context: Context) -> Dict[str, ResourceResult]:
    """The earlier results; the effects of earlier previews are pending from then on."""
    earlier = parse(entry)
    context.boot = earlier.boot
    context.expect(earlier.pending, Uncertainty(), "")
    return earlier.results


def _broken(what: str) -> ProtocolError:
    return ProtocolError("invalid plan: earlier: invalid %s" % what, kind="protocol.plan")
