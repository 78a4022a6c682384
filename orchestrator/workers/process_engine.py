"""The engine that uses several processes of this machine (controller).

Window, scheduler and bus stay in the controller: it decides which host starts, and publishes
events. A worker receives a host when the host may start, and hosts are distributed evenly.
"""

import functools
import threading
import time
from collections.abc import Mapping, Sequence

from orchestrator.fleet.engine import EngineContext, Job, Maker
from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.events import HostNotice
from orchestrator.fleet.host.stage_host import host_itself
from orchestrator.fleet.interfaces import Planner, Target
from orchestrator.fleet.package_cache import PackageMetadataCache
from orchestrator.workers import forked_worker, worker
from orchestrator.workers.channel import Channel, RpcServer
from orchestrator.workers.event_receiver import EventReceiver
from orchestrator.workers.worker_handle import WorkerHandle
from orchestrator.workers.worker_task import RemoteTask, WorkerLostError

SHUTDOWN_TIMEOUT = 10.0  # seconds that workers have to end once no host is left
SILENCE = 30.0  # seconds after which a silent worker is ended, as with other engines
_LOOKING = 1.0  # seconds between two checks for silent workers


class ProcessEngine:
    """A number of workers, started immediately; ``engage`` is called before the first host,
    ``close`` last.

    ``jobs`` are all jobs of the run. At the end, ``planners`` here receive the data of the planners
    in workers. OSError if no process can be started.
    """

    def __init__(
        self,
        count: int,
        jobs: Sequence[Job],
        *,
        hosts: Mapping[str, Target],
        connector: worker.ForkableConnector,
        package_metadata: PackageMetadataCache,
        planners: Sequence[Planner] = (),
    ) -> None:
        self._jobs = list(jobs)
        self._planners = planners
        self._patience = connector.patience
        self._remembering = worker.stateful_planners(planners)
        self._sticky = len(self._jobs) > 1  # the next stage needs the data of a host from this one
        self._of_host: dict[str, WorkerHandle] = {}
        self._of_task: dict[str, WorkerHandle] = {}
        self._workers: list[WorkerHandle] = []
        self._lock = threading.Lock()
        self._package_metadata: PackageMetadataCache | None = None
        self._closing = threading.Event()
        self._bus: Bus
        self._watch = threading.Thread(target=self._watching, name="watching", daemon=True)
        self._warned: set[str] = set()
        serve = functools.partial(
            worker.serve,
            jobs=self._jobs,
            hosts=hosts,
            connector=connector,
            planners=planners,
            package_metadata=package_metadata,
            failed=forked_worker.crash,
        )
        try:
            connector.share()
            for planner in planners:
                if isinstance(planner, worker.SharedPlanner):
                    planner.share()
            channels: list[Channel] = []
            for _ in range(count):
                pid, channel = forked_worker.start(serve, channels)
                channels.append(channel)
                self._workers.append(
                    WorkerHandle(str(pid), forked_worker.Process(pid), channel, self._lose)
                )
        except OSError:
            self.close()
            raise

    def engage(self, context: EngineContext) -> "ProcessEngine":
        """Start receiving and publishing the events of workers."""
        self._package_metadata = context.package_metadata
        self._bus = context.bus
        answers = RpcServer([*self._planners, context.package_metadata])
        for handle in self._workers:
            run_id = self._jobs[0].settings.run_id
            receiver = EventReceiver(run_id)
            handle.listen(receiver, context.bus, context.publisher, answers=answers)
        self._watch.start()
        return self

    def maker(self, job: Job) -> Maker:
        """The factory of the tasks of a job."""
        number = self._jobs.index(job)

        def make(host: Target) -> RemoteTask:
            """The task of a host for this job."""
            return RemoteTask(host, number, self, patience=self._patience(host_itself(host)))

        return make

    def finished(self, task: RemoteTask) -> None:
        """Forget a task that is over."""
        self._of_task.pop(task.name, None)

    def begin(self, task: RemoteTask) -> None:
        """Give the task to the worker with the fewest hosts, or to the previous worker
        of its host.
        """
        name = host_itself(task.host).name
        with self._lock:
            handle = self._of_host.get(name) if self._sticky else None
            if handle is None:
                alive = [one for one in self._workers if one.ended is None]
                handle = min(alive or self._workers, key=lambda one: len(one.running))
            if self._sticky:
                self._of_host[name] = handle
            self._of_task[task.name] = handle
        handle.begin([task])

    def tell(self, task: RemoteTask, word: str) -> None:
        """Send a message to the worker of a running host."""
        handle = self._of_task.get(task.name)
        if handle is not None:
            handle.tell(task, word)

    def close(self) -> None:
        """Stop the workers within a time limit; local planners receive their data."""
        self._closing.set()
        for handle in self._workers:
            handle.close()
        until = time.monotonic() + SHUTDOWN_TIMEOUT
        for handle in self._workers:
            handle.join(until)
            handle.teach(self._remembering)

    def _watching(self) -> None:
        """Detect unresponsive workers, until everything is closed."""
        looked = time.monotonic()
        while not self._closing.wait(_LOOKING):
            now = time.monotonic()
            if now - looked > SILENCE / 3:  # this process itself was stopped
                for handle in self._workers:
                    handle.last_received = now
            looked = now
            for handle in self._workers:
                if handle.ended is None and handle.running:
                    self._look_at(handle, now - handle.last_received)

    def _look_at(self, handle: WorkerHandle, silent: float) -> None:
        if silent > SILENCE:
            handle.give_up(f"no response from process {handle.name} for {SILENCE:.0f} s")
        elif silent > SILENCE / 3 and handle.name not in self._warned:
            self._warned.add(handle.name)
            text = (
                f"no response from its worker process {handle.name} for {SILENCE:.0f} s; "
                "ccm terminates it"
            )
            notices = [HostNotice(name, "warning", text) for name in list(handle.running)]
            self._bus.publish(*notices)

    def _lose(self, tasks: Sequence[RemoteTask], loss: WorkerLostError) -> None:
        for task in tasks:
            if self._package_metadata is not None:
                self._package_metadata.leave(task.name)  # no other host waits for its metadata
            task.lose(loss)
