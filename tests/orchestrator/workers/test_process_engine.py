"""The engine of worker processes, each scene in a process of its own (``scenes.py``)."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from orchestrator.fleet.checks.unchanged_resources import TextNumbers
from orchestrator.fleet.engine import Job
from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.outcome import HostResult
from orchestrator.fleet.package_cache import PackageMetadataCache
from orchestrator.workers import forked_worker
from orchestrator.workers import worker_handle as hands
from orchestrator.workers.channel import Channel
from orchestrator.workers.event_receiver import EventReceiver
from orchestrator.workers.process_engine import ProcessEngine
from orchestrator.workers.worker_handle import WorkerHandle
from orchestrator.workers.worker_task import RemoteTask, WorkerLostError
from tests.orchestrator.fleet.fakes import (
    SETTINGS,
    FakeHost,
    FakePlanner,
    Recorder,
    file_text,
    make_event,
    unchanged,
)
from tests.orchestrator.workers.scenes import Connectors
from tests.texts import expect_text

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are copies, on Linux only")


def play(scene: str, *, code: int = 0) -> Any:
    """What a scene prints."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.orchestrator.workers.scenes", scene],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
    )
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_both_engines_tell_the_same() -> None:
    """Each host's events and result are the same on threads and on processes, in their order, and
    what planners come to know is known here at the end."""
    processes, threads = play("both_engines")
    assert processes["hosts"] == threads["hosts"]
    assert processes["planned"] == threads["planned"]
    outcomes = {name: told[-1][1]["outcome"] for name, told in threads["hosts"].items()}
    assert (outcomes["well1"], outcomes["mixed1"], outcomes["down"]) == (
        "ok",
        "failed",
        "unreachable",
    )


def test_a_worker_that_is_killed_loses_its_host_and_no_other() -> None:
    """The host in its hands is lost with the reason and with what was told of it; the others are
    well, and wait for no package that it was looking into."""
    found = play("killed")
    assert found["looking"] == {}
    results = found["results"]
    lost = results.pop("hangs")
    assert (lost["outcome"], lost["kind"]) == ("unreachable", "worker.lost")
    expect_text(lost["message"])
    assert (lost["phase"], lost["planned"], lost["tally"]["stable"]) == ("running", 2, 1)
    assert {result["outcome"] for result in results.values()} == {"ok"}
    assert len(results) == 3


def test_a_worker_that_is_stopped_loses_its_host_in_the_end() -> None:
    """One that says nothing is named, then ended; one that only waits for a slow host is not."""
    found = play("stopped")
    results = found["results"]
    lost = results["hangs"]
    assert found["was_stopped"] == 1, "a host that is slow is no reason"
    assert (lost["outcome"], lost["kind"]) == ("unreachable", "worker.lost")
    assert "for 6 s" in lost["message"]
    assert results["well1"]["outcome"] == "ok"
    assert any("no response from its worker process" in text for text in found["told"])


def test_without_a_worker_no_host_is_forgotten() -> None:
    """Hosts whose turn comes when no worker is left are lost, too, each with the reason."""
    results = play("all_killed")
    assert {name: result["kind"] for name, result in results.items()} == dict.fromkeys(
        ("hangs", "next1", "next2"), "worker.lost"
    )


def test_a_run_that_is_interrupted_ends_its_hosts() -> None:
    """A host at work is told, as in threads; one whose turn has not come has none."""
    results = play("interrupted")
    assert {name: result["outcome"] for name, result in results.items()} == dict.fromkeys(
        ("hangs", "next"), "interrupted"
    )
    assert [results[name]["phase"] for name in ("hangs", "next")] == ["running", "waiting"]
    assert results["hangs"]["tally"]["stable"] == 1


def test_a_host_has_the_same_worker_in_each_stage() -> None:
    """What a stage knows of a host that nobody may read, the next one masks."""
    found = play("in_stages")
    assert set(found["outcomes"].values()) == {"ok"}
    assert len(found["outcomes"]) == 12
    assert (found["hands"], found["workers"]) == ([1] * 6, 3)


def test_workers_end_with_their_controller() -> None:
    """A controller that is killed leaves no process behind, not the ones at work either."""
    pids = play("left_alone", code=-9)
    until = time.monotonic() + 300
    while any(_is_alive(pid) for pid in pids):
        assert time.monotonic() < until, pids
        time.sleep(0.05)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_what_cannot_be_started_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the second process is refused, the error is told and the first one is let go."""
    started: list[bool] = []
    ended: list[int] = []

    def start(serve: Any, others: Any) -> Any:
        if started:
            raise OSError(11, "Resource temporarily unavailable")
        started.append(True)
        ours, theirs = socket.socketpair()
        theirs.close()
        return forked_worker.ForkedWorker(os.getpid(), Channel(ours))

    monkeypatch.setattr(forked_worker, "start", start)
    monkeypatch.setattr(forked_worker.Process, "ending", lambda process: ended.append(process.pid))
    package_metadata: Any = None
    jobs = [Job(FakePlanner([]), SETTINGS)]
    with pytest.raises(OSError, match="temporarily"):
        ProcessEngine(2, jobs, hosts={}, connector=Connectors(), package_metadata=package_metadata)
    assert ended == [os.getpid()]


def test_workers_that_do_not_end_are_waited_for_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many stopped processes keep a run no longer than one does."""
    monkeypatch.setattr(forked_worker, "start", lambda serve, others: (0, None))
    monkeypatch.setattr(WorkerHandle, "close", lambda hand: None)
    waited: list[float] = []
    monkeypatch.setattr(WorkerHandle, "join", lambda hand, until: waited.append(until))
    processes = ProcessEngine(
        3,
        [Job(FakePlanner([]), SETTINGS)],
        hosts={},
        connector=Connectors(),
        package_metadata=PackageMetadataCache(),
    )
    processes.close()
    assert len(waited) == 3
    assert len(set(waited)) == 1


class Telling:
    """A worker that tells these lines, and how it lives."""

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)
        self.killed = False

    def send(self, text: str) -> None:
        """It heeds nothing."""

    def receive(self) -> str:
        if not self._lines:
            raise EOFError
        return self._lines.pop(0)

    def close(self) -> None: ...

    def kill(self) -> None:
        self.killed = True

    def ending(self) -> str:
        return "ended"


def test_a_worker_registers_for_its_own_hosts_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What it announces for a host that it was not given is not published, and it is ended."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    there, published, lost = Telling("rweb2\t[{}]"), list[str](), list[str]()
    publisher: Any = SimpleNamespace(add=lambda host, told: published.append(host))
    hand = WorkerHandle("w1", there, there, lambda tasks, loss: lost.append(loss.message))
    hand.listen(EventReceiver("run"), Bus([]), publisher)
    assert hand.wait(time.monotonic() + 300)
    assert (published, there.killed) == ([], True)
    assert lost[0].startswith("protocol error of worker w1: expected registrations of hosts")


def test_a_worker_that_asks_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question takes a thread of the controller until it is answered."""
    monkeypatch.setattr(hands, "_MAX_OPEN", 3)
    there, lost = Telling(*(f"q{number}\t[0,1]" for number in range(9))), list[str]()
    asked: list[Any] = []
    answers: Any = SimpleNamespace(begin=lambda question, tell: asked.append(tell))
    hand = WorkerHandle("w1", there, there, lambda tasks, loss: lost.append(loss.message))
    nobody: Any = None  # registers
    hand.listen(EventReceiver("run"), Bus([]), nobody, answers=answers)
    assert hand.wait(time.monotonic() + 300)
    assert (len(asked), there.killed) == (3, True)
    asked[0]("an answer")
    assert hand._open == 2


@pytest.mark.parametrize("told", ["7", "[7]", "[null]", "{}", '[["x",2],[3]]'])
def test_what_a_worker_leaves_makes_no_difference_where_it_makes_no_sense(told: str) -> None:
    """The other workers are let go as ever."""

    class Strict:
        known: ClassVar[list[Any]] = []

        def remember(self, told: Any) -> None:
            one, other = told
            self.known.append((int(one), other))

    there = Telling("l" + told)
    hand = WorkerHandle("w1", there, there, lambda tasks, how: None)
    nobody: Any = None  # registers
    hand.listen(EventReceiver("run"), Bus([]), nobody)
    assert hand.wait(time.monotonic() + 300)
    hand.teach([Strict(), Strict()])
    assert Strict.known == []


@pytest.mark.parametrize(
    "line",
    [
        "",
        "x",
        "\n" * 9,
        "l7",
        "l{",
        "pweb1\t[]",
        "hweb1\t3",
        "eweb1\t7",
        "eweb1\t{}",
        'dweb1\t[[],"a",1]',
        'tweb1\t["@everyone","a",false]',
        "n[[7],[]]",
        "fweb1\t{}",
        'tweb2\t["info","a",false]',
        "tweb1\t" + "[" * 100_000,
        "q7",
        "z" * (hands.MAX_LINE + 1),
    ],
)
def test_a_worker_that_breaks_the_protocol_is_no_defect_of_ccm(
    line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its hosts are lost with a kind of its own, its name and what was expected; there is no crash
    report, and it is ended."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    there, bus = Telling(line), Bus([])
    end = end_of_host(there, bus)
    assert (end.outcome, end.kind, there.killed) == ("unreachable", "worker.protocol", True)
    assert end.message.startswith("protocol error of worker w1: expected ")
    expect_text(end.hint)
    assert not list(tmp_path.rglob("*crash*"))
    assert not bus.faults


def end_of_host(there: Telling, bus: Bus) -> HostResult:
    """The result of web1, the one host of a worker that tells these lines."""
    ends: list[HostResult] = []

    def lose(tasks: Sequence[RemoteTask], loss: WorkerLostError) -> None:
        for task in tasks:
            task.lose(loss)

    hand = WorkerHandle("w1\x1b[2J", there, there, lose)
    crew: Any = SimpleNamespace(
        begin=lambda task: hand.begin([task]), finished=lambda task: None, tell=hand.tell
    )
    RemoteTask(FakeHost("web1"), 0, crew).begin(lambda name, result: ends.append(result))
    nobody: Any = None  # registers
    hand.listen(EventReceiver("run"), bus, nobody)
    assert hand.wait(time.monotonic() + 300)
    (end,) = ends
    return end


PLANNED = ('n[["file#/a","file#/b"],[],[],[]]', "hweb1\t0")
EVENT = "eweb1\t" + json.dumps(make_event(name="/a"))
UNCHANGED = [
    "i" + file_text("/a"),
    "sweb1\t" + json.dumps(unchanged("web1", "/a").message(TextNumbers())),
]


@pytest.mark.parametrize(
    ("lines", "published"),
    [
        ([*PLANNED, *[EVENT] * 9], 3),
        ([EVENT] * 9, 0),
        ([*PLANNED, EVENT, *UNCHANGED, *UNCHANGED[1:] * 9], 3),
        ([*PLANNED, *PLANNED[1:] * 9], 1),
        ([*PLANNED, EVENT, EVENT, *PLANNED[1:], EVENT], 3),
        (['pweb1\t[["running",1.0]]'] * 1_009, 1_000),
        (['tweb1\t["info","a",false]'] * 2_209, 2_200),
        (['kweb1\t{"files":["/a"]}'] * 9, 2),
    ],
)
def test_a_worker_that_reports_without_end_is_ended(lines: list[str], published: int) -> None:
    """It reports each resource of a host's plan once, and few phases and notices: the controller
    keeps them."""
    there, recorder = Telling(*lines), Recorder()
    end = end_of_host(there, Bus([recorder]))
    assert (end.kind, there.killed) == ("worker.protocol", True)
    assert len(recorder.events) == published
    assert "of its plan" in end.message or "of the same host" in end.message
