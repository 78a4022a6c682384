"""Fake hosts on worker processes: ``python -m tests.orchestrator.workers.scenes NAME``.

Each scene has a process of its own, which has one thread when it starts its workers, and prints
what came of it as JSON.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from orchestrator.fleet import events as run_events
from orchestrator.fleet.engine import Engine, EngineContext, Job, ThreadEngine
from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.host.stage_host import StageHost
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.package_cache import PackageMetadataCache
from orchestrator.fleet.sliding_window import Window
from orchestrator.registration.publisher import Publisher
from orchestrator.registration.store import open_store
from orchestrator.workers import process_engine as processes_module
from orchestrator.workers.process_engine import ProcessEngine
from remote_runtime.errors import UnreachableError
from remote_runtime.reporting.events import EventIds
from tests.orchestrator.fleet.fakes import (
    SETTINGS,
    FakeConnector,
    FakeHost,
    FakePlan,
    FakePlanner,
    FarEnd,
    Recorder,
    make_event,
)

NAMES = ["/etc/a", "/etc/b"]
LONG = 600.0


class Connectors(FakeConnector):
    """Fake links that a copy of this process opens; some hosts are down."""

    def become_password(self) -> str | None:
        """Nobody needs one for sudo."""
        return None

    def share(self) -> None:
        """There are no passwords."""

    def begin_anew(self) -> None:
        """Nothing is shared."""

    def close(self) -> None:
        """Nothing is held."""

    def open(self, host: Any, on_phase: Any, until: Any = None) -> Any:
        if host.name == "down":
            raise UnreachableError("nobody is at home")
        return super().open(host, on_phase, until)


class Remembering(FakePlanner):
    """Counts the hosts that it has planned."""

    def __init__(self) -> None:
        super().__init__(NAMES)
        self.hosts: list[str] = []

    def plan(self, host: Any, gathered: Any) -> FakePlan:
        self.hosts.append(host.name)
        return super().plan(host, gathered)

    def remembered(self) -> list[str]:
        return self.hosts

    def remember(self, told: list[str]) -> None:
        self.hosts += told


def mixed(far: FarEnd) -> None:
    """One resource fails with a word for people, the other is as desired."""
    far.greet()
    far.await_message("plan")
    ids = EventIds()
    far.say("notice", level="warning", text="mind the gap")
    far.say("progress", index=0, action="writing")
    event = make_event(name=NAMES[0], event_id=ids.next(), status="failed", error=["no"])
    far.say("event", seq=1, event=event)
    told = {"noop": False, "prediction": "", "rows": [[1, 5, "posix"]]}
    far.say("stable", seq=2, id=ids.advance(), at=int(time.time() * 1e6), **told)
    far.say("done", events=2, cancelled=False)


def hanging(far: FarEnd) -> None:
    """It has told of one resource, and then no more until it is told to end."""
    far.greet()
    far.await_message("plan")
    far.say("event", seq=1, event=make_event(name=NAMES[0], event_id=EventIds().next()))
    far.await_message("cancel")
    far.say("done", events=1, cancelled=True)


def shown(event: run_events.Event) -> list[Any]:
    """An event without times and ids, and with a result's record as it is kept; phases one by one,
    as they may be told together."""
    if isinstance(event, run_events.HostFinished):
        record = event.result.record()
        record["phases"] = [phase for phase, _ in record["phases"]]
        return [["end", {**record, "seconds": 0}]]
    if isinstance(event, run_events.HostPhase):
        return [["phase", event.host, phase] for phase, _ in event.entered]
    if isinstance(event, run_events.ResourceProgress):
        return [["progress", *event[:3]]]
    told = list(run_events.transaction_events(event))
    if told:
        without = ("event_id", "timestamp")
        return [[{k: v for k, v in e.items() if k not in without} for e, _ in told]]
    return [[type(event).__name__, *event]]


class Run:
    """A run over fake hosts; ``watch`` is called between two looks at what has ended."""

    def __init__(self, hosts: list[Any], connector: Connectors, jobs: list[Job]) -> None:
        self.hosts, self.connector, self.jobs = hosts, connector, jobs
        self.recorder = Recorder()
        self.results: dict[str, HostResult] = {}
        self.package_metadata = PackageMetadataCache()

    def means(self) -> EngineContext:
        publisher = Publisher(lambda: open_store(None))
        return EngineContext(self.connector, Bus([self.recorder]), publisher, self.package_metadata)

    def processes(self, count: int) -> ProcessEngine:
        return ProcessEngine(
            count,
            self.jobs,
            hosts={host.name: host for host in self.hosts},
            connector=self.connector,
            package_metadata=PackageMetadataCache(),
            planners=[job.planner for job in self.jobs],
        )

    def carry_out(
        self,
        engine: Engine,
        *,
        job_of: Callable[[Any], int] = lambda host: 0,
        watch: Callable[[Window[Any]], None] = lambda window: None,
        forks: int = 4,
    ) -> None:
        tasks = (engine.maker(self.jobs[job_of(host)])(host) for host in self.hosts)
        window = Window(
            tasks,
            forks,
            finished=self._finished,
            tick=lambda: watch(window),
            grace=LONG,
        )
        window.run()
        engine.close()

    def _finished(self, name: str, result: HostResult) -> None:
        self.results[name] = result
        self.recorder.handle(run_events.HostFinished(result))

    def by_host(self) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for event in self.recorder.events:
            told: Any = event.result if isinstance(event, run_events.HostFinished) else event
            found.setdefault(told.host, []).extend(shown(event))
        return found


def both_engines() -> Any:
    """The same hosts on threads and on two processes."""
    hosts = [FakeHost(name) for name in ("well1", "mixed1", "down", "well2", "mixed2", "well3")]
    scripts = {host.name: mixed for host in hosts if host.name.startswith("mixed")}
    told = []
    for count in (2, 0):  # the threads last: then this process is not alone any more
        planner = Remembering()
        run = Run(hosts, Connectors(scripts=scripts), [Job(planner, SETTINGS)])
        engine: Engine = (
            run.processes(count).engage(run.means()) if count else ThreadEngine(run.means())
        )
        run.carry_out(engine)
        told.append({"hosts": run.by_host(), "planned": sorted(planner.hosts)})
    return told


def killed() -> Any:
    """A worker is killed that has a host in its hands, another one waits for its turn; the host
    that is lost was looking into a package."""
    hosts = [FakeHost(name) for name in ("hangs", "well1", "well2", "well3")]
    run = Run(hosts, Connectors(scripts={"hangs": hanging}), [Job(Remembering(), SETTINGS)])
    run.package_metadata.ask(["a" * 64], "hangs")
    processes = run.processes(2)
    engine = processes.engage(run.means())

    def watch(window: Window[Any]) -> None:
        hand = next((one for one in processes._workers if "hangs" in one.running), None)
        if hand and len(run.results) == 3 and run.recorder.of(run_events.ResourceEvent):
            received = [e for e in run.recorder.of(run_events.ResourceEvent) if e.host == "hangs"]
            if received:
                os.kill(int(hand.name), signal.SIGKILL)

    run.carry_out(engine, watch=watch)
    results = {name: result.record() for name, result in run.results.items()}
    return {"results": results, "looking": run.package_metadata._at_it}


def stopped() -> Any:
    """A worker is stopped that has a host in its hands, and never goes on; the other host is well
    and at work for longer than a worker may be silent."""
    vars(processes_module).update(SILENCE=6.0, _LOOKING=0.2)
    hosts = [FakeHost(name) for name in ("hangs", "well1")]
    run = Run(hosts, Connectors(scripts={"hangs": hanging}), [Job(Remembering(), SETTINGS)])
    processes = run.processes(2)
    engine = processes.engage(run.means())
    stopped_at: list[float] = []
    began = time.monotonic()

    def watch(window: Window[Any]) -> None:
        hand = next((one for one in processes._workers if "hangs" in one.running), None)
        quiet = 3 * 6.0  # it is at work and says nothing but that it is there
        if hand and time.monotonic() - began > quiet and not stopped_at:
            stopped_at.append(time.monotonic())
            os.kill(int(hand.name), signal.SIGSTOP)

    run.carry_out(engine, watch=watch)
    return {
        "results": {name: result.record() for name, result in run.results.items()},
        "told": [told.text for told in run.recorder.of(run_events.HostNotice)],
        "was_stopped": len(stopped_at),
    }


def all_killed() -> Any:
    """No worker is left when the other hosts' turns come."""
    hosts = [FakeHost(name) for name in ("hangs", "next1", "next2")]
    run = Run(hosts, Connectors(scripts={"hangs": hanging}), [Job(Remembering(), SETTINGS)])
    processes = run.processes(1)
    engine = processes.engage(run.means())

    def watch(window: Window[Any]) -> None:
        if run.recorder.of(run_events.ResourceEvent) and not run.results:
            os.kill(int(processes._workers[0].name), signal.SIGKILL)

    run.carry_out(engine, watch=watch, forks=1)
    return {name: result.record() for name, result in run.results.items()}


def interrupted() -> Any:
    """The user ends the run: a host at work is told so, one that waits has no turn."""
    hosts = [FakeHost("hangs"), FakeHost("next")]
    run = Run(hosts, Connectors(scripts={"hangs": hanging}), [Job(Remembering(), SETTINGS)])
    engine = run.processes(1).engage(run.means())

    def watch(window: Window[Any]) -> None:
        if run.recorder.of(run_events.ResourceEvent):
            window.interrupt()

    run.carry_out(engine, watch=watch, forks=1)
    return {name: result.record() for name, result in run.results.items()}


def in_stages() -> Any:
    """A host has the same worker in each stage, whoever has more to do."""
    names = [f"h{number}" for number in range(6)]
    hosts = [StageHost(stage, FakeHost(name)) for stage in ("one", "two") for name in names]
    jobs = [Job(Remembering(), SETTINGS), Job(Remembering(), SETTINGS)]
    run = Run(hosts, Connectors(), jobs)
    processes = run.processes(3)
    engine = processes.engage(run.means())
    hands: dict[str, set[int]] = {}
    begin = processes.begin

    def noted(task: Any) -> None:
        begin(task)
        found = processes._of_host[task.host.host.name]
        hands.setdefault(task.host.host.name, set()).add(int(found.name))

    processes.begin = noted  # type: ignore[method-assign]  # replaced in this object only
    run.carry_out(engine, job_of=lambda host: host.stage == "two")
    return {
        "outcomes": {name: result.outcome for name, result in run.results.items()},
        "hands": [len(found) for found in hands.values()],
        "workers": len(set.union(*hands.values())),
    }


def left_alone() -> Any:
    """This process ends without a word to its workers, of which one has a host."""
    run = Run(
        [FakeHost("hangs")],
        Connectors(scripts={"hangs": hanging}),
        [Job(Remembering(), SETTINGS)],
    )
    processes = run.processes(2)
    engine = processes.engage(run.means())

    def watch(window: Window[Any]) -> None:
        if run.recorder.of(run_events.ResourceEvent):
            print(json.dumps([int(hand.name) for hand in processes._workers]), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    run.carry_out(engine, watch=watch)


def threaded() -> Any:
    """A process with a second thread is no process to copy; without it, it is again."""
    from orchestrator.workers import forked_worker

    go = threading.Event()
    thread = threading.Thread(target=go.wait)
    thread.start()
    before = forked_worker.is_possible(0.05)
    go.set()
    return [before, forked_worker.is_possible(60)]


def signals() -> Any:
    """What is sent to all of a terminal's processes ends no worker, and what a worker starts heeds
    it as ever."""
    import subprocess

    from orchestrator.workers import forked_worker

    def serve(channel: Any) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(os.getpid(), number)
        child = "import signal as s; print(*(s.getsignal(n) == s.SIG_IGN for n in (1, 2, 15)))"
        done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True)
        channel.send(done.stdout.strip())

    started = forked_worker.start(serve, [])
    return [started.channel.receive(), forked_worker.Process(started.pid).ending()]


def passwords() -> Any:
    """Copies of this process try passwords one after the other, as their parent tells them."""
    from orchestrator.transport.password import Password
    from orchestrator.workers import forked_worker

    def shared(patience: float) -> Password:
        made = Password("the password", "transport.auth", lambda: "x", patience)
        made.share()
        return made

    wrong, right, stuck = shared(LONG), shared(LONG), shared(0.2)

    def serve(channel: Any) -> None:
        number = channel.receive()
        try:
            wrong.attempt(f"h{number}").end(accepted=False)
            channel.send("tried")
        except UnreachableError as error:
            channel.send(error.message)
        trial = right.attempt(f"h{number}")
        channel.send("proving")
        channel.receive()
        trial.end(accepted=True)
        if number == "0":
            stuck.attempt("h0")
            os.kill(os.getpid(), signal.SIGKILL)
        stuck.attempt(f"h{number}").end(accepted=True)
        channel.send("done")

    workers: list[Any] = []
    for _ in range(3):
        workers.append(forked_worker.start(serve, [one.channel for one in workers]))
    channels = [worker.channel for worker in workers]
    first = []
    for number, channel in enumerate(channels):
        channel.send(str(number))
        first.append(channel.receive())
    prover = None
    while prover is None:
        prover = next((channel for channel in channels if channel.receive(0.05)), None)
    others = [channel for channel in channels if channel is not prover]
    meanwhile = [channel.receive(0.3) for channel in others]
    prover.send("it is right")
    then = [channel.receive(300) for channel in others]
    for channel in others:
        channel.send("it is right")
    ends = [
        forked_worker.Process(workers[0].pid).ending(),
        *(channel.receive(300) for channel in channels[1:]),
    ]
    return {"first": first, "meanwhile": meanwhile, "then": then, "ends": ends}


def counted() -> Any:
    """Copies of this process, and threads in it, add to one number."""
    from concurrent.futures import ThreadPoolExecutor

    from orchestrator.support.shared_count import SharedCounter
    from orchestrator.workers import forked_worker

    shared = SharedCounter()

    def add(_: object) -> int:
        return [shared.add(3) for _ in range(50)][-1]

    def serve(channel: Any) -> None:
        with ThreadPoolExecutor(4) as threads:
            channel.send(str(max(threads.map(add, range(4)))))

    started = [forked_worker.start(serve, []) for _ in range(3)]
    seen = [int(one.channel.receive() or "") for one in started]
    ends = [forked_worker.Process(one.pid).ending() for one in started]
    return {"largest": max(seen), "sum": shared.add(0), "ends": ends}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]]()))
