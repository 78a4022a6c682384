"""The sliding window: so many hosts at a time, one thread each (controller)."""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Protocol, TypeVar

INTERRUPT_GRACE = 8.0
TICK = 0.2
TEND = 1.0

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Run(Protocol[R_co]):
    """What the window drives: ``run`` in a thread of its own, the rest from others."""

    name: str

    def run(self) -> R_co: ...

    def cancel(self) -> None: ...

    def abandon(self) -> None: ...

    def tend(self, now: float) -> None: ...

    def interrupted_result(self) -> R_co: ...


class Rollout(Generic[R]):
    """Runs hosts through a window of ``forks``; as one ends the next begins.

    ``interrupt`` may be called from a signal handler: running hosts are cancelled, the others never
    start. ``tick`` is called several times a second in the thread that called ``run``.
    """

    def __init__(
        self,
        runs: Iterable[Run[R]],
        forks: int,
        finished: Callable[[R], None],
        tick: Callable[[], None] = lambda: None,
        grace: float = INTERRUPT_GRACE,
    ) -> None:
        self._waiting: Iterator[Run[R]] = iter(runs)
        self._forks = forks
        self._finished = finished
        self._tick = tick
        self._grace = grace
        self._running: dict[str, Run[R]] = {}
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
            run = next(self._waiting, None)
            if run is None:
                break
            self._running[run.name] = run
            threading.Thread(
                target=self._carry, args=(run,), name=f"host {run.name}", daemon=True
            ).start()
            started = True
        return started

    def _carry(self, run: Run[R]) -> None:
        self._done.put((run.name, run.run()))

    def _collect(self) -> None:
        """Take what has finished, or wait one tick for it."""
        try:
            name, result = self._done.get(timeout=TICK)
        except queue.Empty:
            pass
        else:
            self._running.pop(name)
            self._finished(result)
        self._tick()
        now = time.monotonic()
        if now - self._tended >= TEND:
            self._tended = now
            for run in self._running.values():
                run.tend(now)

    def _wind_down(self) -> None:
        end = time.monotonic() + self._grace
        for run in self._running.values():
            run.cancel()
        while self._running and time.monotonic() < end:
            self._collect()
        for run in self._running.values():
            run.abandon()
            self._finished(run.interrupted_result())
        for run in self._waiting:
            self._finished(run.interrupted_result())
