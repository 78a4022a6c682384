"""A cache that is bounded by bytes."""

from orchestrator.support.bounded_cache import BoundedCache


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
