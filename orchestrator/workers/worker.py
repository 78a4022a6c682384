"""A worker: runs the hosts that its controller assigns, until the controller closes the channel or
exits (controller).
"""

import contextlib
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from orchestrator.fleet import events as run_events
from orchestrator.fleet.engine import EngineContext, Job, Maker, ThreadEngine
from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.host.host_task import HostTask
from orchestrator.fleet.interfaces import Connector, Planner, Target
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.package_cache import PackageMetadataCache
from orchestrator.fleet.sliding_window import KEEP_ALIVE_INTERVAL
from orchestrator.workers.channel import Channel, RpcClient
from orchestrator.workers.event_sender import EventSender, last_message
from orchestrator.workers.worker_handle import BEAT

BEATS = 2.0  # seconds between heartbeats of a worker, independent of other messages


class ForkableConnector(Connector, Protocol):
    """A connector that a copy of its process can use."""

    def become_password(self) -> str | None:
        """The password for sudo, for workers that open the links."""

    def share(self) -> None:
        """Share the outcomes with forks of this process."""

    def begin_anew(self) -> None:
        """Stop sharing with the process of which this one is a copy."""

    def close(self) -> None: ...


@runtime_checkable
class SharedPlanner(Protocol):
    """A planner that collects data of all hosts."""

    def share(self) -> None:
        """Share the data with forks of this process. OSError."""


@runtime_checkable
class StatefulPlanner(Protocol):
    """A planner that collects data about all hosts together."""

    def remembered(self) -> Any:
        """Its data, for JSON."""

    def remember(self, message: Any) -> None:
        """Add the data of another planner."""


def stateful_planners(planners: Iterable[Planner]) -> list[StatefulPlanner]:
    """The planners that collect data."""
    return [planner for planner in planners if isinstance(planner, StatefulPlanner)]


class Worker:
    """Runs hosts concurrently, each in a thread, and sends events over the channel.

    ``failed`` receives an internal error of the worker, and does not return. The controller answers
    the questions of ``planners`` and those about packages.
    """

    def __init__(
        self,
        channel: Channel,
        jobs: Sequence[Job],
        *,
        hosts: Mapping[str, Target],
        connector: Connector,
        package_metadata: PackageMetadataCache,
        failed: Callable[[Exception], Any],
        planners: Sequence[Planner] = (),
        dear: bool = False,
    ) -> None:
        self._channel = channel
        self._hosts = hosts
        self._failed = failed
        self._outbox = outbox = EventSender(channel, dear=dear)
        self._bus = Bus([outbox])
        threads = ThreadEngine(EngineContext(connector, self._bus, outbox, package_metadata))
        self._makers: list[Maker] = [threads.maker(job) for job in jobs]
        self._running: dict[str, HostTask[HostResult]] = {}
        self._tended = self._beaten = time.monotonic()
        self._beats = not dear  # where messages are expensive, another process sends heartbeats
        self._questions = RpcClient(outbox.ask)
        self._questions.forward([*planners, package_metadata])

    def serve(self) -> None:
        """Work until the controller reports that no hosts are left; EOFError if it exits."""
        self._outbox.start()
        while True:
            text = self._channel.receive(KEEP_ALIVE_INTERVAL)
            kind, told = json.loads(text) if text else ("", "")
            if kind == "close":
                break
            if kind:
                self._handle(kind, told)
            self._tend()
        self._outbox.close()

    def _handle(self, kind: str, message: Any) -> None:
        if kind == "begin":
            for job, name in message:
                task = self._running[name] = self._makers[job](self._hosts[name])
                task.begin(self._over)
            return
        if kind == "answer":
            self._questions.receive(*message)
            return
        task_of = self._running.get(message)  # it may have ended in the meantime
        if task_of is not None and kind == "cancel":
            task_of.cancel()
        elif task_of is not None:
            task_of.abandon()

    def _over(self, name: str, result: HostResult) -> None:
        del self._running[name]
        # Another thread may be about to deliver earlier events of the host.
        self._bus.publish(run_events.HostFinished(result))
        self._require_told()

    def _require_told(self) -> None:
        if self._bus.faults:
            self._failed(self._bus.faults[0])

    def _tend(self) -> None:
        now = time.monotonic()
        if now - self._tended < KEEP_ALIVE_INTERVAL:
            return
        self._tended = now
        if self._beats and now - self._beaten >= BEATS:
            self._beaten = now
            self._channel.send(BEAT)
        self._require_told()  # the host whose thread met it may be at work for hours yet
        for task in tuple(self._running.values()):
            task.tend(now)


def serve(
    channel: Channel,
    jobs: Sequence[Job],
    *,
    hosts: Mapping[str, Target],
    connector: ForkableConnector,
    planners: Sequence[Planner] = (),
    package_metadata: PackageMetadataCache,
    failed: Callable[[Exception], Any],
    dear: bool = False,
) -> None:
    """Be a worker until the controller closes the channel or is gone; messages may be expensive
    (``dear``).
    """
    connector.begin_anew()
    worker = Worker(
        channel,
        jobs,
        hosts=hosts,
        connector=connector,
        package_metadata=package_metadata,
        failed=failed,
        planners=planners,
        dear=dear,
    )
    with contextlib.suppress(EOFError, OSError):
        worker.serve()
        channel.send(
            last_message([planner.remembered() for planner in stateful_planners(planners)])
        )
        connector.close()
