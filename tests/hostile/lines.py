"""A line between controller and sshd that goes wrong at any byte of any phase.

It is cut, closed, half closed, stalled, made to trickle, or has a byte changed. The run of that
host ends, within its bounds and in one of its own ways; where the line only trickles it is done.
"""

from __future__ import annotations

import os
import random
import socket
import struct
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.fleet.event_bus import Bus
from orchestrator.fleet.host.host_run import HostRun
from orchestrator.fleet.outcome import DEFECT, OK, HostResult
from orchestrator.image import build
from orchestrator.transport import Connector, Credentials, Settings
from tests.hostile.conversations import KIND
from tests.hostile.figures import Figures
from tests.hostile.recorded import LogicalHost, planner, settings
from tests.orchestrator.transport.sshd import Sshd

TITLE = "Faults of the connection at any byte"
_QUICK = ("cut", "closed", "half closed", "trickles", "changed")
_SITE = "ccm: {resources: [{exec: [{look: {command: 'true'}}]}]}"
_LIMIT = 240.0  # seconds that one host may take at the most, all bounds together
_AT_ONCE = 8


class _Fault(NamedTuple):
    """What happens once so many bytes have passed in a direction: 0 to the server, 1 from it."""

    kind: str
    direction: int
    offset: int


def run(seconds: float, seed: int, now: Callable[[], float] = time.monotonic) -> Figures:
    """Lines with a fault each until the time is up, several side by side."""
    until, draw = now() + seconds, random.Random(seed)
    kinds = (*_QUICK, "stalled") if seconds >= 60 else _QUICK
    counts: Counter[str] = Counter()
    broken: list[str] = []
    with tempfile.TemporaryDirectory(prefix="ccm-lines-") as top, _Place(Path(top)) as place:
        length = place.length()
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            while not counts or now() < until:
                faults = []
                for _ in range(_AT_ONCE):
                    way = draw.randrange(2)
                    faults.append(_Fault(draw.choice(kinds), way, draw.randrange(length[way])))
                for fault, (result, took) in zip(faults, pool.map(place.push, faults)):
                    counts[fault.kind] += 1
                    counts["completed anyway"] += result.outcome == OK
                    trouble = _trouble(fault, result, took)
                    broken += [trouble] if trouble else []
    return Figures({"lines": sum(counts[k] for k in kinds), **dict(sorted(counts.items()))}, broken)


def _trouble(fault: _Fault, result: HostResult, took: float) -> str:
    if took > _LIMIT:
        return f"{fault}: it took {took:.0f} s"
    if result.outcome == DEFECT or (result.kind and not KIND.match(result.kind)):
        return f"{fault}: {result.outcome} {result.kind} {result.message}"
    if fault.kind == "trickles" and result.outcome != OK:
        return f"{fault}: {result.outcome} {result.kind} {result.message}"
    return ""


class _Line:
    """A way to a port with one fault."""

    def __init__(self, port: int, fault: _Fault | None) -> None:
        self._port, self._fault = port, fault
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.passed = [0, 0]
        self._over = threading.Event()
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._over.set()
        self._listener.close()
        for sock in self._sockets:
            sock.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._port))
                self._sockets += [near, far]
                for way, source, sink in ((0, near, far), (1, far, near)):
                    threading.Thread(
                        target=self._carry, args=(way, source, sink), daemon=True
                    ).start()

    def _carry(self, way: int, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                fault, at = self._fault, self.passed[way]
                self.passed[way] += len(data)
                if fault and fault.direction == way and at <= fault.offset < at + len(data):
                    self._fault = None  # the next connection is well
                    if not self._spoil(fault, data, fault.offset - at, sink):
                        return
                else:
                    sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def _spoil(self, fault: _Fault, data: bytes, at: int, sink: socket.socket) -> bool:
        """Whether the line goes on."""
        sink.sendall(data[:at])
        if fault.kind == "changed":
            sink.sendall(bytes([data[at] ^ 0x55]) + data[at + 1 :])
            return True
        if fault.kind == "trickles":
            for byte in data[at : at + 200]:
                sink.sendall(bytes([byte]))
                time.sleep(0.002)
            sink.sendall(data[at + 200 :])
            return True
        if fault.kind == "half closed":
            sink.shutdown(socket.SHUT_WR)
        elif fault.kind == "stalled":
            self._over.wait()
        else:
            for sock in self._sockets:
                if fault.kind == "cut":
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                with suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)
        return False


class _Place:
    """The server, and who connects to it."""

    def __init__(self, top: Path) -> None:
        self._server = Sshd(Path(os.path.realpath(top)) / "sshd", "MaxStartups 500")
        self._planner = planner(top, _SITE)
        self._top = top
        (top / "ssh_config").write_text("")
        config = Settings(ssh_config=(top / "ssh_config",))
        self._connector = Connector(config, Credentials(environ={}), build())
        self._key = self._server.known_hosts.read_text()

    def __enter__(self) -> _Place:
        return self

    def __exit__(self, *_: object) -> None:
        self._connector.close()
        self._server.stop()

    def length(self) -> list[int]:
        """How many bytes pass in each direction where all goes well."""
        line = _Line(self._server.port, None)
        self._over(line)
        line.close()
        return line.passed

    def push(self, fault: _Fault) -> tuple[HostResult, float]:
        """A preview over such a line, and how many seconds it took."""
        line, began = _Line(self._server.port, fault), time.monotonic()
        result = self._over(line)
        line.close()
        return result, time.monotonic() - began

    def _over(self, line: _Line) -> HostResult:
        known = self._top / f"known{line.port}"
        known.write_text(self._key.replace(str(self._server.port), str(line.port)))
        given = self._server.host()
        host = LogicalHost(
            port=line.port,
            user=given.user,
            key_file=given.key_file,
            known_hosts=str(known),
            connection="ssh",
            connect_timeout=20.0,
        )
        chosen: Any = settings(noop=True)
        made = self._planner
        return HostRun(host, self._connector, planner=made, bus=Bus(), settings=chosen).run()
