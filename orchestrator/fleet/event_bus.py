"""Delivers the events of a run to its subscribers (controller).

A publishing thread delivers its own events and the events that other threads publish in the
meantime. Otherwise, hundreds of hosts would wait for each other and keep their data in memory. All
subscribers receive events in the same order. A slow subscriber slows down the hosts, so almost no
events accumulate in memory.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from orchestrator.fleet.events import Event, HostNotice


class Subscriber(Protocol):
    """Receives every event of a run, one call at a time; ``close`` is called once, at the end."""

    def handle(self, event: Event) -> None: ...

    def close(self) -> None:
        """Release resources; most subscribers have none."""
        return None


class EventCallback:
    """A subscriber that passes every event to a function."""

    def __init__(self, handle: Callable[[Event], None]) -> None:
        self.handle = handle

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


@runtime_checkable
class Batching(Protocol):
    """A subscriber that processes batches of events faster than single events."""

    def handle_all(self, events: Sequence[Event]) -> None:
        """Handle each of the events as ``handle`` does."""


class _Listener(NamedTuple):
    """A subscriber, and the function that receives its events."""

    subscriber: Subscriber
    take: Callable[[Sequence[Event]], None]

    @classmethod
    def of(cls, subscriber: Subscriber) -> "_Listener":
        """A subscriber with the method by which it receives several events at once."""
        if isinstance(subscriber, Batching):
            return cls(subscriber, subscriber.handle_all)

        def each(events: Sequence[Event]) -> None:
            """Pass the events on one at a time."""
            for event in events:
                subscriber.handle(event)

        return cls(subscriber, each)


MAX_QUEUED = 32
"""How many published events may still be waiting for delivery."""


class Bus:
    """Thread-safe. A subscriber that raises is dropped, and the run continues; ``faults`` has the
    error."""

    def __init__(self, subscribers: Iterable[Subscriber] = ()) -> None:
        self._listeners = [_Listener.of(one) for one in subscribers]
        self._delivering = threading.Lock()
        self._due: deque[Sequence[Event]] = deque()
        self._waiting: deque[None] = deque()
        """One for each thread that will deliver as soon as it may."""
        self.faults: list[Exception] = []

    def publish(self, *events: Event) -> None:
        """Have events delivered to all subscribers, in the order in which they were published.

        When this returns, they have been delivered, or another thread that is currently delivering
        will deliver them.
        """
        self._due.append(events)
        if len(self._due) > MAX_QUEUED:
            self._waiting.append(None)
            try:
                self._delivering.acquire()
            finally:
                self._waiting.pop()
            self._deliver()
        # Other threads leave their events to the delivering thread, so it must check again.
        while self._due and not self._waiting and self._delivering.acquire(blocking=False):
            self._deliver()

    def _deliver(self) -> None:
        """Deliver until the queue is empty or another thread wants to continue, then release the
        lock.
        """
        try:
            while self._due:
                self._hand_out(self._due.popleft())
                if self._waiting:
                    break
        finally:
            self._delivering.release()

    def _hand_out(self, events: Sequence[Event]) -> None:
        for listener in tuple(self._listeners):
            try:
                listener.take(events)
            except Exception as error:  # it gets no more events; the run continues
                self.faults.append(error)
                self._listeners.remove(listener)

    def close(self) -> None:
        """Close the remaining subscribers after all events are delivered."""
        with self._delivering:
            while self._due:
                self._hand_out(self._due.popleft())
            for listener in self._listeners:
                try:
                    listener.subscriber.close()
                except Exception as error:  # the others are closed all the same
                    self.faults.append(error)
            self._listeners = []


MAX_NOTICES = 200  # warnings and errors of one host; they are stored for the summary
MAX_LINES = 2_000  # other messages, such as the output of commands; only shown


class Notices:
    """Publishes a limited number of messages about one host."""

    def __init__(self, host: str, bus: Bus) -> None:
        self.host = host
        self.bus = bus
        self._notices = 0
        self._lines = 0

    def say(self, level: str, text: str) -> None:
        """Publish one line; ``level`` is info, waiting, warning or error."""
        waits = level == "waiting"
        if waits or level == "info":
            level = "info"
            self._lines += 1
            count, maximum, words = self._lines, MAX_LINES, "lines of output"
        else:
            self._notices += 1
            count, maximum, words = self._notices, MAX_NOTICES, "messages"
        if count == maximum:
            level, text = "warning", f"more than {maximum} {words}; the rest is omitted"
        if count <= maximum:
            self.bus.publish(HostNotice(self.host, level, text, waits))
