from orchestrator.support.repeat_filter import RepeatFilter


def test_tells_what_came_before() -> None:
    """A thing is new the first time, and known from then on."""
    recurring = RepeatFilter()
    assert [recurring.again(key) for key in ("a", "b", "a", "b", "c")] == [
        False,
        False,
        True,
        True,
        False,
    ]


def test_holds_no_more_than_it_may() -> None:
    """What comes later takes the place of what came before it, so nothing grows for ever."""
    recurring = RepeatFilter(places=2)
    assert [recurring.again(key) for key in (1, 2, 3, 3, 1, 2)] == [
        False,
        False,
        False,
        True,
        False,
        True,
    ]
