from tests.hostile import conversations


def test_no_frame_breaks_either_side() -> None:
    """Whatever is wrong with what a side hears, it ends as it may, within its memory."""
    found = conversations.run(seconds=6, seed=11)
    assert found.broken == []
    assert found.tried["frames for the controller"] > 0
    assert found.tried["frames for the runtime"] > 0
    assert found.tried["events through the pipe"] > 0
