"""reboot: what asks for one does so no more (controller)."""

from __future__ import annotations

from orchestrator.verify.expectation import Expectation
from orchestrator.verify.own_commands import settled
from orchestrator.verify.subject import Subject


def expectations(subject: Subject) -> list[Expectation]:
    """Its guard asks for no reboot; nothing of what it subscribes to."""
    if not subject.get("onlyif"):
        return []
    return [settled("condition", "onlyif to request no reboot", "that it requests one")]
