"""Durations as people write them."""

import pytest

from orchestrator.support.durations import parse_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 30.0), ("90s", 90.0), ("1.5m", 90.0), ("2h", 7200.0), ("0", 0.0),
        ("1h30m", 5400.0), ("500ms", 0.5), ("2d", 172_800.0),
    ],
)  # fmt: skip
def test_a_duration_is_a_number_and_a_unit(text: str, seconds: float) -> None:
    """Seconds where it names none; units are those of a manifest."""
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-1", "5w", "1h-5m", "8d", "nan", "169h", "inf"])
def test_anything_else_is_none(text: str) -> None:
    """Nor is what is longer than a week."""
    with pytest.raises(ValueError, match="not a duration such as 30"):
        parse_seconds(text)
