from tests.hostile import alike


def test_who_else_is_planned_makes_no_difference() -> None:
    """A host gets its own plan, and its events say what it would."""
    found = alike.run(seconds=2, seed=9)
    assert found.broken == []
    assert found.tried["plans"] > 0
