"""wait: what was waited for is so still, as the runtime looks at it (controller)."""

from __future__ import annotations

from orchestrator.verify.expectation import Expectation
from orchestrator.verify.subject import Subject
from orchestrator.verify.user_commands import nothing_to_do


def expectations(subject: Subject) -> list[Expectation]:
    """One look, by the host itself."""
    ensure = str(subject.get("ensure", "present"))
    expected, instead = ("met", "not met")
    if ensure == "absent":
        expected, instead = instead, expected
    return [nothing_to_do("condition", expected, instead, ensure=ensure)]
