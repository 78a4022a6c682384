"""How ``ccm worker`` ends while its scheduler says nothing; see ``test_dask.py`` for the rest."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from orchestrator.cluster import dask_worker

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are for Linux")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_worker_ends_at_once_while_it_waits_for_its_scheduler(number: signal.Signals) -> None:
    """With Ctrl-C, as a service, and with its terminal; as one does that has reached it."""
    assert _ended_by(number) == (0, "")


def test_nohup_is_heeded() -> None:
    """A worker in the background outlasts the terminal that it was started in."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # which a process inherits
    try:
        code, said = _ended_by(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert (code, "no Dask scheduler responds" in said) == (2, True)


def _ended_by(number: signal.Signals) -> tuple[int, str]:
    """How a worker ends that gets this signal, and what it says."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        mute.settimeout(120)
        address = f"127.0.0.1:{mute.getsockname()[1]}"
        process = subprocess.Popen(
            [sys.executable, "-m", "orchestrator.cli.app", "worker", "--scheduler", address],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        with mute.accept()[0]:
            process.send_signal(number)
            said, _ = process.communicate(timeout=300)
    return process.returncode, said


def test_the_directory_of_a_killed_worker_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not that of one at work, nor one that has just been made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("killed", "at-work", "new"):
        (tmp_path / f"ccm-worker.{name}").mkdir()
        (tmp_path / f"ccm-worker.{name}/file").touch()
    for name in ("killed", "at-work"):
        os.utime(tmp_path / f"ccm-worker.{name}", (1, 1))
    with dask_worker._locked(str(tmp_path / "ccm-worker.at-work")):
        dask_worker._remove_directories_of_killed()
    assert {path.name for path in tmp_path.iterdir()} == {"ccm-worker.at-work", "ccm-worker.new"}
