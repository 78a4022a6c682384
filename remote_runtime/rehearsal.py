"""Holds a push to the plan that was kept of its preview (target).

Under the lock and before anything is changed the run is previewed once more. Where something was
observed that the plan does not know, nothing is done. At its turn a resource whose prediction was
certain does what was rehearsed, or fails.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from remote_runtime.changes import shortened
from remote_runtime.errors import HostError
from remote_runtime.events import EventMaker, Outcome
from remote_runtime.item import broken
from remote_runtime.lean import jsontext
from remote_runtime.lean.digest import sha256
from remote_runtime.promises import Promises
from remote_runtime.system.machine import machine_id

LENGTH = 32  # hexadecimal digits of a digest: enough, and there is one for each resource
_TOLD = 10  # resources that a refusal names


class Binding(NamedTuple):
    """What a plan frame says of a kept plan.

    ``observed`` has a digest for each event of the preview, ``certain`` the places in there whose
    prediction was. Without a ``serial`` the plan is yet to be kept: digests are asked for.
    ``created`` and ``expires`` are the plan's, in seconds since the epoch by its maker's clock.
    """

    salt: str = ""
    serial: str = ""
    observed: Sequence[str] = []
    certain: Sequence[int] = []
    created: int = 0
    expires: int = 0


def parse(record: Dict[str, Any]) -> Binding:
    """The binding of a plan frame; ``ProtocolError``."""
    values: List[Any] = []
    for key, default in Binding._field_defaults.items():
        value: Any = record.get(key, default)
        if not isinstance(value, type(default)):
            raise broken("binding." + key, str(type(default)), value)
        values.append(value)
    return Binding(*values)


class Observer(object):
    """Makes the digests of what was observed, which tell nothing to who does not know this machine.

    The key is the machine's id, by default that of this one, and the plan's salt.
    """

    def __init__(self, salt: str, machine: Optional[str] = None) -> None:
        own = machine_id() if machine is None else machine
        self._key = sha256(("ccm plan %s %s" % (own, salt)).encode()).digest()

    def digest(self, outcome: Outcome) -> str:
        """The digest of what a preview found of one resource, and would do about it."""
        changes = [change.record() for change in outcome.changes]
        for change in changes:
            change.pop("diff", None)  # a rehearsal makes none
        seen = [
            outcome.item.id,
            outcome.status,
            outcome.final_ensure,
            outcome.observed,
            [sorted(change.items()) for change in changes],
            outcome.refreshed,
        ]
        inner = sha256(self._key + jsontext.dumps(seen).encode("ascii")).digest()
        digest: str = sha256(self._key + inner).hexdigest()
        return digest[:LENGTH]


class Rehearsal(object):
    """The preview of a run right before it; ``ended`` is told of each resource, in order.

    ``promises`` are what the run is then held to. ``seen`` is how many resources had their turn
    before a reboot; what comes behind that is held to what was promised only.
    """

    def __init__(
        self, binding: Binding, observer: Observer, maker: EventMaker, seen: int = 0
    ) -> None:
        self._observed = binding.observed
        self._certain = frozenset(binding.certain)
        self._observer = observer
        self._maker = maker
        self._seen = seen
        self._drifted: List[str] = []
        self.promises = Promises()

    def ended(self, outcome: Outcome, noop: bool, seconds: float) -> None:
        """Compare what was observed; what is as desired by now is fine."""
        place = self._seen
        self._seen += 1
        known = self._observed[place] if place < len(self._observed) else ""
        if place in self._certain:
            self.promises.add(outcome.item, outcome.changes, outcome.failing)
        # One that is made of others differs only where one of these does.
        if outcome.status == "stable" or outcome.item.applies:
            return
        if self._observer.digest(outcome) != known:
            self._drifted.append(_told(self._maker.make(outcome, noop, seconds)))

    def require_no_drift(self) -> None:
        """``HostError`` that names what was observed differently."""
        if not self._drifted and self._seen == len(self._observed):
            return
        told = self._drifted[:_TOLD]
        more = len(self._drifted) - len(told)
        told += ["%d more" % more] if more else []
        raise HostError(
            "the host has drifted since the plan was made: "
            + ("; ".join(told) or "other resources have their turn"),
            kind="plan.refused.drifted",
            hint="nothing was changed here; look at what drifted, then plan anew",
        )


def _told(event: Dict[str, Any]) -> str:
    """One resource that drifted, masked: what is there now."""
    name = "%s#%s" % (event["type"], event["name"])
    before = [(c["what"], shortened(c["from"])) for c in event["changes"]]
    found = ["%s is %s" % pair for pair in before if pair[1] is not None]
    return "%s (%s)" % (name, ", ".join((event["error"] or found)[:3]) or "not as it was")
