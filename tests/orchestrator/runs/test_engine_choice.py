"""Which engine works on the hosts of a push."""

import contextlib
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.cli import engine_option
from orchestrator.cli.parser import Parser
from orchestrator.fleet.engine import Job, ThreadEngine
from orchestrator.runs import engine_choice
from orchestrator.runs.engine_choice import (
    MIN_HOSTS,
    EngineChoice,
    EngineSpec,
    parse_engine,
    start_engine,
)
from orchestrator.workers import forked_worker, process_engine
from remote_runtime.errors import UsageError
from tests.orchestrator.fleet.fakes import SETTINGS, FakeHost, FakePlanner
from tests.texts import expect_text


class Started:
    """Takes the place of processes; ``close`` is noted."""

    all: list["Started"] = []

    def __init__(self, count: int, jobs: Any, **others: Any) -> None:
        self.count, self.closed = count, False
        self.hosts = others["hosts"]
        self.all.append(self)

    def engage(self, means: Any) -> "Started":
        return self

    def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def system(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of four cores that can start processes."""
    monkeypatch.setattr(engine_choice, "_cores", lambda: 4)
    monkeypatch.setattr(forked_worker, "is_possible", lambda: True)
    monkeypatch.setattr(process_engine, "ProcessEngine", Started)
    Started.all = []


def chosen(text: str, hosts: int = 1000, forks: int = 50) -> int:
    """How many processes a word comes to; 0 for threads."""
    Started.all.clear()
    connector: Any = None
    fleet = [FakeHost(f"h{number}") for number in range(hosts)]
    jobs = [Job(FakePlanner([]), SETTINGS)]
    spec = EngineSpec(hosts=fleet, connector=connector, forks=forks, jobs=jobs)
    with start_engine(parse_engine(text), spec) as engage:
        if engage is ThreadEngine:
            assert not Started.all
            return 0
        assert not Started.all[-1].closed
    assert Started.all[-1].closed
    assert list(Started.all[-1].hosts) == [host.name for host in fleet]
    return Started.all[-1].count


def test_the_word_and_the_number_are_read_and_said() -> None:
    """What was given is said again as it was, but for what is chosen without a word."""
    words = ("threads", "processes", "processes:16")
    assert tuple(parse_engine(word).text for word in words) == words
    assert parse_engine("auto") == EngineChoice()
    assert parse_engine("auto").text == ""


@pytest.mark.parametrize(
    "text", ["", "dask", "processes:0", "processes:", "processes:x", "processes:1000", "threads:2"]
)
def test_what_is_no_engine_is_refused(text: str) -> None:
    """The error has the words that there are."""
    with pytest.raises(UsageError, match="is not an engine") as caught:
        parse_engine(text)
    assert "processes:N" in caught.value.hint


def test_processes_by_themselves_are_for_many_hosts() -> None:
    """A few hosts have threads, many a process for each core."""
    assert chosen("auto", MIN_HOSTS - 1) == 0
    assert chosen("auto", MIN_HOSTS) == 4


def test_one_core_has_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where processes would wait for each other there are none, unless they are asked for."""
    monkeypatch.setattr(engine_choice, "_cores", lambda: 1)
    assert chosen("auto") == 0
    assert chosen("processes:2") == 2


def test_a_machine_of_many_cores_is_not_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are no more than one controller keeps busy, unless they are asked for."""
    monkeypatch.setattr(engine_choice, "_cores", lambda: 64)
    assert chosen("auto") == engine_choice.MAX_PROCESSES
    parser = Parser()
    engine_option.add_engine(parser)
    assert f"at most {engine_choice.MAX_PROCESSES}" in " ".join(parser.format_help().split())
    assert chosen("processes:20") == 20


def test_no_process_is_idle() -> None:
    """There are no more than hosts, or hosts at a time."""
    assert chosen("processes:4", hosts=3) == 3
    assert chosen("processes:4", forks=2) == 2
    assert chosen("auto", forks=1) == 0


def test_threads_are_threads() -> None:
    """However many hosts there are."""
    assert chosen("threads") == 0


def test_workers_elsewhere_are_let_go_as_processes_are() -> None:
    """Whatever becomes of the run, which may not have come to its first host."""
    far: Any = SimpleNamespace(engine=lambda scheduler, spec: Started(0, [], hosts={}))
    connector: Any = None
    spec = EngineSpec(hosts=[], connector=connector, forks=1, jobs=[], remote=far)
    with contextlib.suppress(OSError), start_engine(parse_engine("dask://s:1"), spec):
        assert not Started.all[-1].closed
        raise OSError("the disk is full")
    assert Started.all[-1].closed


def test_where_no_copy_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """By themselves threads are taken; who asks for processes is told."""
    monkeypatch.setattr(forked_worker, "is_possible", lambda: False)
    assert chosen("auto") == 0
    with pytest.raises(UsageError) as refused:
        chosen("processes:2")
    expect_text(refused.value)


def test_processes_that_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's word is told to who asks for them, with what to do; else threads are taken."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(process_engine, "ProcessEngine", refuse)
    with pytest.raises(UsageError) as caught:
        chosen("processes:2")
    expect_text(caught.value)
    assert "--engine threads" in caught.value.hint
    assert chosen("auto") == 0
