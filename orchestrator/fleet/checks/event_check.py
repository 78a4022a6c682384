"""Checks the transaction events that a host sends (controller, on the hot path).

Hosts are not trusted: an event has exactly the members that ``schemas/event.json`` allows, is about
a resource of this host's plan, and follows the previous event. It is handwritten because it runs
for every event; the tests compare it with the schema.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from orchestrator.fleet.checks.masked_names import MaskedNames
from orchestrator.fleet.store.missing_reports import MissingReports
from orchestrator.support.plain_text import MAX_DEPTH, is_plain_json, is_shallow, plain_value
from remote_runtime.errors import ProtocolError
from remote_runtime.plan_item import SELECTION
from remote_runtime.reporting.masking import MASKED

PROTOCOL = "io.choria.ccm.v1.transaction.event"
MAX_CHANGES = 20_000
MAX_TEXTS = 1_000
MAX_DURATION = 10**18

ADDED = ("host", "run_id", "place", "planned", "reported_later")
"""Members that the controller adds to an event: its position in the manifest if it failed, the
prediction of a plan file if the result differs, and the time of the report if the run had lost the
host."""

_EVENT_ID = r"[0-9A-HJKMNP-TV-Z]{26}\Z"
_TIMESTAMP = r"(?a)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z\Z"
_DIGESTS = r"(?:[0-9a-f]{16}){1,250}\Z"
_STATUS = frozenset(["failed", "skipped", "changed", "stable"])
_HEALTH = frozenset(["OK", "WARNING", "CRITICAL", "UNKNOWN"])

_DRIFT = frozenset(["by", "run", "user", "at", "owner", "changed", "package", "path"])
_EFFECT_KINDS = ("package", "user", "group", "path", "unit", "unknown")
_OPERATION_KINDS = ("package", "user", "group", "path", "mount", "unit")
_EFFECT_STATES = ("absent", "stopped", "restarted", "unknown")
_DRIFT_BY = ("someone", "you", "both", "new")

_FREE = ("properties", "error", "output", "noop_message", "prediction_reason")
_FREE_INSIDE = {
    "changes": ("from", "to", "diff"),
    "effects": ("name",),
    "operations": ("name", "state"),
    "health_check": ("output",),
}

_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class CheckedEvent(NamedTuple):
    """An event that may be shown and stored, its JSON text on one line, the unmasked ``type#name``
    of its planned resource, and whether an earlier event had the same name.
    """

    event: dict[str, Any]
    line: str
    identity: str
    again: bool


def _text(value: Any) -> bool:
    return type(value) is str


def _natural(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_DURATION


def _texts(value: list[Any]) -> bool:
    return len(value) <= MAX_TEXTS and all(type(v) is str for v in value)


def _shallow(value: Any) -> bool:
    return is_shallow(value, MAX_DEPTH - 2)


def _change(value: Any) -> bool:
    if type(value) is not dict or len(value) not in (3, 4):
        return False
    if type(value.get("what")) is not str or "from" not in value or "to" not in value:
        return False
    if len(value) == 4 and type(value.get("diff")) is not str:
        return False
    return _shallow(value["from"]) and _shallow(value["to"])


def _changes(value: list[Any]) -> bool:
    return len(value) <= MAX_CHANGES and all(map(_change, value))


def _health_result(value: Any) -> bool:
    return (
        type(value) is dict
        and value.keys() == {"name", "status", "tries", "output"}
        and type(value["name"]) is str
        and type(value["status"]) is str
        and value["status"] in _HEALTH
        and _natural(value["tries"])
        and type(value["output"]) is str
    )


def _drift(value: Any) -> bool:
    return (
        type(value) is dict
        and value.get("by") in _DRIFT_BY
        and value.keys() <= _DRIFT
        and all(type(v) is str for v in value.values())
    )


def _health(value: Any) -> bool:
    return type(value) is list and len(value) <= MAX_TEXTS and all(map(_health_result, value))


def _is_of(value: Any, kinds: Sequence[str], states: Sequence[str] = ()) -> bool:
    """Whether it is an effect or operation of one of these kinds; without states, any string is
    valid.
    """
    return (
        type(value) is dict
        and value.keys() == {"kind", "name", "state"}
        and all(type(text) is str for text in value.values())
        and value["kind"] in kinds
        and (not states or value["state"] in states)
    )


def _effects(value: Any) -> bool:
    return (
        type(value) is list
        and len(value) <= MAX_TEXTS
        and all(_is_of(one, _EFFECT_KINDS, _EFFECT_STATES) for one in value)
    )


def _operations(value: Any) -> bool:
    return (
        type(value) is list
        and len(value) <= MAX_TEXTS
        and all(_is_of(one, _OPERATION_KINDS) for one in value)
    )


# Every member that an event must have, with its exact type: compared in one step.
_TYPES: dict[str, type] = {
    "protocol": str,
    "event_id": str,
    "timestamp": str,
    "type": str,
    "name": str,
    "provider": str,
    "requested_ensure": str,
    "final_ensure": str,
    "duration": int,
    "properties": dict,
    "status": str,
    "changes": list,
    "error": list,
    "changed": bool,
    "refreshed": bool,
    "failed": bool,
    "skipped": bool,
    "noop": bool,
    "unmet_requirements": list,
}
_KEYS, _EXPECTED = tuple(_TYPES), tuple(_TYPES.values())
_OPTIONAL: dict[str, Callable[[Any], bool]] = {
    "alias": _text,
    "noop_message": _text,
    "prediction": lambda value: type(value) is str and value in ("certain", "assumed", "unknown"),
    "prediction_reason": _text,
    "drift": _drift,
    "effects": _effects,
    "operations": _operations,
    "due_since": lambda value: type(value) is str and len(value) <= 200,
    "left_as": lambda value: type(value) is str and value in ("as_desired", "differs", "unknown"),
    "left_out": lambda value: type(value) is str and value in SELECTION,
    "manifest": lambda value: type(value) is str and len(value) <= 10_000,
    "observed": lambda value: type(value) is str and re.match(_DIGESTS, value) is not None,
    "exit_code": lambda value: type(value) is int and 0 <= value <= 255,
    "tries": lambda value: type(value) is int and 1 <= value <= 10_000,
    "output": _text,
    "health_check": _health,
    "always_noop": lambda value: type(value) is bool,
    "health_check_only": lambda value: type(value) is bool,
}


def shape_problem(event: Any) -> str:
    """Return the problem of one event, or ""; equivalent to schemas/event.json."""
    if type(event) is not dict:
        return "it is not an object"
    if tuple(map(type, map(event.get, _KEYS))) != _EXPECTED:
        return _first_wrong_type(event)
    if len(event) > len(_KEYS):
        for key in event.keys() - _TYPES.keys():
            optional = _OPTIONAL.get(key)
            if optional is None:
                return "it has an unknown member"
            if not optional(event[key]):
                return f"{key} has an invalid value"
    return _value_problem(event) or _flags_problem(event)


def _first_wrong_type(event: dict[str, Any]) -> str:
    wrong = next(key for key, kind in _TYPES.items() if type(event.get(key)) is not kind)
    return f"{wrong} has the wrong type" if wrong in event else f"{wrong} is missing"


def _value_problem(event: dict[str, Any]) -> str:
    """The problem with values whose types are correct."""
    right = (
        event["protocol"] == PROTOCOL
        and re.match(_EVENT_ID, event["event_id"])
        and re.match(_TIMESTAMP, event["timestamp"])
        and 0 <= event["duration"] <= MAX_DURATION
        and event["status"] in _STATUS
        and _shallow(event["properties"])
        and (not event["changes"] or _changes(event["changes"]))
        and (not event["error"] or _texts(event["error"]))
        and (not event["unmet_requirements"] or _texts(event["unmet_requirements"]))
    )
    return "" if right else "it has an invalid value"


def _flags_problem(event: dict[str, Any]) -> str:
    status = event["status"]
    if status == "stable":
        agrees = not (event["failed"] or event["skipped"] or event["changed"])
    else:
        agrees = event[status]
    return "" if agrees else "status and flags contradict each other"


def stored_event_problem(event: Any) -> str:
    """The problem of an event that the controller stored, or ""."""
    if type(event) is not dict:
        return "it is not an object"
    problem = shape_problem({key: value for key, value in event.items() if key not in ADDED})
    of = (event.get("host"), event.get("run_id"), *(event.get(key, "") for key in ADDED[2:]))
    has_origin = all(type(value) is str for value in of)
    return problem or ("" if has_origin else "its host or run is missing")


class EventCheck:
    """The events of one host: planned resources only, in sequence, each one new.

    ``planned`` has the ``type#name`` of every resource in the host's plan. ``count`` is the number
    of events. ``place`` returns the position of a resource in the manifest, "" for none.
    ``observed``: the plan requests observed state, so each event must contain it; otherwise none
    may. ``mask`` hides secrets that become visible once an event has lost its control characters.
    """

    def __init__(
        self,
        host: str,
        run_id: str,
        *,
        planned: Iterable[str],
        place: Callable[[str], str] = lambda identity: "",
        observed: bool = False,
        mask: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        self._mask = mask
        self._place = place
        self._observed = observed
        self.origin = host, run_id
        self._added = {"host": host, "run_id": run_id}
        self._planned = tuple(planned)
        self._together = bytearray(len(self._planned))  # resources reported in batches, by index
        self._by_name: MissingReports | None = None
        self._last_id = ""
        self.count = 0

    @cached_property
    def _is_unique(self) -> bool:
        """Whether no two planned resources have the same name."""
        return len(set(self._planned)) == len(self._planned)

    def _due(self) -> MissingReports:
        """Start counting by name.

        On most hosts nothing is reported by name, and many hosts may be waiting.
        """
        if self._by_name is None:
            self._by_name = MissingReports.of(self._planned, self._together)
        return self._by_name

    @property
    def unreported(self) -> int:
        """The number of planned resources without a report."""
        if self._by_name is None:
            return self._together.count(0)
        return sum(self._by_name.missing.values())

    def begin_anew(self) -> None:
        """Continue after a reboot of the host: it counts from 1 again, with a clock that may have
        been set back.
        """
        self.count, self._last_id = 0, ""

    def check(self, seq: Any, event: Any) -> CheckedEvent:
        """Return the event, plain and with the ``ADDED`` members; ProtocolError if it is wrong."""
        self._require_due(seq)
        problem = shape_problem(event)
        if not problem and ("observed" in event) != self._observed:
            problem = "observed is missing" if self._observed else "observed is unexpected"
        if problem:
            raise refuse(f"event {seq}: {problem}")
        self._require_new(seq, event["event_id"])
        identity = self._planned_as(event["type"] + "#" + event["name"], seq)
        if identity.partition("#")[0] != event["type"]:  # a name may have a # of its own
            raise self._undue(seq)
        again = self._due().take(identity)
        self.counted(1, event["event_id"])
        place = self._place(identity) if event["failed"] else ""
        event, line = finished(
            {**event, **self._added, **({"place": place} if place else {})}, self._mask
        )
        return CheckedEvent(event, line, identity, again)

    def require_next(self, seq: Any, event_id: str) -> None:
        """ProtocolError if the resources are not the next ones."""
        self._require_due(seq)
        self._require_new(seq, event_id)

    def take_turn(self, index: int) -> bool:
        """Record the resource at an index as reported; return whether one with its name was
        reported before.

        ProtocolError.
        """
        if index >= len(self._planned) or self._together[index]:
            raise self._undue(self.count + 1)
        due = self._by_name if self._is_unique else self._due()
        self._together[index] = 1
        if due is None:
            return False
        identity = self._planned[index]
        if not due.missing[identity]:
            raise self._undue(self.count + 1)
        return due.take(identity)

    def counted(self, count: int, event_id: str) -> None:
        """Record this number of events, the last of them with this ID."""
        self.count += count
        self._last_id = event_id

    def _require_due(self, seq: Any) -> None:
        if type(seq) is not int or seq != self.count + 1:
            raise refuse(f"expected event {self.count + 1}, got another one", "protocol.sequence")

    def _require_new(self, seq: int, event_id: str) -> None:
        if event_id <= self._last_id:
            raise refuse(f"event {seq} is a duplicate", "protocol.replay")

    @staticmethod
    def _undue(seq: int) -> ProtocolError:
        return refuse(f"event {seq} names a resource that is not expected on this host")

    def _planned_as(self, identity: str, seq: int) -> str:
        """The name that an expected resource has in the plan; ProtocolError."""
        missing = self._due().missing
        if not missing[identity] and MASKED in identity:
            identity = self._masked_names.due(identity) or identity
        if not missing[identity]:
            raise self._undue(seq)
        return identity

    @cached_property
    def _masked_names(self) -> MaskedNames:
        return MaskedNames(self._planned, self._due().missing, self._mask)


def finished(
    event: dict[str, Any], mask: Callable[[Any], Any] = lambda value: value
) -> tuple[dict[str, Any], str]:
    """Return the event with plain strings only, and its JSON text; ProtocolError."""
    try:
        line = _encode(event)
        if not is_plain_json(line):
            event = _masked(plain_value(event), mask)
            line = _encode(event)
    except (ValueError, RecursionError, ProtocolError) as error:
        raise refuse("an event with invalid values") from error
    return event, line


def _masked(event: dict[str, Any], mask: Callable[[Any], Any]) -> dict[str, Any]:
    """The event with its free text masked."""
    parts = {key: mask(event[key]) for key in _FREE if key in event}
    for key, free in _FREE_INSIDE.items():
        if key in event:
            parts[key] = [
                {k: mask(v) if k in free else v for k, v in each.items()} for each in event[key]
            ]
    return {**event, **parts}


def refuse(message: str, kind: str = "protocol.event") -> ProtocolError:
    """The error for a host that violates the protocol."""
    hint = "the host's copy of the runtime may have been tampered with"
    return ProtocolError(message, kind=kind, hint=hint)
