"""What a session of commands remembers, for plans that are made side by side."""

from collections.abc import Iterator
from pathlib import Path

from orchestrator.fleet import events as run_events
from orchestrator.fleet.store.session_store import Event, EventStore
from tests.orchestrator.fleet.fakes import unchanged


class _AskedWithin(EventStore):
    """While it is read for one plan another one asks."""

    inner = False
    there: frozenset[str] = frozenset()

    def lines(self) -> Iterator[tuple[Event, str]]:
        """Each event, with a question before each but the first."""
        for number, found in enumerate(super().lines()):
            if number and not self.inner:
                self.inner = True
                self.there = self.names()
            yield found


def test_who_asks_while_it_is_read_gets_all_of_it(tmp_path: Path) -> None:
    """Half of what earlier commands came to would leave requirements unmet."""
    store = _AskedWithin(tmp_path)
    store.handle(run_events.ResourcesStable("web1", unchanged("web1", "/a", "/b")))
    assert store.names() == {"file#/a", "file#/b"}
    assert store.there == store.names()
    assert store.of("web1", frozenset(["file#/b"]))["resources"]["file#/b"]["met"]
