"""Delivers what happens in a run to its subscribers (controller).

Publishing delivers at once, one event at a time, so every subscriber sees the same order and
no event is kept. A slow subscriber slows the hosts down, and nothing piles up in memory.
"""

import threading
from collections.abc import Iterable
from typing import Protocol

from orchestrator.fleet.events import Event


class Subscriber(Protocol):
    """Told every event of a run, never two at a time; ``close`` comes once, at the end."""

    def handle(self, event: Event) -> None: ...

    def close(self) -> None:
        """Give back what it holds; most hold nothing."""
        return None


class Bus:
    """Thread-safe. A subscriber that raises is dropped, the run goes on; ``faults`` says why."""

    def __init__(self, subscribers: Iterable[Subscriber] = ()) -> None:
        self._subscribers = list(subscribers)
        self._lock = threading.Lock()
        self.faults: list[Exception] = []

    def publish(self, event: Event) -> None:
        """Deliver one event to all subscribers, in the order in which they were given."""
        with self._lock:
            for subscriber in tuple(self._subscribers):
                try:
                    subscriber.handle(event)
                except Exception as error:
                    self._drop(subscriber, error)

    def close(self) -> None:
        """Close the subscribers that are left."""
        with self._lock:
            for subscriber in self._subscribers:
                try:
                    subscriber.close()
                except Exception as error:
                    self.faults.append(error)
            self._subscribers = []

    def _drop(self, subscriber: Subscriber, error: Exception) -> None:
        self.faults.append(error)
        self._subscribers.remove(subscriber)
