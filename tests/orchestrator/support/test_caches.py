"""A cache that is bounded by bytes, and what is worth caching."""

from orchestrator.support.caches import BoundedCache, RepeatFilter


def test_values_are_kept_until_there_is_no_room() -> None:
    """Then all of them are forgotten, and the new one is kept."""
    cache: BoundedCache[str] = BoundedCache(10)
    cache.put("a", "A", 4)
    cache.put("b", "B", 6)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == ("A", "B", None)
    cache.put("c", "C", 1)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (None, None, "C")


def test_what_is_too_large_is_not_kept() -> None:
    """What is there stays."""
    cache: BoundedCache[str] = BoundedCache(10)
    cache.put("a", "A", 10)
    cache.put("b", "B", 11)
    assert (cache.get("a"), cache.get("b")) == ("A", None)


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
