"""A Dask scheduler and workers on loopback, for ``--engine dask://...`` (Linux)."""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .contestants import OWN

WORD = "dask:"  # so many workers, as ``dask:2``
_PATIENCE = 60.0  # seconds
_SCHEDULER = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]


@contextlib.contextmanager
def engaged(engine: str) -> Iterator[tuple[str, Mapping[str, Sequence[int]]]]:
    """The word for ``--engine``, and the processes that are behind it by their names.

    Of ``dask:N`` these are started, and ended; any other engine is taken as it is. RuntimeError.
    """
    if not engine.startswith(WORD):
        yield engine, {}
        return
    with socket.socket() as probe, tempfile.TemporaryDirectory(prefix="ccm-dask-") as scratch:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
        probe.close()
        started: list[subprocess.Popen[bytes]] = []
        folder = Path(scratch)
        try:
            host, _, port = address.partition(":")
            words = [*_SCHEDULER, "--host", host, "--port", port]
            started.append(_start(words, folder / "scheduler", "Scheduler at"))
            for number in range(int(engine.removeprefix(WORD))):
                words = [str(OWN), "worker", "--scheduler", address]
                started.append(_start(words, folder / f"worker{number}", "works for"))
            pids = [process.pid for process in started]
            yield f"dask://{address}", {"scheduler": pids[:1], "workers": pids[1:]}
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait()


def _start(words: Sequence[str], log: Path, sign: str) -> subprocess.Popen[bytes]:
    """Start a process, and wait for a sign that it is there."""
    environment = {**os.environ, "XDG_STATE_HOME": str(log.parent / "state")}
    with log.open("wb") as out:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment
        )
    until = time.monotonic() + _PATIENCE
    while sign not in (said := log.read_text(errors="replace")):
        if process.poll() is not None or time.monotonic() >= until:
            process.kill()
            raise RuntimeError(f"{words}: {said[-1000:]}")
        time.sleep(0.05)
    return process
