"""What a watcher of registrations is told."""

from itertools import islice

from orchestrator.registration.entry import Registration
from orchestrator.registration.watch import watch


def entry(address: str, priority: int = 1, ttl: str = "") -> Registration:
    stamp = "1970-01-01T00:00:00Z"
    return Registration("c", "web", "http", address, 80, priority, ttl, (), stamp)


def test_what_changes_is_told_once() -> None:
    """First all that is there, then what comes, changes, expires and is removed."""
    first, brief, gone = entry("10.0.0.1"), entry("10.0.0.2", ttl="5s"), entry("10.0.0.3")
    looks = iter([[first, brief, gone], [first, brief, gone], [entry("10.0.0.1", 9)], [first]])
    pauses: list[None] = []
    told = watch(lambda: next(looks), lambda: pauses.append(None), lambda: 10.0)
    assert [(one.what, one.entry) for one in islice(told, 7)] == [
        ("registered", first), ("registered", brief), ("registered", gone),
        ("expired", brief), ("removed", gone), ("updated", entry("10.0.0.1", 9)),
        ("updated", first),
    ]  # fmt: skip
    assert len(pauses) == 3


def test_a_watcher_of_nothing_waits() -> None:
    """An empty registry is no end; what is registered later is told."""
    looks = iter([[], [], [entry("10.0.0.1")]])
    told = watch(lambda: next(looks), lambda: None, lambda: 0.0)
    assert next(told).payload() == {
        "action": "registered",
        "entry": entry("10.0.0.1").payload(),
    }
