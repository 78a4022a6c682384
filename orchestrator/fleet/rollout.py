"""The sliding window: so many hosts at a time, one thread each (controller)."""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from orchestrator.fleet.host_task import HostTask

INTERRUPT_GRACE = 8.0
TICK = 0.2
TEND = 1.0

R = TypeVar("R")


class Rollout(Generic[R]):
    """Runs hosts through a window of ``forks``; as one ends the next begins.

    ``finished`` is told each host's name and answer, in the thread that called ``run``.
    ``interrupt`` may be called from a signal handler: running hosts are cancelled, the others never
    start. ``tick`` is called several times a second in the thread that called ``run``.
    """

    def __init__(
        self,
        tasks: Iterable[HostTask[R]],
        forks: int,
        *,
        finished: Callable[[str, R], None],
        tick: Callable[[], None] = lambda: None,
        grace: float = INTERRUPT_GRACE,
    ) -> None:
        self._waiting: Iterator[HostTask[R]] = iter(tasks)
        self._forks = forks
        self._finished = finished
        self._tick = tick
        self._grace = grace
        self._running: dict[str, HostTask[R]] = {}
        self._done: queue.SimpleQueue[tuple[str, R]] = queue.SimpleQueue()
        self._interrupted = threading.Event()
        self._tended = time.monotonic()

    @property
    def interrupted(self) -> bool:
        """Whether the user ended the run."""
        return self._interrupted.is_set()

    def interrupt(self) -> None:
        """End the run on every host within a few seconds."""
        self._interrupted.set()

    def run(self) -> None:
        """Run all hosts; returns when each one has a result, within the grace once interrupted."""
        while not self.interrupted and (self._fill() or self._running):
            self._collect()
        if self.interrupted:
            self._wind_down()

    def _fill(self) -> bool:
        started = False
        while len(self._running) < self._forks and not self.interrupted:
            task = next(self._waiting, None)
            if task is None:
                break
            self._running[task.name] = task
            threading.Thread(
                target=self._carry, args=(task,), name=f"host {task.name}", daemon=True
            ).start()
            started = True
        return started

    def _carry(self, task: HostTask[R]) -> None:
        self._done.put((task.name, task.run()))

    def _collect(self) -> None:
        """Take what has finished, or wait one tick for it."""
        try:
            name, result = self._done.get(timeout=TICK)
        except queue.Empty:
            pass
        else:
            self._running.pop(name)
            self._finished(name, result)
        self._tick()
        now = time.monotonic()
        if now - self._tended >= TEND:
            self._tended = now
            for task in self._running.values():
                task.tend(now)

    def _wind_down(self) -> None:
        end = time.monotonic() + self._grace
        for task in self._running.values():
            task.cancel()
        while self._running and time.monotonic() < end:
            self._collect()
        for task in self._running.values():
            task.abandon()
            self._finished(task.name, task.interrupted())
        for task in self._waiting:
            self._finished(task.name, task.interrupted())


def run_all(
    tasks: Iterable[HostTask[R]],
    forks: int,
    watch: Callable[[Rollout[Any]], None],
    grace: float = INTERRUPT_GRACE,
) -> dict[str, R]:
    """Every host's answer by its name; ``watch`` gets the rollout before it starts."""
    answers: dict[str, R] = {}
    rollout = Rollout(tasks, forks, finished=answers.__setitem__, grace=grace)
    watch(rollout)
    rollout.run()
    return answers
