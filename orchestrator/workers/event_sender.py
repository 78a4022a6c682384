"""Messages of a worker about its hosts: small, batched and without repetition (controller).

A message consists of lines. The first character of a line is its kind. Its subject and JSON text
follow, with a tab between them if it has both. Lines of the run directory are sent unchanged. Parts
that plans have in common are sent once, before their first use, and then referred to by number::

    p HOST \t [[phase, at], ...]    phases that the host has entered, in order
    i JSON \t JSON ...      data of resources that plans supply, numbered from 0
    n JSON                  [resources, subscribed, required, applied] of a plan, numbered from 0
    c KIND                  forget those of this kind (i, n): the next one is number 0
    h HOST \t NUMBER        the plan of the host
    s HOST \t {id, at, noop, prediction, rows, resources: [number of i, ...]}
    e HOST \t JSON          an event
    d HOST \t [resource, action, at]
    t HOST \t [level, text, waits]
    k HOST \t JSON          the data of the host for a plan file
    r HOST \t [properties, ...]        registrations to publish
    q NUMBER \t [planner, question]    a question to the controller, see ``rpc.py``
    f HOST \t JSON          the result of the host
    l JSON                  the last line: what each planner has found out
"""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.fleet import events as run_events
from orchestrator.fleet.checks.unchanged_resources import TextNumbers
from orchestrator.fleet.event_bus import Subscriber
from orchestrator.fleet.outcome import HostResult
from orchestrator.workers.channel import Channel

BATCH_SECONDS = 0.25  # seconds that a line may wait for others, while its host continues
MAX_WAITING = 8 << 20  # characters; beyond that hosts wait for the controller
MAX_NUMBERED = 5_000  # strings or plans with a number at a time

_encode = json.JSONEncoder(separators=(",", ":")).encode


class EventSender(Subscriber):
    """Subscriber of a worker's bus that sends events to the controller, from its own thread.

    The end of a host is sent immediately, together with earlier lines, so that another host can
    start. If messages are expensive (``dear``), ends are batched, too.
    """

    def __init__(
        self, channel: Channel, gathering: float = BATCH_SECONDS, *, dear: bool = False
    ) -> None:
        self._channel = channel
        self._gathering = gathering
        self._dear = dear
        self._numbers = TextNumbers()
        self._names: dict[tuple[Any, ...], int] = {}
        self._lines: list[str] = []
        self._entering: dict[str, int] = {}  # the offset of the last line with phases of a host
        self._waiting = 0
        self._urgent = False
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="telling", daemon=True)

    def start(self) -> None:
        """Start sending."""
        self._thread.start()

    def handle(self, event: run_events.Event) -> None:
        """Encode an event; one call at a time."""
        if isinstance(event, run_events.HostPhase):
            self._entered(event)
        elif isinstance(event, run_events.ResourcesStable):
            self._stable(event)
        elif isinstance(event, run_events.ResourceEvent):
            self._put(f"e{event.host}\t{event.line}", event.host)
        elif isinstance(event, run_events.HostPlanned):
            self._planned(event)
        elif isinstance(event, run_events.ResourceProgress):
            self._put(f"d{event.host}\t{_encode(event[1:])}", event.host)
        elif isinstance(event, run_events.HostNotice):
            self._put(f"t{event.host}\t{_encode(event[1:])}", event.host)
        elif isinstance(event, run_events.HostPlanPart):
            self._put(f"k{event.host}\t{_encode(event.record)}", event.host)
        elif isinstance(event, run_events.HostFinished):
            self._finished(event.result)
        else:
            raise TypeError(f"a host cannot report a {type(event).__name__}")

    def add(self, host: str, registrations: Sequence[Mapping[str, Any]]) -> None:
        """Make the controller publish a registration, like a ``Publisher``."""
        self._put(f"r{host}\t{_encode(list(map(dict, registrations)))}", host)

    def ask(self, number: int, asked: Any) -> None:
        """Make the controller answer a question."""
        self._put(f"q{number}\t{_encode(asked)}", urgent=True)

    def close(self) -> None:
        """Send the rest, and stop."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _finished(self, result: HostResult) -> None:
        self._put(f"f{result.host}\t{_encode(result.record())}", result.host, urgent=not self._dear)

    def _stable(self, event: run_events.ResourcesStable) -> None:
        numbers = self._numbers
        if len(numbers) >= MAX_NUMBERED:
            numbers.forget(first=0)
            self._put("ci")
        told = _encode(event.unchanged.message(numbers))
        if numbers.new:
            self._put("i" + "\t".join(numbers.new))
            numbers.new.clear()
        self._put(f"s{event.host}\t{told}", event.host)

    def _planned(self, event: run_events.HostPlanned) -> None:
        names = event[1:]
        number = self._names.get(names)
        if number is None:
            if len(self._names) >= MAX_NUMBERED:
                self._names.clear()
                self._put("cn")
            number = self._names[names] = len(self._names)
            self._put("n" + _encode(names))
        self._put(f"h{event.host}\t{number}", event.host)

    def _entered(self, event: run_events.HostPhase) -> None:
        """Encode phases; consecutive ones of a host share a line."""
        told = _encode(event.entered)
        with self._changed:
            place = self._entering.get(event.host)
            if place is None:
                self._put(f"p{event.host}\t{told}")
                self._entering[event.host] = len(self._lines) - 1
            else:
                self._lines[place] = f"{self._lines[place][:-1]},{told[1:]}"

    def _put(self, line: str, host: str = "", *, urgent: bool = False) -> None:
        with self._changed:
            self._entering.pop(host, None)
            while self._waiting > MAX_WAITING and not self._closed:
                self._changed.wait()
            first = not self._lines
            self._lines.append(line)
            self._waiting += len(line)
            urgent = urgent or self._waiting > MAX_WAITING
            if first or (urgent and not self._urgent):
                self._urgent = urgent
                self._changed.notify_all()

    def _work(self) -> None:
        while lines := self._gathered():
            try:
                self._channel.send("\n".join(lines))
            except OSError:  # the controller is gone, which the reader of the channel also notices
                return

    def _gathered(self) -> list[str]:
        """Lines that are ready to be sent; none at the end."""
        with self._changed:
            while not (self._lines or self._closed):
                self._changed.wait()
            until = time.monotonic() + self._gathering
            while not (self._urgent or self._closed):
                left = until - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            lines, self._lines = self._lines, []
            self._entering.clear()
            self._waiting, self._urgent = 0, False
            self._changed.notify_all()
            return lines


def last_message(told: list[Any]) -> str:
    """The last message of a worker, with the data of its planners."""
    return "l" + _encode(told)
