"""wait: what was waited for is so still, as the runtime looks at it (controller)."""

from __future__ import annotations

from orchestrator.verify.expectation import Expectation
from orchestrator.verify.own_commands import settled
from orchestrator.verify.subject import Subject


def expectations(subject: Subject) -> list[Expectation]:
    """One look, by the host itself."""
    ensure = str(subject.get("ensure", "present"))
    expected, instead = ("met", "not met")
    if ensure == "absent":
        expected, instead = instead, expected
    return [settled("condition", expected, instead, ensure=ensure)]
