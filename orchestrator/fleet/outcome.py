"""The outcome of one host's run, and the tally of its events (controller)."""

import posixpath
from collections.abc import Sequence
from typing import Any, NamedTuple

from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.store import field_checks
from remote_runtime.errors import CcmError, ProtocolError, UnreachableError

OK = "ok"
FAILED = "failed"
UNREACHABLE = "unreachable"
BECOME = "transport.become"
"""The kind of sudo's errors, which occur after a successful login."""
INTERRUPTED = "interrupted"
REFUSED = "refused"
DEFECT = "defect"
NOT_STARTED = "held"
# Kinds of errors.
TIMED_OUT = "host.timeout"  # --timeout was over
STALLED = "host.stalled"  # --stall-timeout was over
CUT_OFF = "run.cut"  # ccm was killed, so the end of the host is unknown
REFUSAL = "plan.refused"  # prefix of the kinds that refuse a host
_OUTCOMES = (OK, FAILED, UNREACHABLE, INTERRUPTED, REFUSED, DEFECT, NOT_STARTED)
USELESS_OUTCOMES = tuple(f"{REFUSAL}.{how}" for how in ("drifted", "used", "expired"))
"""The kinds of refusals that require a new plan, because this one will always be refused."""

APPLY = "apply"  # the type whose events represent a complete manifest

_HEALTH = {"OK": "ok", "WARNING": "warning", "CRITICAL": "critical", "UNKNOWN": "unknown"}
# In the order of the records.
_TALLY = (
    "total", "unique", "changed", "failed", "skipped", "stable", "refreshed", "unmet",
    "assumed", "unpredicted", "pending", "drifted", "compared", "as_predicted", "health_checks",
    "total_errors",
)  # fmt: skip
_COUNTS = tuple(name for name in _TALLY if name != "health_checks")


class Tally:
    """The summary of a host's events; ``unique`` counts a ``type#name`` once.

    ``pending`` is the part of ``changed`` that would only change: all of it in a preview, and the
    resources of a child in noop mode. ``drifted`` counts differences from the last push.
    ``compared`` counts the resources that a plan file predicted, ``as_predicted`` those with the
    predicted result. ``applies`` has the separate counts of ``apply`` resources, None if there are
    none.
    """

    __slots__ = (*_TALLY, "applies")
    total: int
    unique: int
    changed: int
    failed: int
    skipped: int
    stable: int
    refreshed: int
    unmet: int
    assumed: int
    unpredicted: int
    pending: int
    drifted: int
    compared: int
    as_predicted: int
    health_checks: dict[str, int]
    total_errors: int
    applies: "Tally | None"

    def __init__(self) -> None:
        for name in _TALLY:
            setattr(self, name, 0)
        self.applies = None
        self.health_checks = dict.fromkeys(_HEALTH.values(), 0)

    def add(self, event: dict[str, Any], again: bool, misprediction: str | None = None) -> None:
        """Count one transaction event; ``again``: an earlier event belonged to the same resource.

        ``misprediction`` is the plan's wrong prediction, if any.
        """
        self._count(event, again, misprediction)
        if event["type"] == APPLY:
            self._of_applies()._count(event, again, misprediction)

    def _of_applies(self) -> "Tally":
        self.applies = self.applies or Tally()
        return self.applies

    def _count(self, event: dict[str, Any], again: bool, misprediction: str | None) -> None:
        self.total += 1
        self.unique += not again
        bucket = event["status"]
        setattr(self, bucket, getattr(self, bucket) + 1)
        self.refreshed += event["refreshed"]
        self.unmet += bool(event["unmet_requirements"])
        self.assumed += event.get("prediction") == "assumed"
        self.unpredicted += event.get("prediction") == "unknown"
        self.drifted += "drift" in event
        self.pending += event["noop"] and bucket == "changed"
        self.compared += misprediction is not None
        self.as_predicted += misprediction == ""
        self.total_errors += len(event["error"])
        for check in event.get("health_check", ()):
            self.health_checks[_HEALTH[check["status"]]] += 1

    def add_stable(self, total: int, again: int, applies: int = 0) -> None:
        """Count unchanged resources that were reported in a batch; ``applies`` of them are
        ``apply`` resources."""
        self.total += total
        self.unique += total - again
        self.stable += total
        if applies:
            self._of_applies().add_stable(applies, 0)

    def add_tally(self, other: "Tally") -> None:
        """Add the counts of another host."""
        for name in _TALLY:
            if name != "health_checks":
                setattr(self, name, getattr(self, name) + getattr(other, name))
        for status, number in other.health_checks.items():
            self.health_checks[status] += number
        if other.applies is not None:
            self._of_applies().add_tally(other.applies)

    @property
    def shown(self) -> "Tally":
        """The counts for people: without ``apply`` resources, because the resources that they apply
        are counted. Health checks and errors of an ``apply`` are kept.
        """
        if self.applies is None:
            return self
        tally = Tally()
        for name in _TALLY:
            setattr(tally, name, getattr(self, name))
            if name not in ("health_checks", "total_errors"):
                setattr(tally, name, getattr(self, name) - getattr(self.applies, name))
        return tally

    def record(self) -> dict[str, Any]:
        """The form used in the run directory and in ``--json``."""
        record = {name: getattr(self, name) for name in _TALLY}
        return record if self.applies is None else {**record, "applies": self.applies.record()}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "Tally":
        """Read the result of ``record``; KeyError if a member is missing, ValueError."""
        tally = cls()
        values = field_checks.counts([record[name] for name in _COUNTS])
        for name, value in zip(_COUNTS, values, strict=True):
            setattr(tally, name, value)
        health = record["health_checks"]
        counts = field_checks.counts([health[name] for name in _HEALTH.values()])
        tally.health_checks.update(zip(_HEALTH.values(), counts, strict=True))
        if "applies" in record:
            tally._of_applies().add_tally(cls.from_record(record["applies"]))
        return tally


def applied_as(within: str, name: str) -> str:
    """The name in events of the manifest that an ``apply`` in the manifest ``within`` applies.

    This is its path relative to the directory of the pushed manifest, or the name of an apply that
    has the path in ``manifest``.
    """
    return posixpath.normpath(posixpath.join(posixpath.dirname(within), name))


def is_apply(resource: str) -> bool:
    """Whether a ``type#name`` refers to an ``apply``."""
    return resource.startswith(f"{APPLY}#")


def is_loss(error: CcmError) -> bool:
    """Whether an error means that a host was not reached or was lost; a failure of sudo does
    not."""
    lost = isinstance(error, (UnreachableError, ProtocolError))
    return lost and error.kind != BECOME


class HostResult(NamedTuple):
    """The result of one host.

    ``outcome`` is ok, failed (a resource failed or no plan could be made), refused (it differs from
    its plan file), unreachable (not reached or lost), interrupted, held (the rollout ended before
    it was started), or defect. ``kind``, ``message``, ``hint``, ``command`` and ``only`` are those
    of the error that ended the run, and empty for a complete run. ``phase`` is the last phase,
    ``planned`` the number of resources in its plan, ``untried`` how many of them did not run
    because ``fail_on_error`` ended the run, ``seconds`` the duration, ``phases`` each phase and
    when it began (seconds of ``time.time()``), ``report`` the path of a crash report.
    ``confirmed``: the host itself reported the end of its run; None if that follows from the
    outcome.
    """

    host: str
    tally: Tally
    outcome: str = OK
    kind: str = ""
    message: str = ""
    hint: str = ""
    stderr: str = ""
    phase: Phase = Phase.DONE
    planned: int = 0
    untried: int = 0
    seconds: float = 0.0
    phases: Sequence[tuple[Phase, float]] = ()
    report: str = ""
    command: str = ""
    only: str = ""
    confirmed: bool | None = None

    @property
    def is_end_known(self) -> bool:
        """Whether a resource without an outcome certainly did not run.

        False for a host that was lost or abandoned while it was active.
        """
        if self.confirmed is not None:
            return self.confirmed
        return self.outcome not in (UNREACHABLE, DEFECT) and self.kind != CUT_OFF

    @property
    def is_incomplete(self) -> bool:
        """Whether the run ended before the end of the plan."""
        return bool(self.message or self.untried)

    @property
    def advice(self) -> str:
        """The complete hint."""
        return UnreachableError("", "", hint=self.hint, command=self.command, only=self.only).advice

    @property
    def was_started(self) -> bool:
        """Whether the host was started at all."""
        return self.outcome not in (INTERRUPTED, NOT_STARTED) or self.phase != Phase.WAITING

    @property
    def changed(self) -> bool:
        """Whether anything was changed or, in a preview, would be."""
        return self.tally.changed > 0

    def record(self) -> dict[str, Any]:
        """The form used in the run directory and in ``--json``."""
        converted = {"seconds": round(self.seconds, 3), "tally": self.tally.record()}
        record = {**self._asdict(), **converted}
        if self.confirmed is None:
            del record["confirmed"]
        return record

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "HostResult":
        """Read the result of ``record``; KeyError if a member is missing, ValueError."""
        members = {
            name: record[name] for name in cls._fields if name in record or name != "confirmed"
        }
        for name, check in _MEMBERS.items():
            if name in members and (members[name] != "" or check is not field_checks.text):
                members[name] = check(members[name])
        if members["outcome"] not in _OUTCOMES:
            raise ValueError("a host has an invalid outcome")
        members["tally"] = Tally.from_record(record["tally"])
        members["phase"] = Phase(record["phase"])
        phases = record["phases"]
        members["phases"] = tuple(
            [(Phase(phase), field_checks.seconds(at)) for phase, at in phases]
        )
        return cls(**members)


_MEMBERS = {
    **dict.fromkeys(("planned", "untried"), field_checks.count),
    "seconds": field_checks.seconds,
    "confirmed": field_checks.flag,
    "host": field_checks.text,
    **{
        name: field_checks.text
        for name, default in HostResult._field_defaults.items()
        if type(default) is str
    },
}
