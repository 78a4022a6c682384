"""The connection to the scheduler: workers, messages to them, and lost hosts (controller)."""

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from orchestrator.cluster import frames, worker_info
from orchestrator.cluster.certificates import no_answer
from orchestrator.cluster.dask_api import (
    CONNECT,
    CONNECTING,
    Client,
    Queue,
    configure,
    refuse_pickles,
    set_log_level,
)
from orchestrator.cluster.pickle_guard import MessageTooLargeError
from orchestrator.cluster.relay import JoinRequest, work
from orchestrator.fleet.host.stage_host import host_itself
from orchestrator.fleet.interfaces import Target
from remote_runtime.errors import UnreachableError

PIECE = 4 << 20  # bytes of a site in one message
_PATIENCE = 20.0  # seconds to wait for the scheduler's answer; after that it counts as lost
_SETTINGS = {
    "distributed.client.heartbeat": "5s",
    **CONNECTING,
    "distributed.comm.retry.count": 0,
}


class ClusterMember(NamedTuple):
    """A connected worker: its address, its version of ccm, and its sites."""

    address: str
    code: str
    sites: frozenset[str]


class SchedulerClient:
    """The connection of one run to a scheduler; ``close`` it at the end. UsageError
    without a scheduler.
    """

    def __init__(self, address: str, security: Any, run_id: str) -> None:
        self.address = address
        self._run = run_id
        self._downs: dict[str, Any] = {}
        self._futures: dict[str, Any] = {}
        self._deliver: Callable[[str, bytes], None] = lambda hand, data: None
        self._closing = False
        self._deaf = False
        set_log_level(logging.CRITICAL)
        configure(_SETTINGS)
        refuse_pickles()
        try:
            self._client = Client(
                address,
                security=security,
                set_as_default=False,
                timeout=CONNECT,
                name=f"ccm-{run_id}",
            )
        except (OSError, ValueError, asyncio.TimeoutError) as error:
            raise no_answer("--engine", address, security, error) from error
        name = frames.up_queue(run_id)
        self._up = Queue(name, client=self._client, maxsize=frames.MAX_WAITING)
        self.alive: dict[str, float] = {}
        """When each worker was heard of last, by the clock of ``time.monotonic``."""
        self._client.subscribe_topic(frames.topic(run_id), self._note)
        self._thread = threading.Thread(target=self._receive, name="post", daemon=True)

    def listen(self, deliver: Callable[[str, bytes], None]) -> None:
        """Deliver messages of workers in a separate thread, each with its worker's name."""
        self._deliver = deliver
        self._thread.start()

    @property
    def is_up(self) -> bool:
        """Whether the scheduler is alive and messages from workers arrive."""
        return (
            not self._deaf
            and self._client.status == "running"
            and not self._client.scheduler_comm.comm.closed()
        )

    def members(self) -> list[ClusterMember]:
        """The connected workers of ccm, of any version."""
        identity = self._client.scheduler.identity  # of all workers, in any version of Dask
        told = self._client.sync(identity, callback_timeout=_PATIENCE)["workers"]
        found = ((address, about.get("resources", {})) for address, about in told.items())
        return [
            ClusterMember(address, code, worker_info.sites_of(has))
            for address, has in found
            if (code := worker_info.code_of(has)) is not None
        ]

    def order(self, member: ClusterMember, order: JoinRequest, over: Callable[[str], None]) -> None:
        """Start a worker's task; ``over`` receives its end, from any thread."""
        future = self._client.submit(
            work,
            order.encode(),
            key=f"ccm-{order.run}-{order.worker}",
            workers=[member.address],
            resources=worker_info.needs(member.sites),
            allow_other_workers=False,
            retries=0,
            pure=False,
        )
        self._futures[order.worker] = future

        def done(ended: Any) -> None:
            """Report the final status of the task."""
            self._futures.pop(order.worker, None)
            over(str(ended.status))

        future.add_done_callback(done)

    def send(self, worker: str, data: bytes) -> None:
        """Put a frame into a worker's queue; OSError if the scheduler is gone."""
        queue = self._downs.get(worker)
        if queue is None:
            name = frames.down_queue(self._run, worker)
            queue = self._downs[worker] = Queue(name, client=self._client)
        try:
            queue.put(data, callback_timeout=_PATIENCE)
        except Exception as error:
            raise OSError(f"lost the scheduler: {_reason(error)}") from error

    def send_site(self, worker: str, name: str, site: bytes) -> None:
        """Send the sealed files of a site; OSError."""
        head = frames.BUNDLE + name.encode() + b"\n"
        for at in range(0, len(site), PIECE):
            self.send(worker, head + site[at : at + PIECE])
        self.send(worker, head)

    def close(self) -> None:
        """Disconnect; remaining tasks of the run are released."""
        for future in list(self._futures.values()):
            with contextlib.suppress(Exception):  # the scheduler may be gone
                future.release()
        self._closing = True
        with contextlib.suppress(Exception):  # the scheduler may be gone
            if self.is_up:
                self._up.put(b"")  # for the thread that waits there
                if self._thread.is_alive():
                    self._thread.join(CONNECT)
                for queue in (self._up, *self._downs.values()):
                    queue.close()
        with contextlib.suppress(Exception):  # the scheduler may be gone
            self._client.close(timeout=2)

    def _note(self, event: tuple[float, Any]) -> None:
        worker = event[1].get("hand") if isinstance(event[1], dict) else None
        if isinstance(worker, str) and worker in self.alive:
            self.alive[worker] = time.monotonic()

    def _receive(self) -> None:
        try:
            while not self._closing:
                try:
                    data = self._up.get()
                except MessageTooLargeError:  # its worker is found out by the next one
                    continue
                if isinstance(data, bytes):  # a worker sends nothing else
                    worker, _, frame = data.partition(b"\n")
                    self._deliver(worker.decode("ascii", "replace"), frame)
        except Exception:  # any error: is_up reports the silence
            self._deaf = True


def _reason(error: BaseException) -> str:
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


class NoWorkerError(UnreachableError):
    """No worker was available for a host."""

    default_kind = "worker.none"


class SchedulerLostError(UnreachableError):
    """The scheduler was lost, and with it all reports of hosts."""

    default_kind = "worker.lost"

    def __init__(self, scheduler: str, reason: str) -> None:
        super().__init__(
            f"lost the Dask scheduler {scheduler} ({reason})",
            hint=(
                "start it and its workers again, then push again: completed resources are "
                "not repeated"
            ),
        )


def worker_description(host: Target) -> str:
    """A description of the worker that a host needs."""
    itself: Any = host_itself(host)
    return f"worker of site {itself.site}" if itself.site else "worker"


def no_worker(
    host: Target, seconds: float, scheduler: str, others: Iterable[ClusterMember]
) -> NoWorkerError:
    """The message for a host if there are only workers with another version of ccm (``others``)."""
    itself: Any = host_itself(host)
    what = f"no {worker_description(host)} within {seconds:.0f} s"
    of_site = [one for one in others if itself.site is None or itself.site in one.sites]
    if of_site:
        found = f"{of_site[0].address} runs another version of ccm, {of_site[0].code}"
        hint = f"install {worker_info.code_version()} on it, and restart it"
        return NoWorkerError(f"{what}: {found}", hint=hint)
    command = f"ccm worker --scheduler {scheduler.partition('://')[2]}"
    if itself.site:
        command += f" --site {itself.site}"
    return NoWorkerError(what, hint=f"start one with '{command}', with the same version of ccm")
