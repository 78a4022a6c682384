"""A real scheduler and real workers on loopback."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
_PATIENCE = 120.0  # seconds
_SCHEDULER = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
_SCHEDULER += ["--dashboard-address", "127.0.0.1:0"]
_CCM = [sys.executable, "-m", "orchestrator.cli.app"]


def wait_for(what: Callable[[], object], why: Callable[[], str] = str) -> None:
    """Until something is so."""
    until = time.monotonic() + _PATIENCE
    while not what():
        assert time.monotonic() < until, why()
        time.sleep(0.05)


def listening(pid: int) -> list[str]:
    """The addresses at which a process listens, loopback's in words."""
    known = {"0100007F": "127.0.0.1", 24 * "0" + "01000000": "::1"}
    sockets = [os.readlink(name) for name in Path(f"/proc/{pid}/fd").iterdir()]
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:
                address = words[1].partition(":")[0]
                found.append(known.get(address, address))
    return found


class DaskCluster:
    """Ends all that it has started; ``tls`` is a directory of certificates, ``environ`` is added to
    the environment, ``words`` are more options of the scheduler."""

    def __init__(
        self,
        directory: Path,
        tls: Path | None = None,
        host: str = "127.0.0.1",
        *,
        environ: Mapping[str, str] | None = None,
        words: Sequence[str] = (),
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._tls = tls
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "XDG_STATE_HOME": str(directory / "state"),
            **(environ or {}),
        }
        self.workers: list[subprocess.Popen[bytes]] = []
        with socket.socket() as probe:
            probe.bind((host, 0))
            port = str(probe.getsockname()[1])
        self.address = f"{host}:{port}"
        place = ["--host", f"{'tls' if tls else 'tcp'}://{host}", "--port", port]
        if tls:
            place += [
                "--tls-ca-file",
                str(tls / "ca.pem"),
                "--tls-cert",
                str(tls / "scheduler.pem"),
            ]
            place += ["--tls-key", str(tls / "scheduler-key.pem")]
        self._words = [*_SCHEDULER, *place, *words]
        self.scheduler = self._schedule()

    @property
    def engine(self) -> str:
        """What ``--engine`` is given."""
        return f"dask://{self.address}"

    def hire(
        self, *words: str, fails: bool = False, program: Sequence[str] = _CCM
    ) -> subprocess.Popen[bytes]:
        """Start a worker, which is there when this returns."""
        name = f"worker{len(self.workers)}"
        command = [*program, "worker", "--scheduler", self.address, *words]
        if self._tls and "--tls" not in words:
            command += ["--tls", str(self._tls)]
        process = self._start(command, name)
        self.workers.append(process)
        if not fails:
            self._await(name, process, "connected to")
        return process

    def begin_anew(self) -> None:
        """Kill the scheduler, and start another one at its port."""
        self.scheduler.kill()
        self.scheduler.wait()
        self.scheduler = self._schedule()

    def said(self, name: str) -> str:
        """What a process has written."""
        return (self._directory / f"{name}.log").read_text(errors="replace")

    def close(self) -> None:
        """End the workers, then the scheduler."""
        for process in (*self.workers, self.scheduler):
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

    def _schedule(self) -> subprocess.Popen[bytes]:
        scheduler = self._start(self._words, "scheduler")
        self._await("scheduler", scheduler, "Scheduler at")
        return scheduler

    def _await(self, name: str, process: subprocess.Popen[bytes], sign: str) -> None:
        """Until a process has said that it is there; AssertionError for one that has ended."""
        wait_for(lambda: sign in self.said(name) or process.poll() is not None)
        assert sign in self.said(name), self.said(name)

    def _start(self, command: list[str], name: str) -> subprocess.Popen[bytes]:
        with (self._directory / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self.environment,
            )
