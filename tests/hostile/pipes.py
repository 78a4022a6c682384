"""A worker's pipe: what is told at one end has to come out as it was at the other."""

from __future__ import annotations

import json
import queue
import socket
from typing import Any

from orchestrator.fleet import events as run_events
from orchestrator.fleet.event_bus import Bus, Subscriber
from orchestrator.fleet.outcome import HostResult
from orchestrator.workers.channel import Channel
from orchestrator.workers.event_receiver import EventReceiver
from orchestrator.workers.event_sender import EventSender
from orchestrator.workers.worker_handle import WorkerHandle
from orchestrator.workers.worker_task import RemoteTask

PATIENCE = 60.0  # seconds for the end of a host


class WorkersPipe(Subscriber):
    """A subscriber of a host's run as a worker has it, and the controller that hears of it."""

    def __init__(self, host: Any, run_id: str) -> None:
        self.host = host
        self.told = 0
        ours, theirs = socket.socketpair()
        self._here, self._there = _Noted(), _Noted()
        self._orders = Channel(theirs)
        self._outbox = EventSender(self._orders)
        self._outbox.start()
        self._bus = Bus([self._there])
        self._hand = WorkerHandle(
            "it", _Life(), Channel(ours), lambda tasks, loss: self._lost(loss.how)
        )
        self._hand.listen(EventReceiver(run_id), self._bus, _Publisher())
        self._ends: queue.SimpleQueue[HostResult | str] = queue.SimpleQueue()

    def begin(self) -> None:
        """The controller has the host begin."""
        self._here.events.clear()
        self._there.events.clear()
        crew = _Crew(self._hand)
        RemoteTask(self.host, 0, crew).begin(lambda _, result: self._ends.put(result))
        self._orders.receive()

    def handle(self, event: run_events.Event) -> None:
        """The worker tells."""
        self._here.handle(event)
        self._outbox.handle(event)

    def otherwise(self, result: HostResult) -> str:
        """What has not come through as it was, once the host is at its end; "" where all has."""
        self._outbox.handle(run_events.HostFinished(result))
        received = self._ends.get(timeout=PATIENCE)
        if isinstance(received, str):
            return received
        self.told = len(self._here.events)
        if self._bus.faults:
            return f"a subscriber of the controller failed: {self._bus.faults}"
        if json.dumps(received.record()) != json.dumps(result.record()):
            return f"the result is {received.record()}, not {result.record()}"
        for one, other in zip(self._here.events, self._there.events, strict=False):
            if one != other:
                return f"{other[:700]} was heard, not {one[:700]}"
        missing = len(self._here.events) - len(self._there.events)
        return f"{missing} events are missing" if missing else ""

    def _lost(self, how: str) -> None:
        self._ends.put(f"the worker was lost: {how}")


class _Crew:
    """Has one hand."""

    def __init__(self, hand: WorkerHandle) -> None:
        self._hand = hand
        self.tell = hand.tell

    def begin(self, task: RemoteTask) -> None:
        """Have it begin with the host."""
        self._hand.begin([task])

    def finished(self, task: RemoteTask) -> None:
        """Nothing is kept of it."""


class _Noted(Subscriber):
    """The events of a host as text, phases one by one, as they may be told together."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def handle(self, event: run_events.Event) -> None:
        told: list[Any] = [event]
        if isinstance(event, run_events.ResourcesStable):
            told = [list(event.unchanged.events())]
        elif isinstance(event, run_events.HostPhase):
            told = [(event.host, *entered) for entered in event.entered]
        self.events += [json.dumps([type(event).__name__, one]) for one in told]


class _Life:
    """There is no process to end."""

    def kill(self) -> None:
        """Nothing lives."""

    def ending(self) -> str:
        return "ended"


class _Publisher:
    """Announces nothing."""

    def add(self, host: str, registrations: Any) -> None:
        """Nothing is registered."""
