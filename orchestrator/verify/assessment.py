"""The result of a verify, for its report and its exit code (controller)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Outcome(NamedTuple):
    """A test: ``status`` is passed, failed or skipped; ``text`` says why it did not pass."""

    host: str
    label: str
    status: str
    text: str = ""


class Assessment(NamedTuple):
    """The result of a verify; see the reference page for its exit codes.

    ``refused`` are the user's tests that cannot be collected, as text; ``unreached`` has the reason
    why a host was not reached, or lost; ``left_out`` counts resources without a check by the
    reason, ``not_run`` the checks of each host that were not run before the verify stopped.
    """

    hosts: int = 0
    outcomes: Sequence[Outcome] = ()
    refused: Sequence[str] = ()
    unreached: Mapping[str, str] = {}
    warnings: Sequence[str] = ()
    left_out: Mapping[str, int] = {}
    not_run: Mapping[str, int] = {}
    defect: bool = False
    interrupted: bool = False

    @property
    def failed(self) -> list[Outcome]:
        """The tests that failed."""
        return [outcome for outcome in self.outcomes if outcome.status == "failed"]

    def count(self, status: str) -> int:
        """The number of tests with this status."""
        return sum(outcome.status == status for outcome in self.outcomes)

    @property
    def exit_code(self) -> int:
        """130 if interrupted, 2 if refused, 70 for a defect, 3 for a host that was not reached, 1
        for a failure, else 0.
        """
        if self.interrupted:
            return 130
        if self.refused:
            return 2
        if self.defect:
            return 70
        if self.unreached:
            return 3
        return 1 if self.failed else 0

    def record(self) -> dict[str, Any]:
        """The form used in ``--json``."""
        return {
            "exit_code": self.exit_code,
            "hosts": self.hosts,
            **{status: self.count(status) for status in ("passed", "failed", "skipped")},
            "left_out": dict(self.left_out),
            "not_run": dict(self.not_run),
            "unreached": dict(self.unreached),
            "failures": [
                {"host": one.host, "check": one.label, "text": one.text} for one in self.failed
            ],
        }
