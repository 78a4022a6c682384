"""The side of a worker that the controller has: it says what to do, and publishes (controller)."""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from orchestrator.fleet import events as happening
from orchestrator.fleet.bus import Bus
from orchestrator.fleet.ports import Publisher
from orchestrator.support.crash import describe_crash
from orchestrator.workers.asking import Answering
from orchestrator.workers.hearing import Heard, Told
from orchestrator.workers.remote_task import RemoteTask

BEAT = "b"
"""What a worker tells that has nothing to tell."""
_MOST_TOGETHER = 500  # events that are published at once
_MOST_OPEN = 1_000  # questions, beside one for each host
Lost = Callable[[Sequence[RemoteTask], str], None]


class Life(Protocol):
    """What a worker lives in."""

    def kill(self) -> None:
        """End one that does not end by itself."""
        ...

    def ending(self) -> str:
        """How it has ended, which is waited for."""
        ...


class Link(Protocol):
    """The controller's end of what leads to a worker, as ``Channel`` has it."""

    def send(self, text: str) -> None: ...

    def receive(self) -> str | None: ...

    def close(self) -> None: ...


class Hand:
    """The controller's side of one worker, which has a ``name`` for people.

    ``lost`` is given the tasks that it had when it ended, and how it did.
    """

    def __init__(self, name: str, life: Life, channel: Link, lost: Lost) -> None:
        self.name = name
        self.channel = channel
        self.running: dict[str, RemoteTask] = {}
        self.ended: str | None = None  # how, once it has
        self.left: list[Any] = []
        self.heard = time.monotonic()
        """When it was heard of last."""
        self._given_up = ""
        self._life = life
        self._lost = lost
        self._answers = Answering()
        self._open = 0  # questions without an answer
        self._switch = threading.Lock()
        self._thread: threading.Thread | None = None

    def listen(
        self, heard: Heard, bus: Bus, publisher: Publisher, *, answers: Answering | None = None
    ) -> None:
        """Publish what it tells, from a thread of its own; ``answers`` are to what it asks."""
        self._answers = answers or self._answers
        self._thread = threading.Thread(
            target=self._listen,
            args=(heard, bus, publisher),
            name=f"worker {self.name}",
            daemon=True,
        )
        self._thread.start()

    def begin(self, tasks: Sequence[RemoteTask], records: Mapping[str, Any] | None = None) -> None:
        """Have it begin with hosts; ``records`` for a worker that does not know them."""
        with self._switch:
            ended = self.ended
            if ended is None:
                self.running.update((task.name, task) for task in tasks)
        if ended is not None:
            self._lost(tasks, ended)
            return
        told = [] if records is None else [records]
        self._send("begin", [(task.job, task.name) for task in tasks], *told)

    def tell(self, task: RemoteTask, word: str) -> None:
        """Tell it of a host, unless that is done."""
        if task.name in self.running:
            self._send(word, task.name)

    def give_up(self, why: str) -> None:
        """End one that hangs; why is told of the hosts that it has."""
        self._given_up = why
        self._life.kill()

    def close(self) -> None:
        """Ask it to end."""
        self._send("close", None)

    def join(self, until: float) -> None:
        """Wait until it has ended; one that has not at that time is killed."""
        if self._thread is None:
            self.channel.close()
            self._life.ending()
        elif not self.wait(until):
            self._life.kill()
            self._thread.join()

    def teach(self, planners: Iterable[Any]) -> None:
        """Let planners come to know what its own have told; nothing where that makes no sense."""
        for planner, told in zip(planners, self.left, strict=False):
            with contextlib.suppress(TypeError, ValueError):  # a worker may be anybody's
                planner.remember(told)

    def wait(self, until: float) -> bool:
        """Wait until all that it told is heard; whether that is so by then."""
        if self._thread is None:
            return True
        self._thread.join(max(0.0, until - time.monotonic()))
        return not self._thread.is_alive()

    def _send(self, *message: Any) -> None:
        with contextlib.suppress(OSError):  # its end is met by who listens
            self.channel.send(json.dumps(message))

    def _listen(self, heard: Heard, bus: Bus, publisher: Publisher) -> None:
        try:
            while True:
                text = self.channel.receive() or ""
                self.heard = time.monotonic()
                if text == BEAT:
                    continue
                if text[0] == "l":
                    self.left = list(json.loads(text[1:]))
                    break
                self._take(text, heard=heard, bus=bus, publisher=publisher)
            how = ""
        except (EOFError, OSError):
            how = ""
        except Exception as error:
            self._life.kill()
            how = f"a defect in ccm, see {describe_crash(error, 'what a worker tells')}"
        how = how or self._life.ending()
        how = self._given_up or how
        with self._switch:
            self.ended = how
            lost, self.running = list(self.running.values()), {}
        self._lost(lost, how)
        self.channel.close()

    def _take(self, text: str, *, heard: Heard, bus: Bus, publisher: Publisher) -> None:
        """Publish what a message tells, then let the hosts end whose end it tells."""
        told: list[happening.Event] = []
        ended: list[happening.HostFinished] = []
        try:
            for line in text.split("\n"):
                event = self._event(line, heard, publisher)
                if isinstance(event, happening.HostFinished):
                    ended.append(event)
                elif event is not None:
                    self.running[event.host].heard(event)
                    told.append(event)
                if len(told) >= _MOST_TOGETHER:
                    bus.publish(*told)
                    told.clear()
        finally:
            bus.publish(*told)
            for finished in ended:
                self.running.pop(finished.result.host).finish(finished.result)

    def _ask(self, number: str, asked: str) -> None:
        """Have a question answered; its hosts wait for the answer, each of them."""

        def tell(answer: Any) -> None:
            with self._switch:
                self._open -= 1
            self._send("answer", [int(number), answer])

        if self._open >= len(self.running) + _MOST_OPEN:
            raise ValueError("it asks more than its hosts can")
        self._answers.begin(json.loads(asked), tell)
        with self._switch:
            self._open += 1

    def _event(self, line: str, heard: Heard, publisher: Publisher) -> Told | None:
        """The event that a line tells, if any; what is no event is seen to."""
        if line[0] == "r":
            host, _, properties = line[1:].partition("\t")
            if host not in self.running:
                raise LookupError("it registers for a host that it has not")
            publisher.add(host, json.loads(properties))
            return None
        if line[0] == "q":
            self._ask(*line[1:].split("\t", 1))
            return None
        return heard.event(line)
