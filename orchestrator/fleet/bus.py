"""Delivers what happens in a run to its subscribers (controller).

Publishing delivers at once, so every subscriber sees the same order and no event is kept. A slow
subscriber slows the hosts down, and nothing piles up in memory.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from orchestrator.fleet.events import Event


class Subscriber(Protocol):
    """Told every event of a run, never two at a time; ``close`` comes once, at the end."""

    def handle(self, event: Event) -> None: ...

    def close(self) -> None:
        """Give back what it holds; most hold nothing."""
        return None


@runtime_checkable
class Batching(Protocol):
    """A subscriber for which events that come together are less work."""

    def handle_all(self, events: Sequence[Event]) -> None:
        """The same as ``handle`` of each in turn."""
        ...


class _Listener(NamedTuple):
    """A subscriber, and what takes events for it."""

    subscriber: Subscriber
    take: Callable[[Sequence[Event]], None]

    @classmethod
    def of(cls, subscriber: Subscriber) -> "_Listener":
        if isinstance(subscriber, Batching):
            return cls(subscriber, subscriber.handle_all)

        def each(events: Sequence[Event]) -> None:
            for event in events:
                subscriber.handle(event)

        return cls(subscriber, each)


class Bus:
    """Thread-safe. A subscriber that raises is dropped, the run goes on; ``faults`` says why."""

    def __init__(self, subscribers: Iterable[Subscriber] = ()) -> None:
        self._listeners = [_Listener.of(one) for one in subscribers]
        self._lock = threading.Lock()
        self.faults: list[Exception] = []

    def publish(self, *events: Event) -> None:
        """Deliver events to all subscribers, in the order in which they were given."""
        with self._lock:
            for listener in tuple(self._listeners):
                try:
                    listener.take(events)
                except Exception as error:
                    self.faults.append(error)
                    self._listeners.remove(listener)

    def close(self) -> None:
        """Close the subscribers that are left."""
        with self._lock:
            for listener in self._listeners:
                try:
                    listener.subscriber.close()
                except Exception as error:
                    self.faults.append(error)
            self._listeners = []
