"""Chooses the engine that runs the hosts of a push: threads, processes or Dask (controller)."""

import contextlib
import os
import re
from typing import TYPE_CHECKING, NamedTuple, Protocol

from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from orchestrator.fleet.engine import Engine, EngineContext, Job
    from orchestrator.fleet.interfaces import Planner, Target
    from orchestrator.workers.worker import ForkableConnector

    Engage = Callable[[EngineContext], Engine]

AUTO, THREADS, PROCESSES, DASK = "auto", "threads", "processes", "dask"
MIN_HOSTS = 200  # hosts for which processes are chosen by themselves
MAX_PROCESSES = 8  # processes that are started where no number is given
_CHOICE = r"(auto|threads|processes(?::([1-9]\d{0,2}))?)"
_DASK = "dask://"


class EngineChoice(NamedTuple):
    """The name of an engine, and the number of ``processes``.

    None: one per core, at most ``MAX_PROCESSES``. ``scheduler`` is the address of the Dask
    scheduler, as HOST:PORT.
    """

    word: str = AUTO
    processes: int | None = None
    scheduler: str = ""

    @property
    def text(self) -> str:
        """The word as given; "" for the default."""
        if self.word == AUTO:
            return ""
        if self.word == DASK:
            return _DASK + self.scheduler
        return self.word if self.processes is None else f"{self.word}:{self.processes}"


class Workers(Protocol):
    """The inputs of an engine before the run has a bus."""

    def engage(self, context: "EngineContext") -> "Engine":
        """The engine."""

    def close(self) -> None:
        """Close the engine, whether or not it is in use; may be called repeatedly."""


class RemoteEngineSource(Protocol):
    """The part of a push that workers on other machines need."""

    def engine(self, scheduler: str, spec: "EngineSpec") -> Workers:
        """The workers of a Dask scheduler that has responded. UsageError."""


class EngineSpec(NamedTuple):
    """The work for an engine: the hosts of a run, how many in parallel, and the jobs.

    ``planners`` are those of the manifests; the planner of a job may wrap one. ``remote`` is the
    input of workers on other machines.
    """

    hosts: "Sequence[Target]"
    connector: "ForkableConnector"
    forks: int
    jobs: "Sequence[Job]"
    planners: "Sequence[Planner]" = ()
    remote: RemoteEngineSource | None = None


def parse_engine(text: str, where: str = "--engine") -> EngineChoice:
    """The choice for a word; errors name ``where`` the word comes from. UsageError."""
    if text.startswith(_DASK):
        from orchestrator.cluster.certificates import scheduler_address

        return EngineChoice(DASK, scheduler=scheduler_address(where, text, _DASK))
    if text == AUTO:
        return EngineChoice()
    match = re.fullmatch(_CHOICE, text)
    if match is None:
        raise UsageError(
            f"{where} {text[:40]!r} is not an engine",
            hint="use auto, threads, processes, processes:N with a number from 1 to 999, or "
            "dask://HOST:PORT",
        )
    word, number = match[1].partition(":")[0], match[2]
    return EngineChoice(word, int(number) if number else None)


@contextlib.contextmanager
def start_engine(choice: EngineChoice, spec: EngineSpec) -> "Iterator[Engage]":
    """Create the engine once there is a bus; processes are started immediately. UsageError."""
    workers = _of_dask(choice, spec) if choice.word == DASK else _started(choice, spec)
    if workers is None:
        from orchestrator.fleet.engine import ThreadEngine

        yield ThreadEngine
        return
    try:
        yield workers.engage
    finally:
        workers.close()


def _of_dask(choice: EngineChoice, spec: EngineSpec) -> Workers:
    if spec.remote is None:
        raise UsageError(
            f"--engine {choice.text} is not supported by this command", hint="use --engine threads"
        )
    return spec.remote.engine(choice.scheduler, spec)


def _started(choice: EngineChoice, spec: EngineSpec) -> Workers | None:
    """The worker processes; None for threads. UsageError."""
    count = _processes(choice, spec)
    if not count:
        return None
    from orchestrator.fleet.package_cache import PackageMetadataCache
    from orchestrator.support.state_directory import state_directory
    from orchestrator.workers.process_engine import ProcessEngine

    try:
        return ProcessEngine(
            count,
            spec.jobs,
            hosts={host.name: host for host in spec.hosts},
            connector=spec.connector,
            package_metadata=PackageMetadataCache(state_directory() / "packages"),
            planners=spec.planners,
        )
    except OSError as error:
        if choice.word == AUTO:
            return None  # processes were not requested
        raise UsageError(
            f"--engine: cannot start a process: {error.strerror}",
            hint="use --engine threads, or fewer processes",
        ) from error


def _processes(choice: EngineChoice, spec: EngineSpec) -> int:
    """The number of processes, 0 for threads; UsageError."""
    if choice.word == THREADS:
        return 0
    number = choice.processes or min(_cores(), MAX_PROCESSES)
    number = min(number, len(spec.hosts), spec.forks)
    if choice.word == AUTO and (number < 2 or len(spec.hosts) < MIN_HOSTS):
        return 0
    from orchestrator.workers import forked_worker

    if forked_worker.is_possible():
        return number
    if choice.word == AUTO:
        return 0
    raise UsageError(
        f"--engine {choice.text}: this system cannot start worker processes",
        hint="use --engine threads",
    )


def _cores() -> int:
    """The number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        return os.cpu_count() or 1
