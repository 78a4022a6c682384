"""reboot: its guard no longer requests one (controller)."""

from orchestrator.verify.expectation import Expectation
from orchestrator.verify.subject import Subject
from orchestrator.verify.user_commands import nothing_to_do


def expectations(subject: Subject) -> list[Expectation]:
    """The expectation that its guard requests no reboot; subscriptions are not checked."""
    if not subject.get("onlyif"):
        return []
    return [nothing_to_do("condition", "onlyif to request no reboot", "that it requests a reboot")]
