"""Checks a push against the plan file of its preview (target).

The run is previewed again under the lock, before anything is changed. If the state differs from the
plan, nothing is done. A resource with a certain prediction then does exactly that, or fails.
"""

from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.changes import HASHED, Change
from remote_runtime.errors import HostError
from remote_runtime.plan_item import plan_error
from remote_runtime.plans.assertions import PlanAssertions
from remote_runtime.plans.shown_actions import not_shown
from remote_runtime.reporting.events import EventMaker, Outcome
from remote_runtime.stdlib_light import json_text
from remote_runtime.stdlib_light.sha256_digest import sha256
from remote_runtime.system.machine_id import machine_id
from remote_runtime.uncertainty import UNKNOWN

LENGTH = 16  # hexadecimal digits of a digest: enough, since the key is secret
STATUS, FIRED = " status", " refreshed"  # replaces a property; no property has this name
OPERATION = " operation"  # the same, before the place of the operation in the event
_MAX_CHANGES = 32  # of a resource that have separate digests
_MAX_PARTS = 150  # of its operations, the same
_DOES, _UNKNOWN = "does", "unknown"
_TOLD = 10  # resources that a refusal names
_MAX_LINES = 60  # of diffs


class Binding(NamedTuple):
    """The part of a plan frame about a plan file.

    ``observed`` has the digests for each event of the preview, "" for unbound ones; ``certain`` has
    the indexes of those with a certain prediction. ``shown`` has the digests of what the plan file
    shows of each. Without a ``serial``, the plan file is being
    written, so digests are requested. ``created`` and ``expires`` are the times of the plan, in
    seconds since the epoch by the clock of its author.
    """

    salt: str = ""
    serial: str = ""
    observed: Sequence[str] = []
    certain: Sequence[int] = []
    shown: Sequence[str] = []
    created: int = 0
    expires: int = 0


def parse(record: Dict[str, Any]) -> Binding:
    """The binding of a plan frame; ``ProtocolError``."""
    values: List[Any] = []
    for key, default in Binding._field_defaults.items():
        value: Any = record.get(key, default)
        if not isinstance(value, type(default)):
            raise plan_error("binding." + key, str(type(default)), value)
        values.append(value)
    return Binding(*values)


class Observer(object):
    """Creates the digests of observed state, which reveal nothing without knowledge of this
    machine.

    The key consists of the machine ID, by default that of this machine, and the plan's salt. There
    is one digest for each observed value, for each change and for each property that an operation
    sets, so that a fixed value can be distinguished from drift.
    """

    def __init__(self, salt: str, machine: Optional[str] = None) -> None:
        own = machine_id() if machine is None else machine
        self._key = sha256(("ccm plan %s %s" % (own, salt)).encode()).digest()

    def digest(self, outcome: Outcome) -> str:
        """Return the digests of a resource's observed state and predicted operations, joined."""
        of = self._of(outcome)
        parts = [of("status", outcome.status)]
        if outcome.status == "stable":
            return parts[0]  # any later change is not in the plan
        parts += [of("seen", key, value) for key, value in _seen(outcome)]
        changes = _changes(outcome)
        parts += [of("change", change) for change in changes]
        if len(outcome.changes) <= _MAX_CHANGES:
            parts += [of("what", change.what) for change in outcome.changes]
        parts += [of("refreshed")] if outcome.refreshed else []
        parts += [of(*part) for part in _operations(outcome)]
        parts += [of(_UNKNOWN)] if any(one["kind"] == UNKNOWN for one in outcome.effects) else []
        return "".join(sorted(set(parts)))

    def differing(self, outcome: Outcome, known: str) -> List[str]:
        """The differences of a resource from its plan that remain: names of its properties,
        ``STATUS`` or ``FIRED`` (and nothing else differs). If none of these differs, the operations
        that are not in the plan: names that begin with ``OPERATION``.
        """
        of = self._of(outcome)
        parts = {known[at : at + LENGTH] for at in range(0, len(known), LENGTH)}
        now = {change.what for change in outcome.changes}

        def is_put_right(key: str) -> bool:
            return any(of("what", one) in parts and one not in now for one in (key, "ensure"))

        names = [
            change.what for change in outcome.changes if of("change", _record(change)) not in parts
        ]
        if len(outcome.changes) > _MAX_CHANGES:
            names = [] if of("change", _changes(outcome)[0]) in parts else sorted(now)
        was_stable = of("status", "stable") in parts  # whose other properties are unknown
        names += [
            key
            for key, value in _seen(outcome)
            if not (was_stable or of("seen", key, value) in parts or is_put_right(key))
        ]
        if not names and of("status", outcome.status) not in parts:
            names = [STATUS]
        if outcome.refreshed and of("refreshed") not in parts:
            fired = {change.what for change in outcome.changes if _is_of_refresh(change)}
            names = [FIRED] if set(names) <= fired | {STATUS} else names
        if not names and not was_stable and of(_UNKNOWN) not in parts:
            names = _places([p for p in _operations(outcome) if of(*p) not in parts], outcome)
        return list(dict.fromkeys(names))

    def _of(self, outcome: Outcome) -> Callable[..., str]:
        """The function that creates digests of a resource's values."""

        def of(*what: Any) -> str:
            text = json_text.dumps([outcome.item.id, what]).encode("ascii")
            inner = sha256(self._key + text).digest()
            digest: str = sha256(self._key + inner).hexdigest()
            return digest[:LENGTH]

        return of


def _is_of_refresh(change: Change) -> bool:
    return change.what == "command" or change.after == "restarted"


def _seen(outcome: Outcome) -> List[Tuple[str, Any]]:
    """The observations that affect a resource in addition to its changes, by the property that they
    concern.
    """
    observed = outcome.observed
    if observed is None:
        return []
    return sorted(observed.items()) if isinstance(observed, dict) else [("", observed)]


def _operations(outcome: Outcome) -> List[Tuple[Any, ...]]:
    """Return the parts of a resource's operations to compare; with few operations, each property is
    one part."""
    if not outcome.recorded:
        return []
    from remote_runtime.reporting.operations import VERSION, compared

    parts = compared(outcome.recorded)
    if len(parts) > _MAX_PARTS:
        return [(_DOES, VERSION, sorted(map(repr, parts)))]
    return [(_DOES, VERSION, *part) for part in parts]


def _places(parts: Sequence[Tuple[Any, ...]], outcome: Outcome) -> List[str]:
    """Return the positions in the event of the operations of these parts, which are not masked."""
    from remote_runtime.reporting.operations import operations

    if not parts:
        return []
    entries = [(one["kind"], one["name"]) for one in operations(outcome.recorded)]
    places = [entries.index(part[2:4]) for part in parts if part[2:4] in entries]
    return [OPERATION + str(place) for place in places] or [OPERATION]


def _changes(outcome: Outcome) -> List[Any]:
    """Its changes, each separately if there are few."""
    changes = [_record(change) for change in outcome.changes]
    return changes if len(changes) <= _MAX_CHANGES else [changes]


def _record(change: Change) -> List[Tuple[str, Any]]:
    record = change.record()
    record.pop("diff", None)  # one of the previews may make none
    return sorted(record.items())


class PushPreview(object):
    """The preview of a run right before it; ``ended`` receives each resource, in order.

    ``promises`` has the predictions that bind the run. ``seen`` is the number of resources that ran
    before a reboot; later ones are only checked against the predictions.
    """

    def __init__(
        self, binding: Binding, observer: Observer, event_builder: EventMaker, seen: int = 0
    ) -> None:
        self._observed = binding.observed
        self._certain = frozenset(binding.certain)
        self._shown = binding.shown
        self._observer = observer
        self._maker = event_builder
        self._seen = seen
        self._drifted: List[Tuple[str, List[str]]] = []
        self._behind: List[Tuple[str, List[str]]] = []
        self._hidden: List[str] = []
        self.promises = PlanAssertions()

    def ended(self, outcome: Outcome, noop: bool, seconds: float) -> None:
        """Compare the observed state; converged resources are accepted."""
        place = self._seen
        self._seen += 1
        known = self._observed[place] if place < len(self._observed) else None
        if place in self._certain:
            self.promises.add(outcome.item, outcome.changes, outcome.failing)
        # One that is made of others differs only where one of these does.
        if outcome.status == "stable" or outcome.item.applies or known == "":
            return
        differences = self._observer.differing(outcome, known or "")
        if not differences and place >= len(self._shown):
            return
        event = self._maker.make(outcome, noop, seconds)
        if not differences:
            hidden = not_shown(event, self._shown[place])
            if hidden:
                words = " (%s)" % ", ".join(hidden[:_TOLD]) if any(hidden) else ""
                self._hidden.append("%s#%s%s" % (event["type"], event["name"], words))
            return
        drift = _told(event, differences)
        # A resource that only reacts to others has not drifted.
        follows = differences == [FIRED] or (differences == [STATUS] and outcome.unmet)
        (self._behind if follows else self._drifted).append(drift)

    def require_no_drift(self) -> None:
        """Raise ``HostError`` with the differing observations, followed by diffs."""
        if self._hidden:
            raise HostError(
                "the plan file does not show what the push would do: "
                + "; ".join(self._hidden[:_TOLD]),
                kind="plan.refused.hidden",
                hint="nothing was changed on this host; find out who altered the plan",
            )
        drifted = self._drifted or self._behind
        if not drifted and self._seen == len(self._observed):
            return
        entries = [words for words, _ in drifted[:_TOLD]]
        more = len(drifted) - len(entries)
        entries += ["%d more" % more] if more else []
        diffs = [line for _, lines in drifted[:_TOLD] for line in lines]
        remaining_count = len(diffs) - _MAX_LINES
        diffs[_MAX_LINES:] = ["... %d more lines" % remaining_count] if remaining_count > 0 else []
        raise HostError(
            "\n".join(
                [
                    "the host has drifted since the plan was created: "
                    + ("; ".join(entries) or "different resources would run")
                ]
                + diffs
            ),
            kind="plan.refused.drifted",
            hint="nothing was changed on this host; review the drift, then create a new plan",
        )


def _told(event: Dict[str, Any], drifted: Sequence[str]) -> Tuple[str, List[str]]:
    """Return the masked drift of one resource: its current state, and diffs of the changes."""
    name = "%s#%s" % (event["type"], event["name"])
    if event["error"]:
        return "%s (%s)" % (name, ", ".join(event["error"][:3])), []
    if list(drifted) == [FIRED]:
        return "%s (it would be refreshed)" % name, []
    if drifted[0].startswith(OPERATION):
        return "%s (not as planned: %s)" % (name, _operations_told(event, drifted)), []
    words, diffs = [], []
    changes = {change["what"]: change for change in event["changes"]}
    for what in drifted:
        change = changes.get(what)
        before = change["from"] if change else None
        diff = change.get("diff", "") if change else ""
        if diff and "\n" in diff:
            diffs += ["%s, from the current to the planned state:" % name]
            diffs += diff.rstrip("\n").split("\n")
        if change and before is not None and not str(before).startswith(HASHED):
            words.append("%s is %s" % (what, before))
        elif what not in ("", STATUS):
            words.append("%s differs" % what)
    return "%s (%s)" % (name, ", ".join(words) or "changed"), diffs


def _operations_told(event: Dict[str, Any], drifted: Sequence[str]) -> str:
    """The operations at these positions of an event, as text."""
    places = [name[len(OPERATION) :] for name in drifted]
    entries = [event["operations"][int(place)] for place in places if place]
    words = ["%s %s %s" % (one["kind"], one["name"], one["state"]) for one in entries[:_TOLD]]
    more = len(drifted) - len(words)
    return ", ".join(words + (["%d more" % more] if words and more else [])) or "other operations"
