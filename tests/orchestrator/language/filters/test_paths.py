"""Parts of paths."""

from typing import Any

import pytest

from tests.orchestrator.expressions.fakes import evaluate


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("'/a/b/' | basename", ""),
        ("'b' | dirname", ""),
        ("'/a.d/b' | splitext", ["/a.d/b", ""]),
        ("'.bashrc' | splitext | first", ".bashrc"),
    ],
)
def test_parts(source: str, value: Any) -> None:
    """As Python's functions of these names."""
    assert evaluate(source) == value
