"""reboot: what asks for one does so no more (controller)."""

from __future__ import annotations

from orchestrator.verify.expectation import Expectation
from orchestrator.verify.subject import Subject
from orchestrator.verify.user_commands import nothing_to_do


def expectations(subject: Subject) -> list[Expectation]:
    """Its guard asks for no reboot; nothing of what it subscribes to."""
    if not subject.get("onlyif"):
        return []
    return [nothing_to_do("condition", "onlyif to request no reboot", "that it requests one")]
