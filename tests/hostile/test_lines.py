from tests.hostile import lines


def test_no_fault_of_the_line_is_a_defect() -> None:
    """Wherever a line breaks, the host's run ends in bounds and says how."""
    found = lines.run(seconds=1, seed=9)
    assert found.broken == []
    assert found.tried["lines"] > 0
