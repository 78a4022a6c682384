"""How one host's run ended, and what its events add up to (controller).

Plain classes: making a dataclass takes half a millisecond, and loading ``dataclasses`` six, before
the first host is contacted.
"""

from typing import Any

from orchestrator.fleet.phases import Phase

OK = "ok"
FAILED = "failed"
UNREACHABLE = "unreachable"
INTERRUPTED = "interrupted"
DEFECT = "defect"

_HEALTH = {"OK": "ok", "WARNING": "warning", "CRITICAL": "critical", "UNKNOWN": "unknown"}
# In the order of the records.
_TALLY = (
    "total", "unique", "changed", "failed", "skipped", "stable", "refreshed", "unmet",
    "unpredicted", "pending", "health_checks", "total_errors",
)  # fmt: skip
_RESULT = (
    "host", "outcome", "kind", "message", "hint", "stderr", "phase", "planned", "untried",
    "seconds", "phases", "tally", "report",
)  # fmt: skip
# What runs of older versions did not keep.
_LATER: dict[str, Any] = {"untried": 0, "phases": (), "pending": 0}


class Tally:
    """The summary of a host's events; ``unique`` counts a ``type#name`` once.

    ``pending`` are those of ``changed`` that only would change: all of them in a preview, and those
    of a child that is in noop by itself.
    """

    __slots__ = _TALLY
    total: int
    unique: int
    changed: int
    failed: int
    skipped: int
    stable: int
    refreshed: int
    unmet: int
    unpredicted: int
    pending: int
    health_checks: dict[str, int]
    total_errors: int

    def __init__(self) -> None:
        for name in _TALLY:
            setattr(self, name, 0)
        self.health_checks = dict.fromkeys(_HEALTH.values(), 0)

    def add(self, event: dict[str, Any]) -> None:
        """Count one transaction event: failed before skipped before changed before stable."""
        self.total += 1
        bucket = event["status"]
        setattr(self, bucket, getattr(self, bucket) + 1)
        self.refreshed += event["refreshed"]
        self.unmet += bool(event["unmet_requirements"])
        self.unpredicted += event.get("prediction") == "unknown"
        self.pending += event["noop"] and bucket == "changed"
        self.total_errors += len(event["error"])
        for check in event.get("health_check", ()):
            self.health_checks[_HEALTH[check["status"]]] += 1

    def record(self) -> dict[str, Any]:
        """The form that stands in the run folder and in ``--json``."""
        return {name: getattr(self, name) for name in _TALLY}


class HostResult:
    """One host's fate.

    ``outcome`` is ok, failed (a resource failed or no plan could be made), unreachable (not reached
    or lost), interrupted, or defect. ``kind``, ``message`` and ``hint`` are those of the error that
    ended the run, empty where it ran to its end. ``phase`` says how far it got, ``planned`` is the
    number of resources in its plan, ``untried`` how many of them had no turn because
    ``fail_on_error`` ended the run, ``seconds`` how long it took, ``phases`` each phase's name and
    when it began (seconds of ``time.time()``).
    """

    __slots__ = _RESULT

    def __init__(
        self, host: str, outcome: str = OK, kind: str = "", message: str = "", seconds: float = 0.0
    ) -> None:
        self.host = host
        self.outcome = outcome
        self.kind = kind
        self.message = message
        self.hint = ""
        self.stderr = ""
        self.phase = Phase.DONE
        self.planned = 0
        self.untried = 0
        self.seconds = seconds
        self.phases: list[tuple[Phase, float]] = []
        self.tally = Tally()
        self.report = ""

    @property
    def changed(self) -> bool:
        """Whether anything was changed, or would be in a preview."""
        return self.tally.changed > 0

    def record(self) -> dict[str, Any]:
        """The form that stands in the run folder and in ``--json``."""
        record = {name: getattr(self, name) for name in self.__slots__}
        return {**record, "seconds": round(self.seconds, 3), "tally": self.tally.record()}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "HostResult":
        """Read what ``record`` wrote; KeyError where a member is missing."""
        result = cls(record["host"])
        for name in cls.__slots__:
            if name in _LATER:
                setattr(result, name, record.get(name, _LATER[name]))
            elif name != "tally":
                setattr(result, name, record[name])
        result.phase = Phase(result.phase)
        result.phases = [(Phase(phase), at) for phase, at in result.phases]
        for name in Tally.__slots__:
            tally = record["tally"]
            setattr(result.tally, name, tally.get(name, 0) if name in _LATER else tally[name])
        return result
