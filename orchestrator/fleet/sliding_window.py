"""The sliding window, which limits the number of hosts that run in parallel (controller)."""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from orchestrator.fleet.host.host_task import HostTask
from orchestrator.fleet.open_file_limit import spare_descriptors

INTERRUPT_GRACE = 8.0
TICK = 0.2
KEEP_ALIVE_INTERVAL = 1.0

R = TypeVar("R")


class HostScheduler(Protocol[R]):
    """Decides which host starts next; called only by the window's thread."""

    def next(self) -> HostTask[R] | None:
        """The next host, which starts now; None if no host may start."""

    def ended(self, name: str, answer: R) -> None:
        """Record that a host has ended."""

    @property
    def waits(self) -> bool:
        """Whether more hosts may start later although none is running."""

    @property
    def spare(self) -> int | None:
        """The number of additional hosts that may fail while others still start; None for
        no limit.
        """

    def rest(self) -> Iterator[HostTask[R]]:
        """The hosts that will never start."""

    def interrupt(self) -> None:
        """The user ends the run: the scheduler stops waiting."""


class SequentialScheduler(Generic[R]):
    """A scheduler for tasks that may all start immediately."""

    waits = False
    spare: int | None = None

    def __init__(self, tasks: Iterable[HostTask[R]]) -> None:
        self._tasks = iter(tasks)

    def next(self) -> HostTask[R] | None:
        """Return the next task."""
        return next(self._tasks, None)

    def ended(self, name: str, answer: R) -> None:
        """Do nothing: no other task waits for the ended one."""

    def rest(self) -> Iterator[HostTask[R]]:
        """The remaining hosts."""
        return self._tasks

    def interrupt(self) -> None:
        """Do nothing: the scheduler never waits."""


class Window(Generic[R]):
    """Runs at most ``forks`` hosts at a time; when one ends, the next starts.

    An unresponsive host does not use a fork, within limits of descriptors and of failures: another
    host uses it until the first one responds or ends. For the scheduler, it keeps running all the
    time. ``tasks`` are a scheduler, or tasks that start in order. ``finished`` receives each host's
    name and answer, in the thread that called ``run``. ``interrupt`` may be called from a signal
    handler: running hosts are cancelled, the others never start. ``tick`` is called several times a
    second in the thread that called ``run``.
    """

    def __init__(
        self,
        tasks: "Iterable[HostTask[R]] | HostScheduler[R]",
        forks: int,
        *,
        finished: Callable[[str, R], None],
        tick: Callable[[], None] = lambda: None,
        grace: float = INTERRUPT_GRACE,
    ) -> None:
        self._course: HostScheduler[R] = (
            SequentialScheduler(tasks) if isinstance(tasks, Iterable) else tasks
        )
        self._forks = forks
        self._finished = finished
        self._tick = tick
        self._grace = grace
        self._running: dict[str, HostTask[R]] = {}
        self._unresponsive: set[str] = set()  # of them, as of the last look
        self._beside = spare_descriptors(forks)
        self._done: queue.SimpleQueue[tuple[str, R]] = queue.SimpleQueue()
        self._interrupted = threading.Event()
        self._tended = time.monotonic()

    @property
    def interrupted(self) -> bool:
        """Whether the user ended the run."""
        return self._interrupted.is_set()

    def interrupt(self) -> None:
        """Stop the run on every host within a few seconds."""
        self._interrupted.set()

    def run(self) -> None:
        """Run all hosts; return when each has a result or, after an interrupt, at the end of the
        grace period.
        """
        while not self.interrupted and (self._fill() or self._running or self._course.waits):
            self._collect()
        if self.interrupted:
            self._wind_down()
        for task in self._course.rest():
            self._finished(task.name, task.interrupted() if self.interrupted else task.held())

    def _fill(self) -> bool:
        started = False
        while self._taken() < self._forks and not self.interrupted:
            task = self._course.next()
            if task is None:
                break
            self._running[task.name] = task
            task.begin(self._over)
            started = True
        return started

    def _taken(self) -> int:
        """The number of places in use."""
        beside, spare = min(len(self._unresponsive), self._beside), self._course.spare
        return len(self._running) - (beside if spare is None else min(beside, spare))

    def _over(self, name: str, answer: R) -> None:
        self._done.put((name, answer))

    def _collect(self) -> None:
        """Collect finished tasks, or wait one tick for them."""
        try:
            name, result = self._done.get(timeout=TICK)
        except queue.Empty:
            self._look()
        else:
            self._running.pop(name)
            self._unresponsive.discard(name)
            self._finished(name, result)
            self._course.ended(name, result)
        self._tick()
        now = time.monotonic()
        if now - self._tended >= KEEP_ALIVE_INTERVAL:
            self._tended = now
            for task in self._running.values():
                task.tend(now)
            self._look()

    def _look(self) -> None:
        """Determine which hosts are unresponsive."""
        now = time.monotonic()
        self._unresponsive = {
            name for name, task in self._running.items() if task.is_unresponsive(now)
        }

    def _wind_down(self) -> None:
        self._course.interrupt()
        end = time.monotonic() + self._grace
        for task in self._running.values():
            task.cancel()
        while self._running and time.monotonic() < end:
            self._collect()
        for task in self._running.values():
            task.abandon()
            self._finished(task.name, task.interrupted())


def run_all(
    tasks: Iterable[HostTask[R]],
    forks: int,
    watch: Callable[[Window[Any]], None],
    grace: float = INTERRUPT_GRACE,
) -> dict[str, R]:
    """Return every host's answer by its name; ``watch`` receives the window before it starts."""
    answers: dict[str, R] = {}
    window = Window(tasks, forks, finished=answers.__setitem__, grace=grace)
    watch(window)
    window.run()
    return answers
