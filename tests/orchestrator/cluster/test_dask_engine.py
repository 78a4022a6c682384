"""Who is given which host, with a scheduler that only takes note."""

import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.cluster import dask_engine, frames, worker_info
from orchestrator.cluster.dask_engine import DaskEngine
from orchestrator.cluster.relay import JoinRequest
from orchestrator.cluster.remote_link import RunBundle
from orchestrator.cluster.run_spec import Access, RemoteHost, RunSpec, remote_host
from orchestrator.cluster.scheduler_client import ClusterMember, SchedulerClient
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.package_cache import PackageMetadataCache
from orchestrator.workers.worker_task import RemoteTask
from remote_runtime.options import RunOptions
from tests.orchestrator.cluster.dask_cluster import wait_for


class NotingPost(SchedulerClient):
    """No scheduler: what is told to whom is kept."""

    def __init__(self, *addresses: str) -> None:
        self.there = list(addresses)
        self.others: list[ClusterMember] = []
        self.address = "tls://scheduler.example.net:8786"
        self.gone = ""
        self.looks = 0
        self.alive = {}
        self.orders: list[tuple[str, JoinRequest]] = []
        self.frames: list[tuple[str, bytes]] = []
        self.ordering: Callable[[JoinRequest], Any] = lambda order: None
        self.closed = 0

    def listen(self, deliver: Callable[[str, bytes], None]) -> None:
        """Nobody tells anything."""

    @property
    def is_up(self) -> bool:
        return True

    def members(self) -> list[ClusterMember]:
        self.looks += 1
        sites = frozenset(("paris", "rome"))
        if self.gone:
            raise OSError(self.gone)
        ours = [ClusterMember(one, worker_info.code_version(), sites) for one in self.there]
        return [*ours, *self.others]

    def order(self, member: ClusterMember, order: JoinRequest, over: Callable[[str], None]) -> None:
        self.ordering(order)
        self.orders.append((member.address, order))

    def send(self, hand: str, data: bytes) -> None:
        self.frames.append((hand, data))

    def close(self) -> None:
        self.closed += 1


def _engine(post: NotingPost) -> DaskEngine:
    access = Access(None, None, None, (), None, 2)
    brief = RunSpec("run", "me", RunOptions(), (), access, "/", {}, {}, "hash", "00")
    return DaskEngine(post, RunBundle(brief, b"site"), [])


class Office:
    """An engine and what its hosts come to."""

    def __init__(self, post: NotingPost) -> None:
        self.post = post
        self.results: dict[str, HostResult] = {}
        self.engine = _engine(post)
        self.told: list[Any] = []
        bus = SimpleNamespace(publish=self.told.append)
        means: Any = SimpleNamespace(
            bus=bus, publisher=None, connector=None, package_metadata=PackageMetadataCache()
        )
        self.engine.engage(means)

    def task(self, name: str, site: str | None = None) -> RemoteTask:
        """A host that may begin."""
        record = {"name": name, "connection": "ssh", "groups": [], "vars": {}}
        host: Any = remote_host(record)
        assert isinstance(host, RemoteHost)
        host = SimpleNamespace(**host._asdict(), site=site)
        return RemoteTask(host, 0, self.engine)

    def begin(self, task: RemoteTask) -> RemoteTask:
        """Begin it."""
        task.begin(self.results.__setitem__)
        return task


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    """Two workers; who is there is looked up all the time."""
    monkeypatch.setattr(dask_engine, "_LOOKING", 0.0)
    monkeypatch.setattr(dask_engine, "SHUTDOWN_TIMEOUT", 0.0)
    made = Office(NotingPost("tcp://one", "tcp://two"))
    yield made
    made.engine.close()


def test_a_worker_that_had_nothing_to_do_is_not_taken_for_silent(office: Office) -> None:
    """It says nothing before its first host: that begins late in a wave or a stage."""
    wait_for(lambda: len(office.post.alive) == 2)
    office.post.alive.update(dict.fromkeys(office.post.alive, time.monotonic() - 1000))
    office.begin(office.task("web1"))
    wait_for(lambda: office.post.orders)
    looks = office.post.looks
    wait_for(lambda: office.post.looks > looks + 3)
    assert len(office.post.orders) == 1
    assert [data for _, data in office.post.frames if data == frames.CLOSE] == []


def test_a_host_that_is_cancelled_on_its_way_is_told_so(office: Office) -> None:
    """Whatever is said while the scheduler takes the order reaches the worker after it."""
    task = office.task("web1")
    ordered, go = threading.Event(), threading.Event()

    def ordering(order: JoinRequest) -> None:
        ordered.set()
        go.wait(60)

    office.post.ordering = ordering
    office.begin(task)
    assert ordered.wait(60)
    task.cancel()
    go.set()
    wait_for(lambda: office.post.orders)
    staffed = next(one for one in office.engine._workers.values() if one.takes_part)
    wait_for(lambda: any("cancel" in text for text in staffed.link._waiting))
    words = [text for text in staffed.link._waiting if "web1" in text]
    assert ["cancel" in text for text in words] == [False, True]


def test_a_worker_has_one_task_in_a_run(office: Office) -> None:
    """A task costs the scheduler more than all that is told of its hosts."""

    def more_than(number: int) -> Callable[[], bool]:
        return lambda: len(office.engine._of_task) > number

    for number in range(4):
        office.begin(office.task(f"web{number}", "rome" if number % 2 else None))
        wait_for(more_than(number))
    assert sorted(address for address, _ in office.post.orders) == ["tcp://one", "tcp://two"]


def test_a_defect_loses_the_hosts_and_does_not_wait_for_ever(office: Office) -> None:
    """As what is here may be wrong, too."""
    task = office.task("web1")
    vars(task.host)["vars"] = {"no": object()}  # nothing that JSON has
    office.begin(task)
    wait_for(lambda: office.results)
    assert office.results["web1"].kind == "worker.lost"
    later = office.begin(office.task("web2"))
    wait_for(lambda: later.name in office.results)
    assert "internal error in ccm" in str(office.results["web2"])


def test_it_is_closed_once_engaged_or_not(office: Office) -> None:
    """A run may end before it has a bus, and be closed by all who hold it."""
    never = NotingPost("tcp://one")
    engine = _engine(never)
    for one in (engine, engine, office.engine, office.engine):
        one.close()
    assert (never.closed, office.post.closed) == (1, 1)


def test_a_host_that_waits_for_a_worker_says_so(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then what to start, or that the one which is there is of another version."""
    monkeypatch.setattr(dask_engine, "_TELLING", 0.0)
    monkeypatch.setattr(dask_engine, "JOIN_TIMEOUT", 0.5)
    office.begin(office.task("web1", "oslo"))
    wait_for(lambda: office.results)
    told = [(notice.host, notice.text, notice.waits) for notice in office.told]
    assert told == [("web1", "waiting for a worker of site oslo", True)]
    assert office.results["web1"].kind == "worker.none"
    start = "ccm worker --scheduler scheduler.example.net:8786 --site oslo"
    assert start in str(office.results["web1"])
    office.post.others = [ClusterMember("tls://old\x1b[2J", "0.0.9/abc", frozenset(["oslo"]))]
    time.sleep(0.2)
    office.begin(office.task("web2", "oslo"))
    wait_for(lambda: "web2" in office.results)
    assert "tls://old runs another version of ccm, 0.0.9/abc" in str(office.results["web2"])
    assert start not in str(office.results["web2"])


def test_without_the_scheduler_nobody_says_that_a_worker_has_ended(office: Office) -> None:
    """Neither of a host that is at work nor of one that has yet to begin."""
    office.begin(office.task("web1"))
    wait_for(lambda: office.post.orders)
    office.post.gone = "no answer"
    wait_for(lambda: office.results)
    office.begin(office.task("web2"))
    wait_for(lambda: "web2" in office.results)
    for result in office.results.values():
        assert result.kind == "worker.lost"
        assert "lost the Dask scheduler tls://scheduler.example.net:8786 (no answer)" in str(result)
        assert "start it and its workers again" in str(result)
