"""Durations as people read them."""

import pytest

from orchestrator.report.durations import duration_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.421, "0.42 s"), (12.34, "12.3 s"), (185, "3 min 05 s"), (3_660, "1 h 01 min")],
)
def test_the_unit_fits(seconds: float, text: str) -> None:
    """The longer it took, the coarser it is told."""
    assert duration_text(seconds) == text
