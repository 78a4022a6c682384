from tests.hostile import floods


def test_lines_without_an_end_take_bounded_memory() -> None:
    """Whatever a host or a command writes without a newline, little of it is held."""
    found = floods.run(seconds=0, seed=3)
    assert found.broken == []
    assert found.tried["megabytes"] >= 6 * 8
