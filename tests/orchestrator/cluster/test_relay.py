"""What a worker keeps of a run, whatever ends it; the queues of the scheduler are plain ones."""

import gc
import hashlib
import os
import queue
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cluster import frames, relay
from orchestrator.cluster.relay import JoinRequest, Relay
from orchestrator.cluster.sealing import KeyPair
from orchestrator.workers.channel import Channel


class PlainQueue:
    """As the scheduler has them, each for one side; a full one takes nothing."""

    is_full = False

    def __init__(self, name: str, client: Any, maxsize: int = 0) -> None:
        self._words: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def put(self, data: bytes, timeout: float | None = None) -> None:
        if self.is_full and timeout is not None:
            raise TimeoutError
        assert not self.is_full or data == frames.CLOSE, "it would wait for ever"
        self._words.put(data)

    def get(self) -> bytes:
        return self._words.get()

    def close(self) -> None:
        """Nothing is counted."""


class Scheduler:
    """It hears events, and does nothing about them."""

    def log_event(self, topic: str, told: Any) -> None: ...


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> JoinRequest:
    """A run; the stand's directory is below a scratch directory, the sites that are kept, too."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(relay, "Queue", PlainQueue)
    return JoinRequest("run", "w1", KeyPair().public.hex())


def test_a_stand_that_is_killed_leaves_no_directory(order: JoinRequest, tmp_path: Path) -> None:
    """The site's files were in it, as they are."""
    made = Relay(order, Scheduler())
    assert len(list(tmp_path.glob("ccm-stand-*"))) == 1
    os.kill(made._stand.pid, signal.SIGKILL)
    made.wait()
    assert list(tmp_path.glob("ccm-stand-*")) == []


WAITS = """
import signal, sys, time
from orchestrator.cluster.remote_worker import WorkDirectory, _leave_on_signal

_leave_on_signal(WorkDirectory(sys.argv[1]))
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
print("waits", flush=True)
time.sleep(60)
"""


def test_a_signal_that_the_main_thread_does_not_see(tmp_path: Path) -> None:
    """It ends the process all the same, and the directory goes."""
    directory = tmp_path / "stand"
    directory.mkdir()
    words = [sys.executable, "-c", WAITS, str(directory)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as stand:
        assert stand.stdout is not None
        assert stand.stdout.readline() == b"waits\n"
        stand.terminate()
        assert stand.wait(30) == 128 + signal.SIGTERM
    assert not directory.exists()


def test_a_stand_that_is_ended_with_its_relay_leaves_no_directory(tmp_path: Path) -> None:
    """As a service is whose processes all get the same signal: nobody is left to do it then."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        directory = tmp_path / number.name
        (directory / "site").mkdir(parents=True)
        ours, theirs = socket.socketpair()
        with ours:
            stand = relay._started(theirs, str(directory))
            assert ours.recv(5)  # it beats, and has been told nothing
            stand.send_signal(number)
            assert stand.wait(60) == 128 + number
        assert not directory.exists()


def test_nobody_waits_for_a_controller_that_is_gone(
    order: JoinRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was killed leaves a queue behind, which is full for ever."""
    monkeypatch.setattr(PlainQueue, "is_full", True)
    made = Relay(order, Scheduler())
    made._last_received = time.monotonic() - frames.SILENCE
    made.wait()
    assert made._stand.wait(30) is not None


def test_a_site_that_was_kept_and_spoilt_is_asked_for_again(
    order: JoinRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be refused in each run."""
    made = Relay(order, Scheduler())
    name = hashlib.sha256(b"site").hexdigest()
    relay._keep(name, b"site")
    assert made._kept(name)
    (relay._sites() / name).write_bytes(b"spoilt")
    assert not made._kept(name)
    monkeypatch.setattr(Path, "read_bytes", lambda path: os.read(-1, 1))
    assert not made._kept(name)  # nor one that cannot be read
    monkeypatch.undo()
    made._stand.kill()
    made.wait()


def test_a_stand_that_cannot_be_started_leaves_nothing(
    order: JoinRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A worker is there for many runs, and its descriptors and directories are few."""

    def fail(*words: Any, **more: Any) -> None:
        raise OSError("no process more")

    monkeypatch.setattr(subprocess, "Popen", fail)
    gc.collect()  # what other tests left open is not closed in between
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="no process more") as caught:
        Relay(order, Scheduler())
    assert len(os.listdir("/proc/self/fd")) == before, caught
    assert list(tmp_path.glob("ccm-stand-*")) == []


def test_a_stand_that_cannot_be_told_anything_leaves_nothing(
    order: JoinRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It would wait for its run as long as the worker lives."""
    started: list[subprocess.Popen[bytes]] = []
    start = relay._started

    def noted(*given: Any) -> subprocess.Popen[bytes]:
        started.append(start(*given))
        return started[0]

    def fail(*given: Any) -> None:
        raise OSError("broken pipe")

    monkeypatch.setattr(relay, "_started", noted)
    monkeypatch.setattr(Channel, "send_data", fail)
    with pytest.raises(OSError, match="broken pipe"):
        Relay(order, Scheduler())
    assert started[0].returncode is not None
    assert list(tmp_path.glob("ccm-stand-*")) == []
