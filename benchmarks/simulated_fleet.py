"""Very many hosts that are none: addresses of this machine, behind a small SSH server.

A few processes accept what is called at any address of 127.0.0.0/8 on one port;
``simulated_host.py`` says what is answered. The client pays for each login, plan and check
what it pays for a real host.
Faults are those of ``simulated_host`` and three that need no server: a port where nobody listens,
one that takes no connection, and one that takes it and says nothing.
"""

import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .replay import Recording
from .simulated_host import address_of, name_of

REFUSES, DOWN, MUTE = "refuses", "is down", "says nothing"
_BACKLOG = 4096
_LOOPBACK = b"lo"


class StandIns:
    """``count`` hosts, some of them with a fault by their number; used as a context.

    ``inventory``, with the key and the known hosts, lies in the directory. ``delay`` is what a slow
    host takes for each thing it says, in seconds.
    """

    def __init__(
        self,
        directory: Path,
        recording: Recording,
        count: int,
        *,
        faults: Mapping[int, str] | None = None,
        delay: float = 1.0,
        processes: int = 2,
    ) -> None:
        self._directory = directory
        self.count = count
        self._faults = dict(faults or {})
        self.faulty = [name_of(number) for number in self._faults]
        self._processes: list[subprocess.Popen[bytes]] = []
        self._open = contextlib.ExitStack()
        self._key = _make_key(directory / "key")
        self._host_key = _make_key(directory / "host_key")
        self._settings = directory / "stand_ins.json"
        self.inventory = directory / "hosts.json"
        self.port = 0
        """Where those listen that need a server."""
        self._wanted = processes
        settings = {
            "recording": recording.record(),
            "user_key": _public(self._key),
            "host_key": str(self._host_key),
            "faults": {name_of(number): fault for number, fault in self._faults.items()},
            "delay": delay,
        }
        self._settings.write_text(json.dumps(settings), encoding="utf-8")

    def __enter__(self) -> "StandIns":
        with contextlib.ExitStack() as opened:
            listener = opened.enter_context(_listening(_BACKLOG))
            opened.callback(self._end)
            ports = {
                "": listener.getsockname()[1],
                REFUSES: opened.enter_context(_bound()).getsockname()[1],
                MUTE: opened.enter_context(_listening(_BACKLOG)).getsockname()[1],
                DOWN: _full(opened),
            }
            for _ in range(self._wanted):
                self._processes.append(self._start(listener))
            self.port = ports[""]
            self._write(ports)
            self._open = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def cpu(self) -> float:
        """Seconds of processor time that the stand-ins have taken so far."""
        return sum(_cpu_of(process.pid) for process in self._processes)

    def _start(self, listener: socket.socket) -> subprocess.Popen[bytes]:
        words = [str(self._settings), str(listener.fileno())]
        return subprocess.Popen(
            [sys.executable, "-m", "benchmarks.simulated_ssh_server", *words],
            pass_fds=[listener.fileno()],
            cwd=Path(__file__).parent.parent,
            stdin=subprocess.DEVNULL,
        )

    def _end(self) -> None:
        for process in self._processes:
            process.send_signal(signal.SIGKILL)
            process.wait()

    def _write(self, ports: Mapping[str, int]) -> None:
        hosts: dict[str, dict[str, Any]] = {}
        lines = []
        key = _public(self._host_key)
        for number in range(self.count):
            address = address_of(number)
            port = ports.get(self._faults.get(number, ""), ports[""])
            hosts[name_of(number)] = {"address": address, "port": port}
            lines.append(f"[{address}]:{port} {key}\n")
        self.inventory.write_text(json.dumps(self._reached(hosts, lines)), "utf-8")

    def elsewhere(self, port: int) -> Path:
        """An inventory with the first of them alone, which is reached by a port of localhost."""
        path = self._directory / f"at_{port}.json"
        line = f"[127.0.0.1]:{port} {_public(self._host_key)}\n"
        hosts = {name_of(0): {"address": "127.0.0.1", "port": port}}
        path.write_text(json.dumps(self._reached(hosts, [line], f"known_{port}")), "utf-8")
        return path

    def _reached(
        self, hosts: dict[str, dict[str, Any]], lines: list[str], name: str = "known_hosts"
    ) -> dict[str, Any]:
        known = self._directory / name
        known.write_text("".join(lines), encoding="utf-8")
        common = {"user": "root", "key_file": str(self._key), "known_hosts": str(known)}
        return {"defaults": common, "hosts": hosts}


def allow_files(wanted: int = 20_000) -> None:
    """Let this process and those that it starts have more files open at a time."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(wanted, hard)), hard))


def _cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _make_key(path: Path) -> Path:
    path.unlink(missing_ok=True)
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "stand-in", "-f", str(path)]
    subprocess.run(command, check=True)
    return path


def _public(path: Path) -> str:
    return " ".join(Path(f"{path}.pub").read_text("utf-8").split()[:2])


def _bound() -> socket.socket:
    """A port of all addresses of the loopback interface, and of no other."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, _LOOPBACK)
    made.bind(("", 0))
    return made


def _listening(backlog: int) -> socket.socket:
    made = _bound()
    made.listen(backlog)
    return made


def _full(opened: contextlib.ExitStack) -> int:
    """A port that answers nobody: what may wait there to be accepted does already."""
    listener = opened.enter_context(_listening(0))
    port: int = listener.getsockname()[1]
    for _ in range(4):
        caller = opened.enter_context(socket.socket())
        caller.setblocking(False)
        caller.connect_ex(("127.0.0.1", port))
    return port


def spread(count: int, faults: Iterable[str], share: float = 0.1) -> dict[int, str]:
    """Every tenth host with one of the faults, in turns."""
    kinds = list(faults)
    step = round(1 / share)
    return {
        number: kinds[turn % len(kinds)] for turn, number in enumerate(range(step - 1, count, step))
    }
