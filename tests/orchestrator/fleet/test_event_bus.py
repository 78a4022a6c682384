"""Events on their way to those who are told."""

import threading
import time
from typing import Any

from orchestrator.fleet import events as run_events
from orchestrator.fleet.event_bus import MAX_QUEUED, Bus
from orchestrator.fleet.host.phases import Phase
from tests.orchestrator.fleet.fakes import Recorder


def phase(host: str, number: float) -> run_events.HostPhase:
    return run_events.HostPhase(host, Phase.RUNNING, number)


class Held(Recorder):
    """Takes its first event only once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.may = threading.Event(), threading.Event()

    def handle(self, event: Any) -> None:
        self.begun.set()
        assert self.may.wait(30)
        super().handle(event)


def test_a_subscriber_that_breaks_is_dropped_and_the_rest_goes_on() -> None:
    """An exception in one subscriber is kept as a fault; the others see every event."""

    class Breaking:
        def handle(self, event: Any) -> None:
            raise ValueError("broken")

        def close(self) -> None:
            pass

    recorder = Recorder()
    bus = Bus([Breaking(), recorder])
    for number in range(3):
        bus.publish(run_events.HostPhase("web1", Phase.RUNNING, number))
    assert [event.at for event in recorder.of(run_events.HostPhase)] == [0, 1, 2]
    assert [str(fault) for fault in bus.faults] == ["broken"]


def test_all_subscribers_see_one_order() -> None:
    """Events published by many threads reach two subscribers in the same order."""
    first, second = Recorder(), Recorder()
    bus = Bus([first, second])

    def publish(name: str) -> None:
        for number in range(200):
            bus.publish(run_events.HostPhase(name, Phase.RUNNING, number))

    threads = [threading.Thread(target=publish, args=(f"h{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert first.events == second.events
    assert len(first.events) == 1600


def test_nobody_waits_while_another_one_delivers() -> None:
    """Who comes meanwhile leaves events behind, which the other one delivers before it goes on."""
    held = Held()
    bus = Bus([held])
    first = threading.Thread(target=bus.publish, args=(phase("web1", 0),))
    first.start()
    assert held.begun.wait(30)
    for number in range(1, 10):
        bus.publish(phase("web2", number))
    assert not held.events
    held.may.set()
    first.join(30)
    assert [event.at for event in held.of(run_events.HostPhase)] == list(range(10))


def test_little_piles_up_before_a_slow_subscriber() -> None:
    """Beyond some events whoever publishes waits until there is room, and nothing is lost."""
    held = Held()
    bus = Bus([held])
    done = []

    def publish(name: str) -> None:
        for number in range(MAX_QUEUED):
            bus.publish(phase(name, number))
            done.append(name)

    threads = [threading.Thread(target=publish, args=(f"h{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    assert held.begun.wait(30)
    end = time.monotonic() + 30
    # One delivers; each other one is done or waits for room.
    while len(bus._waiting) < sum(thread.is_alive() for thread in threads) - 1:
        assert time.monotonic() < end
        time.sleep(0.001)
    assert len(done) <= MAX_QUEUED
    held.may.set()
    for thread in threads:
        thread.join(30)
    assert len(held.events) == 8 * MAX_QUEUED
    for name in {f"h{n}" for n in range(8)}:
        told = [event.at for event in held.of(run_events.HostPhase) if event.host == name]
        assert told == list(range(MAX_QUEUED))


def test_what_is_due_is_delivered_before_the_end() -> None:
    """A close waits for whoever delivers, and for what was left behind there."""
    held = Held()
    bus = Bus([held])
    first = threading.Thread(target=bus.publish, args=(phase("web1", 0),))
    first.start()
    assert held.begun.wait(30)
    bus.publish(phase("web2", 1))
    closing = threading.Thread(target=bus.close)
    closing.start()
    held.may.set()
    closing.join(30)
    first.join(30)
    assert [event.at for event in held.of(run_events.HostPhase)] == [0, 1]
