"""Lines of text for a terminal."""

import pytest

from orchestrator.report.terminal.style import wrapped


def test_what_is_quoted_stays_whole() -> None:
    """A command can be copied, however long it is."""
    assert wrapped("look with 'ccm report -v' at it", 12) == [
        "look with",
        "'ccm report -v'",
        "at it",
    ]
    assert wrapped("do", 6, "ccm push -i hosts.yaml") == ["do", "ccm push -i hosts.yaml"]


@pytest.mark.parametrize("gap", [" " * 40, "\t" * 40, " \t" * 20])
def test_a_gap_as_wide_as_a_line_is_one_blank(gap: str) -> None:
    """What a host sends may be a million of them, which take time and show nothing."""
    assert wrapped(f"a{gap}b", 40) == ["a b"]
    assert wrapped("a   b", 40) == ["a   b"]
