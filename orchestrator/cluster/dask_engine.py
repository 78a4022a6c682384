"""The engine that uses the workers of a Dask scheduler (controller).

The controller decides which host starts, as with any engine. A worker participates through one
task, which starts with its first hosts. Hosts that may start at the same time go to a worker of
their site as one message, at most ``CHUNK`` hosts; results come back one by one.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from orchestrator.cluster import frames, worker_info
from orchestrator.cluster.relay import JoinRequest
from orchestrator.cluster.remote_link import RemoteLink, RunBundle
from orchestrator.cluster.run_spec import host_record
from orchestrator.cluster.scheduler_client import (
    ClusterMember,
    SchedulerClient,
    SchedulerLostError,
    no_worker,
    worker_description,
)
from orchestrator.fleet import events as run_events
from orchestrator.fleet.engine import EngineContext, Job, Maker, ThreadEngine
from orchestrator.fleet.host.host_task import HostTask
from orchestrator.fleet.host.stage_host import host_itself
from orchestrator.fleet.interfaces import Planner, Target
from orchestrator.fleet.outcome import HostResult
from orchestrator.support.crash_report import describe_crash
from orchestrator.support.plain_text import one_line
from orchestrator.workers.channel import RpcServer
from orchestrator.workers.event_receiver import EventReceiver
from orchestrator.workers.worker import stateful_planners
from orchestrator.workers.worker_handle import WorkerHandle
from orchestrator.workers.worker_task import RemoteTask, WorkerLostError, WorkerProtocolError

CHUNK = 250  # hosts of a message, at most
MAX_LOSSES = 3  # of one worker in a run, whose own process continues
TRIES = 3  # workers that a host is given to, one after the other
JOIN_TIMEOUT = 30.0  # seconds that a host waits for a worker of its site
SHUTDOWN_TIMEOUT = 10.0  # seconds that workers have to end once no host is left
_GATHERING = 0.05  # seconds that a host waits for others of its message
_GATHERING_MORE = 0.25  # while so many are at work that they keep the workers busy
_ENOUGH = 4  # a message is worth it once it has this part of those at work
_TELLING = 5.0  # seconds until the report that a host waits for a worker
_LOOKING = 2.0  # seconds between two looks at who is there
_BEATS = 5.0


class _Waiting(NamedTuple):
    """A host that waits to be started, and since when."""

    task: RemoteTask
    since: float


class _RunWorker:
    """A worker in this run, with the ``name`` that it has in the run."""

    def __init__(
        self, name: str, handle: WorkerHandle, link: RemoteLink, member: ClusterMember
    ) -> None:
        self.name = name
        self.handle = handle
        self.link = link
        self.member = member
        self.takes_part = False
        self.beaten = 0.0
        self.over: float | None = None  # when its task has ended


class DaskEngine:
    """Uses workers as they come and go; ``engage`` is called before the first host, ``close`` last.

    Local hosts run in this process. If a worker is lost, another worker gets its unfinished hosts.
    """

    def __init__(
        self,
        client: SchedulerClient,
        bundle: RunBundle,
        jobs: Sequence[Job],
        planners: Sequence[Planner] = (),
    ) -> None:
        self._client = client
        self._bundle = bundle
        self._jobs = list(jobs)
        self._planners = planners
        self._remembering = stateful_planners(planners)
        self._sticky = len(self._jobs) > 1
        self._workers: dict[str, _RunWorker] = {}
        self._of_task: dict[str, _RunWorker] = {}
        self._of_host: dict[str, _RunWorker] = {}
        self._tries: dict[str, int] = {}
        self._said: dict[str, str] = {}  # of hosts that are on their way to a worker
        self._pending: list[_Waiting] = []
        self._losses: Counter[str] = Counter()  # by the addresses of workers
        self._shunned: set[str] = set()  # workers that hang, or cannot do it
        self._number = 0
        self._gone = ""  # why nothing can be begun any more
        self._without = ""  # why the scheduler is gone
        self._passed_over: list[ClusterMember] = []  # workers with another version of ccm
        self._told: set[str] = set()  # hosts that were reported as waiting for a worker
        self._looked = 0.0
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._tend, name="dask", daemon=True)

    def engage(self, context: EngineContext) -> DaskEngine:
        """Start receiving and publishing the events of workers."""
        self._context = context
        self._answers = RpcServer([*self._planners, context.package_metadata])
        self._here = ThreadEngine(context)
        self._client.listen(self._take)
        self._thread.start()
        return self

    def maker(self, job: Job) -> Maker:
        """The factory of the tasks of a job."""
        number = self._jobs.index(job)
        here, patience = self._here.maker(job), self._context.connector.patience

        def make(host: Target) -> HostTask[HostResult]:
            """A task in this process for a local host, or a remote one."""
            itself: Any = host_itself(host)
            if itself.connection == "local":
                return here(host)
            return RemoteTask(host, number, self, patience=patience(itself))

        return make

    def begin(self, task: RemoteTask) -> None:
        """Give the task to a worker of its site, together with others that may start now."""
        with self._changed:
            self._pending.append(_Waiting(task, time.monotonic()))
            self._changed.notify_all()

    def finished(self, task: RemoteTask) -> None:
        """Forget a task that is over."""
        self._of_task.pop(task.name, None)
        self._tries.pop(task.name, None)
        self._said.pop(task.name, None)

    def tell(self, task: RemoteTask, word: str) -> None:
        """Send a message to the worker of a running host."""
        with self._changed:
            kept = [one for one in self._pending if one.task is not task]
            begun = len(kept) == len(self._pending)
            self._pending = kept
            worker = self._of_task.get(task.name)
            if begun and (worker is None or task.name not in worker.handle.running):
                self._said[task.name] = word
        if not begun:
            task.finish(task.interrupted())
        elif worker is not None:
            worker.handle.tell(task, word)

    def close(self) -> None:
        """Stop the workers within a time limit; local planners receive their data.

        The engine need not have been engaged.
        """
        with self._changed:
            if self._closing:
                return
            self._closing = True
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join()
        everyone = [one for one in self._workers.values() if one.handle.ended is None]
        for one in everyone:
            one.handle.close()
        until = time.monotonic() + SHUTDOWN_TIMEOUT
        for one in everyone:
            one.handle.wait(until)
            one.link.kill()
            one.link.end("the run is over")
            one.handle.teach(self._remembering)
        self._client.close()

    def _take(self, name: str, frame: bytes) -> None:
        worker = self._workers.get(name)
        if worker is not None:
            worker.link.take(frame)

    def _tend(self) -> None:
        """Handle timeouts until the engine is closed."""
        while not self._closing:
            try:
                if not self._gone:
                    self._look()
                if self._is_due():
                    self._assign()
            except Exception as error:  # a defect: no host waits for an ended thread
                report = describe_crash(error, "assigning hosts to workers")
                self._lose_all(f"internal error in ccm, see {report}")
            with self._changed:
                if not self._closing:
                    self._changed.wait(_GATHERING if self._pending else 10 * _GATHERING)
            if self._pending and not self._closing:
                time.sleep(_GATHERING)

    def _is_due(self) -> bool:
        """Whether the waiting hosts have waited long enough for others."""
        if not self._pending or self._gone:
            return True
        since = self._pending[0].since
        at_work = sum(len(one.handle.running) for one in list(self._workers.values()))
        enough = len(self._pending) * _ENOUGH >= at_work
        return enough or time.monotonic() - since >= _GATHERING_MORE

    def _look(self) -> None:
        """Determine which workers have come and gone."""
        now = time.monotonic()
        if now - self._looked < _LOOKING:
            return
        try:
            if not self._client.is_up:
                raise OSError("the connection was lost")
            members = {member.address: member for member in self._client.members()}
        except Exception as error:  # Dask raises errors of many kinds for a lost connection
            self._lose_scheduler(str(error)[:200])
            return
        if now - self._looked > frames.SILENCE / 2:  # this process itself was stopped
            self._client.alive.update(dict.fromkeys(self._client.alive, now))
        self._looked = now
        for name, one in list(self._workers.items()):
            if one.handle.ended is not None:
                continue
            self._look_at(name, one, members)
        at_work = {one.member.address for one in self._workers.values() if one.handle.ended is None}
        ours = worker_info.code_version()
        self._passed_over = [member for member in members.values() if member.code != ours]
        for address in members.keys() - at_work - self._shunned:
            if members[address].code == ours:
                self._hire(members[address])

    def _look_at(self, name: str, one: _RunWorker, members: Mapping[str, ClusterMember]) -> None:
        """Remove a worker that is gone, and send a heartbeat to a live one."""
        now = self._looked
        silent = now - self._client.alive[name] > frames.SILENCE
        if one.member.address not in members:
            one.link.end("the worker left the scheduler")
        elif one.over is not None and now - one.over > _LOOKING:
            one.link.end("the task ended without the results of its hosts")
        elif silent and one.handle.running:
            self._shunned.add(one.member.address)
            one.link.end(f"no response for {frames.SILENCE:.0f} s")
            one.link.kill()
        elif now - one.beaten > _BEATS:
            one.beaten = now
            with contextlib.suppress(OSError):
                self._client.send(name, frames.BEAT)

    def _hire(self, member: ClusterMember) -> None:
        self._number += 1
        name = f"w{self._number}"
        link = RemoteLink(name, self._client, self._bundle)
        worker: list[_RunWorker] = []
        hand = WorkerHandle(member.address, link, link, partial(self._lost, worker))
        worker.append(_RunWorker(name, hand, link, member))
        self._client.alive[name] = time.monotonic()
        self._workers[name] = worker[0]
        receiver = EventReceiver(self._bundle.run_id)
        context = self._context
        hand.listen(receiver, context.bus, context.publisher, answers=self._answers)

    def _assign(self) -> None:
        """Assign the waiting hosts to workers, in chunks."""
        with self._changed:
            pending, self._pending = self._pending, []
        try:
            self._give(pending)
        except BaseException:
            for one in pending:
                one.task.lose(WorkerLostError("internal error in ccm"))
            raise

    def _give(self, pending: Sequence[_Waiting]) -> None:
        chunks: dict[str, list[RemoteTask]] = {}
        waiting: list[_Waiting] = []
        now = time.monotonic()
        for one in pending:
            name = self._choose(one.task, chunks)
            if name is not None:
                chunks.setdefault(name, []).append(one.task)
            elif self._gone:
                self._lose(one.task, WorkerLostError(self._gone))
            elif now - one.since > JOIN_TIMEOUT:
                address = self._client.address
                error = no_worker(one.task.host, JOIN_TIMEOUT, address, self._passed_over)
                one.task.refuse(error)
            else:
                waiting.append(one)
                self._tell_of(one, now)
        with self._changed:
            self._pending = waiting + self._pending
        for name, tasks in chunks.items():
            for at in range(0, len(tasks), CHUNK):
                self._order(name, tasks[at : at + CHUNK])

    def _tell_of(self, one: _Waiting, now: float) -> None:
        """Report that a host waits for a worker, so that it does not seem slow."""
        if now - one.since > _TELLING and one.task.name not in self._told:
            self._told.add(one.task.name)
            text = f"waiting for a {worker_description(one.task.host)}"
            self._context.bus.publish(
                run_events.HostNotice(one.task.name, "info", text, waits=True)
            )

    def _choose(self, task: RemoteTask, chunks: dict[str, list[RemoteTask]]) -> str | None:
        """Return the worker for a host: its earlier one, else the least busy one with its site."""
        itself: Any = host_itself(task.host)
        before = self._of_host.get(itself.name)
        if before is not None and before.handle.ended is None:
            return before.name
        able = [
            one
            for one in self._workers.values()
            if one.handle.ended is None and (itself.site is None or itself.site in one.member.sites)
        ]
        if not able or self._gone:
            return None

        def load(one: _RunWorker) -> int:
            """The number of hosts that the worker already has."""
            return len(one.handle.running) + len(chunks.get(one.name, ()))

        return min(able, key=load).name

    def _order(self, name: str, tasks: Sequence[RemoteTask]) -> None:
        worker = self._workers[name]
        with self._changed:
            for task in tasks:
                self._of_task[task.name] = worker
                if self._sticky:
                    self._of_host[host_itself(task.host).name] = worker
        hosts: dict[str, Any] = {task.name: host_itself(task.host) for task in tasks}
        records = {name: host_record(host) for name, host in hosts.items()}
        if not worker.takes_part:
            worker.takes_part = True
            self._call_in(worker)
        worker.handle.begin(tasks, records)
        for task in tasks:
            with self._changed:
                word = self._said.pop(task.name, None)
            if word is not None:
                worker.handle.tell(task, word)

    def _call_in(self, worker: _RunWorker) -> None:
        """Make a worker participate in the run."""
        order = JoinRequest(self._bundle.run_id, worker.name, worker.link.keys.public.hex())
        self._client.alive[worker.name] = time.monotonic()  # it is silent until its first host

        def over(status: str) -> None:
            """Handle the end of the worker's task."""
            if status != "finished" and not self._client.is_up:
                self._lose_scheduler("the connection was lost")
            elif status != "finished":
                worker.link.end(f"the task is {status}")
            worker.over = time.monotonic()

        try:
            self._client.order(worker.member, order, over)
        except Exception as error:  # Dask raises errors of many kinds for a lost connection
            worker.link.end(f"lost the scheduler: {str(error)[:200]}")

    def _lost(
        self, worker: Sequence[_RunWorker], tasks: Sequence[RemoteTask], loss: WorkerLostError
    ) -> None:
        """Give the hosts of a lost worker to other workers, each host at most twice."""
        address = worker[0].member.address
        self._losses[address] += 1
        if self._losses[address] >= MAX_LOSSES or isinstance(loss, WorkerProtocolError):
            self._shunned.add(address)
        who = one_line(address)  # the address from the scheduler
        for task in tasks:
            self._context.package_metadata.leave(task.name)  # no other host waits for its metadata
            tries = self._tries[task.name] = self._tries.get(task.name, 0) + 1
            if self._gone or self._closing or tries >= TRIES or not task.begin_again():
                self._lose(task, loss.of(who))
                continue
            text = f"lost worker {who} ({loss.how}): another worker takes over its hosts"
            self._told.discard(task.name)
            self._context.bus.publish(
                run_events.HostNotice(task.name, "warning", one_line(text, 600))
            )
            self.begin(task)

    def _lose(self, task: RemoteTask, loss: WorkerLostError) -> None:
        if self._without:
            task.refuse(SchedulerLostError(self._client.address, self._without))
        else:
            task.lose(loss)

    def _lose_scheduler(self, reason: str) -> None:
        self._without = reason
        self._lose_all(f"lost the scheduler: {reason}")

    def _lose_all(self, how: str) -> None:
        self._gone = how
        for one in list(self._workers.values()):
            if one.handle.ended is None:
                one.link.end(how)
