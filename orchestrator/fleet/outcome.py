"""How one host's run ended, and what its events add up to (controller)."""

from dataclasses import asdict, dataclass, field
from typing import Any

OK = "ok"
FAILED = "failed"
UNREACHABLE = "unreachable"
INTERRUPTED = "interrupted"
DEFECT = "defect"

_HEALTH = {"OK": "ok", "WARNING": "warning", "CRITICAL": "critical", "UNKNOWN": "unknown"}


@dataclass(slots=True)
class Tally:
    """The summary of a host's events; ``unique`` counts a ``type#name`` once."""

    total: int = 0
    unique: int = 0
    changed: int = 0
    failed: int = 0
    skipped: int = 0
    stable: int = 0
    refreshed: int = 0
    unmet: int = 0
    unpredicted: int = 0
    health_checks: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(_HEALTH.values(), 0)
    )
    total_errors: int = 0

    def add(self, event: dict[str, Any]) -> None:
        """Count one transaction event: failed before skipped before changed before stable."""
        self.total += 1
        bucket = event["status"]
        setattr(self, bucket, getattr(self, bucket) + 1)
        self.refreshed += event["refreshed"]
        self.unmet += bool(event["unmet_requirements"])
        self.unpredicted += event.get("prediction") == "unknown"
        self.total_errors += len(event["error"])
        for check in event.get("health_check", ()):
            self.health_checks[_HEALTH[check["status"]]] += 1


@dataclass(slots=True)
class HostResult:
    """One host's fate.

    ``outcome`` is ok, failed (a resource failed or no plan could be made), unreachable (not reached
    or lost), interrupted, or defect. ``kind``, ``message`` and ``hint`` are those of the error that
    ended the run, empty where it ran to its end. ``phase`` says how far it got, ``planned`` is the
    number of resources in its plan, ``seconds`` how long it took.
    """

    host: str
    outcome: str = OK
    kind: str = ""
    message: str = ""
    hint: str = ""
    stderr: str = ""
    phase: str = ""
    planned: int = 0
    seconds: float = 0.0
    tally: Tally = field(default_factory=Tally)
    report: str = ""

    @property
    def changed(self) -> bool:
        """Whether anything was changed, or would be in a preview."""
        return self.tally.changed > 0

    def record(self) -> dict[str, Any]:
        """The form that stands in the run folder and in ``--json``."""
        record = asdict(self)
        record["seconds"] = round(self.seconds, 3)
        return record

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "HostResult":
        """Read what ``record`` wrote."""
        return cls(**{**record, "tally": Tally(**record["tally"])})
