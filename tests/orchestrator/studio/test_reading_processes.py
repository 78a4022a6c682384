"""Runs that are read in processes of their own."""

from __future__ import annotations

import os
import pickle
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.fleet.store.run_directory import runs_directory
from orchestrator.studio.index import process_pool
from orchestrator.studio.index.process_pool import ReadRun, read_all, read_here
from tests.orchestrator.report.runs import Kept


@pytest.fixture(autouse=True)
def several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any run is worth a process, and there are two processors."""
    monkeypatch.setattr(process_pool, "LEAST", 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


def runs(number: int) -> list[Path]:
    for second in range(number):
        run = Kept("web1", "web2", run_id=f"20260921T1336{second:02d}Z-aaaaaa")
        run.event("web1", "/etc/a", "failed", error=["no"])
        run.end()
    return sorted(runs_directory().iterdir())


def by_name(read: Any) -> dict[str, ReadRun]:
    return {one.directory.name: one for one in read}


def test_processes_read_what_is_there() -> None:
    """Each run once, as this process reads it, with the reason for those that cannot be read."""
    directories = runs(7)
    (directories[2] / "hosts.jsonl").write_text("no\n")
    (directories[4] / "run.json").unlink()
    found = by_name(read_all(directories))
    here = by_name(map(read_here, directories))
    assert {name: pickle.dumps(one.found and one.found.hosts) for name, one in found.items()} == {
        name: pickle.dumps(one.found and one.found.hosts) for name, one in here.items()
    }
    assert {name: one.problem for name, one in found.items()} == {
        name: one.problem for name, one in here.items()
    }
    assert sum(bool(one.problem) for one in found.values()) == 2


def test_a_process_that_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process reads the runs for which it has no answer."""
    monkeypatch.setattr(process_pool, "_PROGRAM", "{0}")
    directories = runs(3)
    assert by_name(read_all(directories)).keys() == {path.name for path in directories}


@pytest.mark.parametrize("answer", [b"cno_such_module\nRead\n.", b"cos\nno_such_name\n."])
def test_a_process_of_another_version(monkeypatch: pytest.MonkeyPatch, answer: bytes) -> None:
    """This process reads the runs whose answers it does not understand."""
    program = "import sys; out = sys.stdout.buffer\nfor line in sys.stdin:"
    program += f" out.write({len(answer).to_bytes(8, 'big') + answer!r}); out.flush()  # {{0}}"
    monkeypatch.setattr(process_pool, "_PROGRAM", program)
    directories = runs(3)
    found = by_name(read_all(directories))
    assert [found[path.name].problem for path in directories] == ["", "", ""]


def test_whoever_stops_early_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes end when no more runs are wanted."""
    started: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def noted(*args: Any, **members: Any) -> Any:
        started.append(start(*args, **members))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", noted)
    reading = read_all(runs(12))
    next(iter(reading))
    assert isinstance(reading, Generator)  # which the caller need not know
    reading.close()
    assert len(started) == 2
    assert all(process.poll() is not None for process in started)
