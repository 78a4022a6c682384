"""The engine whose hosts are worked on by several processes of this machine (controller).

The window, the course and the bus stay where they are: which host begins is decided here, and what
was told of it is published here. A worker is told to begin with a host when that may begin, and
each has as many at a time as the others.
"""

import contextlib
import functools
import json
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from orchestrator.fleet import events as happening
from orchestrator.fleet.bus import Bus
from orchestrator.fleet.engine import Job, Maker, RunMeans
from orchestrator.fleet.package_lore import PackageLore
from orchestrator.fleet.ports import Publisher, Target
from orchestrator.fleet.stage_host import host_itself
from orchestrator.support.crash import describe_crash
from orchestrator.workers import forking, worker
from orchestrator.workers.channel import Channel
from orchestrator.workers.hearing import Heard, SharedImplied
from orchestrator.workers.remote_task import RemoteTask

ENDING = 10.0  # seconds that workers have to end once no host is left


class Processes:
    """So many workers, started at once; ``engage`` comes before the first host, ``close`` last.

    ``jobs`` are all that is done in the run. What the planners have come to know is told to the
    ``remembering`` ones here at the end. OSError where no process can be started.
    """

    def __init__(
        self,
        count: int,
        jobs: Sequence[Job],
        *,
        hosts: Mapping[str, Target],
        connector: worker.OwnConnector,
        lore: PackageLore,
        remembering: Sequence[worker.Remembering] = (),
    ) -> None:
        self._jobs = list(jobs)
        self._remembering = remembering
        self._sticky = len(self._jobs) > 1  # what a stage knows of a host, the next one needs
        self._of_host: dict[str, _Hand] = {}
        self._of_task: dict[str, _Hand] = {}
        self._hands: list[_Hand] = []
        self._lock = threading.Lock()
        serve = functools.partial(
            worker.serve,
            jobs=self._jobs,
            hosts=hosts,
            connector=connector,
            remembering=remembering,
            lore=lore,
            failed=forking.crash,
        )
        try:
            connector.share()
            for _ in range(count):
                others = [hand.channel for hand in self._hands]
                self._hands.append(_Hand(*forking.start(serve, others)))
        except OSError:
            self.close()
            raise

    def engage(self, means: RunMeans) -> "Processes":
        """Begin to hear what the workers tell, which is published."""
        implications = SharedImplied()
        for hand in self._hands:
            run_id = self._jobs[0].settings.run_id
            hand.listen(Heard(run_id, implications), means.bus, means.publisher)
        return self

    def maker(self, job: Job) -> Maker:
        """The same, as ``Engine`` has it; of one of the jobs."""
        number = self._jobs.index(job)

        def make(host: Target) -> RemoteTask:
            return RemoteTask(host, number, self)

        return make

    def finished(self, task: RemoteTask) -> None:
        """Forget a task that is over."""
        self._of_task.pop(task.name, None)

    def begin(self, task: RemoteTask) -> None:
        """Give it to the worker that has the fewest, or to the one that has had its host."""
        name = host_itself(task.host).name
        with self._lock:
            hand = self._of_host.get(name) if self._sticky else None
            if hand is None:
                alive = [one for one in self._hands if one.ended is None]
                hand = min(alive or self._hands, key=lambda one: len(one.running))
            if self._sticky:
                self._of_host[name] = hand
            self._of_task[task.name] = hand
        hand.begin(task)

    def tell(self, task: RemoteTask, word: str) -> None:
        """Tell the worker of a host that has begun."""
        hand = self._of_task.get(task.name)
        if hand is not None:
            hand.tell(task, word)

    def close(self) -> None:
        """Let the workers end, bounded; the planners here come to know what theirs do."""
        for hand in self._hands:
            hand.close()
        until = time.monotonic() + ENDING
        for hand in self._hands:
            hand.join(until)
            for planner, told in zip(self._remembering, hand.left, strict=False):
                planner.remember(told)


class _Hand:
    """The controller's side of one worker."""

    def __init__(self, pid: int, channel: Channel) -> None:
        self.channel = channel
        self.running: dict[str, RemoteTask] = {}
        self.ended: str | None = None  # how, once it has
        self.left: list[Any] = []
        self._pid = pid
        self._switch = threading.Lock()
        self._thread: threading.Thread | None = None

    def listen(self, heard: Heard, bus: Bus, publisher: Publisher) -> None:
        """Publish what it tells, from a thread of its own."""
        self._thread = threading.Thread(
            target=self._listen,
            args=(heard, bus, publisher),
            name=f"worker {self._pid}",
            daemon=True,
        )
        self._thread.start()

    def begin(self, task: RemoteTask) -> None:
        """Have it begin with a host."""
        with self._switch:
            ended = self.ended
            if ended is None:
                self.running[task.name] = task
        if ended is not None:
            task.lose(ended)
        else:
            self._send("begin", [(task.job, task.name)])

    def tell(self, task: RemoteTask, word: str) -> None:
        """Tell it of a host, unless that is done."""
        if task.name in self.running:
            self._send(word, task.name)

    def close(self) -> None:
        """Ask it to end."""
        self._send("close", None)

    def join(self, until: float) -> None:
        """Wait until it has ended; one that has not at that time is killed."""
        if self._thread is not None:
            self._thread.join(max(0.0, until - time.monotonic()))
            if self._thread.is_alive():
                forking.kill(self._pid)
                self._thread.join()
        else:
            self.channel.close()
            forking.ending(self._pid)

    def _send(self, *message: Any) -> None:
        with contextlib.suppress(OSError):  # its end is met by who listens
            self.channel.send(json.dumps(message))

    def _listen(self, heard: Heard, bus: Bus, publisher: Publisher) -> None:
        try:
            while True:
                text = self.channel.receive() or ""
                if text[0] == "l":
                    self.left = json.loads(text[1:])
                    break
                for line in text.split("\n"):
                    self._take(line, heard=heard, bus=bus, publisher=publisher)
            how = ""
        except (EOFError, OSError):
            how = ""
        except Exception as error:
            forking.kill(self._pid)
            how = f"a defect in ccm, see {describe_crash(error, 'what a worker tells')}"
        how = how or forking.ending(self._pid)
        with self._switch:
            self.ended = how
            lost, self.running = list(self.running.values()), {}
        for task in lost:
            task.lose(how)
        self.channel.close()

    def _take(self, line: str, *, heard: Heard, bus: Bus, publisher: Publisher) -> None:
        if line[0] == "r":
            host, _, properties = line[1:].partition("\t")
            publisher.add(host, json.loads(properties))
            return
        event = heard.event(line)
        if isinstance(event, happening.HostFinished):
            self.running.pop(event.result.host).finish(event.result)
        elif event is not None:
            self.running[event.host].heard(event)
            bus.publish(event)
