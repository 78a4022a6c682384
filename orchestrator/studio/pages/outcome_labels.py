"""The letters and words for outcomes (controller)."""

from orchestrator.report.html.matrix import HOST_LETTERS, LETTERS
from orchestrator.report.wording import shown_status

MARKS = {**LETTERS, **HOST_LETTERS, "ok": "·", "waiting": "H", "running": "…"}
"""A letter for each outcome, so that no outcome is distinguished by color alone."""
_WORDS = {"ok": "unchanged", "defect": "internal error", "waiting": "not started"}


def outcome_words(outcome: str, noop: bool) -> str:
    """The labels of host outcomes and resource statuses."""
    return _WORDS.get(outcome) or shown_status(outcome, bool(noop))
