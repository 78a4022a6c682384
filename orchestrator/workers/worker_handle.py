"""The controller's handle of a worker: sends its tasks and publishes its events (controller)."""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from orchestrator.fleet import events as run_events
from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.interfaces import Publisher
from orchestrator.fleet.outcome import HostResult
from orchestrator.support.crash_report import describe_crash
from orchestrator.support.plain_text import one_line
from orchestrator.workers.channel import RpcServer
from orchestrator.workers.event_receiver import DecodedEvent, EventReceiver
from orchestrator.workers.worker_task import RemoteTask, WorkerLostError, WorkerProtocolError

BEAT = "b"
"""The message of a worker that has nothing to report."""
_MAX_TOGETHER = 500  # events that are published at once
_MAX_OPEN = 1_000  # questions, in addition to one for each host
Lost = Callable[[Sequence[RemoteTask], WorkerLostError], None]
MAX_LINE = 16 << 20
"""The maximum number of characters in one line of a worker; JSON text of that size may take twenty
times the memory.
"""
_WRONG = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
_LINES = {
    "i": "resource forms",
    "n": "resource names",
    "c": "the kind of data to forget",
    "r": "registrations",
    "q": "a question",
    "s": "unchanged resources",
    "p": "phases",
    "e": "an event",
    "h": "the number of a plan",
    "d": "the progress of a resource",
    "t": "a notice",
    "k": "the plan's data",
    "f": "the result",
    "l": "the data of planners",
}


class WorkerProcess(Protocol):
    """The process of a worker."""

    def kill(self) -> None:
        """Kill a worker that does not exit by itself."""

    def ending(self) -> str:
        """Wait for its end, and return how it ended."""


class Link(Protocol):
    """The controller's end of the connection to a worker; see ``Channel``."""

    def send(self, text: str) -> None: ...

    def receive(self) -> str | None: ...

    def close(self) -> None: ...


class WorkerHandle:
    """The controller's side of one worker, which has a ``name`` for people.

    ``lost`` receives the tasks that it had when it ended, and the reason for the loss.
    """

    def __init__(self, name: str, life: WorkerProcess, channel: Link, lost: Lost) -> None:
        self.name = name
        self.channel = channel
        self.running: dict[str, RemoteTask] = {}
        self.ended: str | None = None  # how, once it has
        self.left: list[Any] = []
        self.last_received = time.monotonic()
        """When its last message arrived."""
        self._given_up = ""
        self._loss = WorkerLostError("ended")
        self._life = life
        self._lost = lost
        self._answers = RpcServer()
        self._open = 0  # questions without an answer
        self._switch = threading.Lock()
        self._thread: threading.Thread | None = None

    def listen(
        self,
        receiver: EventReceiver,
        bus: Bus,
        publisher: Publisher,
        *,
        answers: RpcServer | None = None,
    ) -> None:
        """Receive and publish its events in its own thread; ``answers`` answers its questions."""
        self._answers = answers or self._answers
        self._thread = threading.Thread(
            target=self._listen,
            args=(receiver, bus, publisher),
            name=f"worker {self.name}",
            daemon=True,
        )
        self._thread.start()

    def begin(self, tasks: Sequence[RemoteTask], records: Mapping[str, Any] | None = None) -> None:
        """Make it start hosts; ``records`` is for a worker that does not know them."""
        with self._switch:
            ended = self.ended
            if ended is None:
                self.running.update((task.name, task) for task in tasks)
        if ended is not None:
            self._lost(tasks, self._loss)
            return
        told = [] if records is None else [records]
        self._send("begin", [(task.job, task.name) for task in tasks], *told)

    def tell(self, task: RemoteTask, word: str) -> None:
        """Send it a message about a host, unless the host has ended."""
        if task.name in self.running:
            self._send(word, task.name)

    def give_up(self, reason: str) -> None:
        """Kill a worker that hangs; its hosts receive the reason."""
        self._given_up = reason
        self._life.kill()

    def close(self) -> None:
        """Ask it to end."""
        self._send("close", None)

    def join(self, until: float) -> None:
        """Wait until it has ended; kill it if it is still running after the time limit."""
        if self._thread is None:
            self.channel.close()
            self._life.ending()
        elif not self.wait(until):
            self._life.kill()
            self._thread.join()

    def teach(self, planners: Iterable[Any]) -> None:
        """Pass the data of its planners to the local ones; invalid data is ignored."""
        for planner, told in zip(planners, self.left, strict=False):
            with contextlib.suppress(TypeError, ValueError):  # workers are not trusted
                planner.remember(told)

    def wait(self, until: float) -> bool:
        """Wait until all its messages are processed; return whether that succeeded in time."""
        if self._thread is None:
            return True
        self._thread.join(max(0.0, until - time.monotonic()))
        return not self._thread.is_alive()

    def _send(self, *message: Any) -> None:
        with contextlib.suppress(OSError):  # its end is met by who listens
            self.channel.send(json.dumps(message))

    def _listen(self, receiver: EventReceiver, bus: Bus, publisher: Publisher) -> None:
        loss: WorkerLostError | None = None
        try:
            while True:
                text = self._received()
                self.last_received = time.monotonic()
                if text == BEAT:
                    continue
                if text.startswith("l"):
                    self._take_last(text)
                    break
                self._take(text, receiver=receiver, bus=bus, publisher=publisher)
        except (EOFError, OSError):
            pass  # its exit status is checked below
        except WorkerProtocolError as error:
            self._life.kill()
            loss = error
        except Exception as error:  # a defect: no host waits for a worker that nobody hears
            self._life.kill()
            report = describe_crash(error, "a message from a worker")
            loss = WorkerLostError(f"internal error in ccm, see {report}")
        ending = loss.how if loss else self._life.ending()
        if self._given_up or loss is None:
            loss = WorkerLostError(self._given_up or ending)
        with self._switch:
            self.ended, self._loss = loss.how, loss
            lost, self.running = list(self.running.values()), {}
        self._lost(lost, loss)
        self.channel.close()

    def _received(self) -> str:
        try:
            return self.channel.receive() or ""
        except ValueError as error:
            raise self._broken("a message", error) from error

    def _take_last(self, text: str) -> None:
        try:
            self.left = list(json.loads(text[1:]))
        except _WRONG as error:
            raise self._broken(_LINES["l"], error) from error

    def _broken(self, expected: str, error: Exception) -> WorkerProtocolError:
        """The message about a worker that sent invalid data."""
        reason = one_line(f"{type(error).__name__}: {error}", 200)
        return WorkerProtocolError(one_line(self.name), f"expected {expected} ({reason})")

    def _take(self, text: str, *, receiver: EventReceiver, bus: Bus, publisher: Publisher) -> None:
        """Publish the events of a message, then finish the hosts that ended."""
        told: list[run_events.Event] = []
        ended: list[tuple[RemoteTask, HostResult]] = []
        try:
            for line in _lines(text):
                try:
                    event = self._event(line, receiver, publisher)
                    if isinstance(event, run_events.HostFinished):
                        ended.append((self.running.pop(event.result.host), event.result))
                    elif event is not None:
                        self.running[event.host].record(event)
                        told.append(event)
                except _WRONG as error:
                    expected = _LINES.get(line[:1], "a line of a known kind")
                    raise self._broken(f"{expected} of hosts assigned to it", error) from error
                if len(told) >= _MAX_TOGETHER:
                    bus.publish(*told)
                    told.clear()
        finally:
            bus.publish(*told)
            for task, result in ended:
                task.finish(result)

    def _ask(self, number: str, asked: str) -> None:
        """Have a question answered; the hosts that wait for the answer are marked as waiting."""

        def tell(answer: Any) -> None:
            """Send the answer to the worker."""
            with self._switch:
                self._open -= 1
            self._send("answer", [int(number), answer])

        if self._open >= len(self.running) + _MAX_OPEN:
            raise ValueError("too many requests")
        self._answers.begin(json.loads(asked), tell)
        with self._switch:
            self._open += 1

    def _event(
        self, line: str, receiver: EventReceiver, publisher: Publisher
    ) -> DecodedEvent | None:
        """The event in a line, if any; other lines are handled."""
        if len(line) > MAX_LINE:
            raise ValueError(f"a line of {len(line):,} characters is too long (limit {MAX_LINE:,})")
        if line[0] == "r":
            host, _, properties = line[1:].partition("\t")
            if host not in self.running:
                raise LookupError("a registration of a host that is not assigned to it")
            publisher.add(host, json.loads(properties))
            return None
        if line[0] == "q":
            self._ask(*line[1:].split("\t", 1))
            return None
        return receiver.event(line)


def _lines(text: str) -> Iterator[str]:
    """Yield the lines one by one: a list of many empty lines would take many times their memory."""
    at = 0
    while (end := text.find("\n", at)) >= 0:
        yield text[at:end]
        at = end + 1
    yield text[at:]
