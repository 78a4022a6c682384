"""The part of a worker in a run, as a task of the scheduler; starts a remote worker process
(worker).

That process and the controller exchange messages through queues of the scheduler; events serve as
heartbeats.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.cluster import frames
from orchestrator.cluster.dask_api import CONNECT, Client, Queue, get_worker
from orchestrator.support.state_directory import state_directory
from orchestrator.workers.channel import Channel

MAX_CACHED = 8  # sites whose files are cached for the next run, encrypted
_GRACE = 5.0
_clients: dict[str, Any] = {}
_making = threading.Lock()


class JoinRequest(NamedTuple):
    """A request to participate in a ``run`` as the worker that the controller calls ``hand``.

    ``key`` is the controller's public key in hex.
    """

    run: str
    worker: str
    key: str

    def encode(self) -> bytes:
        """The request in the form in which it is sent."""
        return json.dumps(self._asdict()).encode()

    @classmethod
    def decode(cls, data: bytes) -> JoinRequest:
        """The request in a task; TypeError, ValueError."""
        return cls(**json.loads(data))


def work(order: bytes) -> bytes:
    """Participate in a run until the controller closes it or the remote worker process ends."""
    worker = get_worker()
    with _making:
        client = _client(worker)
    Relay(JoinRequest.decode(order), client).wait()
    return b"over"


def _client(worker: Any) -> Any:
    """This process's connection to the scheduler, created once."""
    address = worker.scheduler.address
    found = _clients.get(address)
    if found is None or found.status != "running":
        found = _clients[address] = Client(
            address, security=worker.security, set_as_default=False, timeout=CONNECT
        )
    return found


class Relay:
    """Carries frames between the controller of a run and a remote worker process."""

    def __init__(self, order: JoinRequest, client: Any) -> None:
        self._run, self._worker = order.run, order.worker
        self._client = client
        name = frames.up_queue(order.run)
        self._up = Queue(name, client=client, maxsize=frames.MAX_WAITING)
        self._down = Queue(frames.down_queue(order.run, order.worker), client=client)
        self._over = threading.Event()
        self._last_received = time.monotonic()  # of the controller
        self._beaten = time.monotonic()  # by the remote worker process
        self._directory = _directory()
        ours, theirs = socket.socketpair()
        self._channel = Channel(ours)
        stand = None
        try:
            self._stand = stand = _started(theirs, self._directory)
            start = {"run": order.run, "key": order.key}
            self._channel.send_data(frames.START + json.dumps(start).encode())
        except BaseException:
            self._channel.close()
            if stand is not None:  # it is ending already, or has met something odd
                stand.kill()
                stand.wait()
            shutil.rmtree(self._directory, ignore_errors=True)
            raise
        for part in (self._carry_up, self._carry_down, self._watch):
            threading.Thread(target=part, name=f"relay {self._worker}", daemon=True).start()

    def wait(self) -> None:
        """Wait until the remote worker process has ended."""
        self._over.wait()

    def _carry_up(self) -> None:
        try:
            while data := self._channel.receive_data():
                kind, rest = data[:1], data[1:]
                if kind == frames.BEAT:
                    self._beaten = time.monotonic()
                elif kind != frames.BUNDLE or not self._kept(rest.decode()):
                    self._tell(data)
        except (EOFError, OSError):
            pass
        finally:
            self._end()

    def _kept(self, name: str) -> bool:
        """Send the site with that hash to the remote worker process, if it is cached."""
        path = _sites() / name
        try:
            if not name.isalnum() or not path.is_file():
                return False
            site = path.read_bytes()
            if hashlib.sha256(site).hexdigest() != name:
                return False
            path.touch()
        except OSError:
            return False  # the controller has it, too
        self._channel.send_data(frames.BUNDLE + site)
        return True

    def _carry_down(self) -> None:
        """Receive frames from the controller."""
        pieces: list[bytes] = []
        with contextlib.suppress(Exception):  # any error: the controller is gone
            while (data := self._down.get())[:1] != frames.CLOSE:
                self._last_received = time.monotonic()
                kind, rest = data[:1], data[1:]
                if kind == frames.BUNDLE:
                    self._take(rest, pieces)
                elif kind == frames.SEALED:
                    self._channel.send_data(data)
        self._hang_up()

    def _take(self, piece: bytes, pieces: list[bytes]) -> None:
        """Store a piece of the site. The last piece is empty and comes after the hash."""
        name, _, data = piece.partition(b"\n")
        if data:
            pieces.append(data)
            return
        site = b"".join(pieces)
        pieces.clear()
        _keep(name.decode(), site)
        self._channel.send_data(frames.BUNDLE + site)

    def _watch(self) -> None:
        """Send a heartbeat each second while the remote worker and the controller are alive."""
        with contextlib.suppress(Exception):  # the line to the scheduler is gone
            while (
                not self._over.is_set() and time.monotonic() - self._last_received < frames.SILENCE
            ):
                self._channel.send_data(frames.BEAT)
                if time.monotonic() - self._beaten < frames.SILENCE / 2:
                    self._client.log_event(frames.topic(self._run), {"hand": self._worker})
                time.sleep(frames.HEARTBEAT_INTERVAL)
        self._hang_up()

    def _tell(self, data: bytes) -> None:
        """Send to the controller, which may have a full queue; OSError if it is gone."""
        while True:
            try:
                self._up.put(self._worker.encode() + b"\n" + data, timeout=CONNECT)
                return
            except (TimeoutError, asyncio.TimeoutError) as error:
                if time.monotonic() - self._last_received >= frames.SILENCE:
                    raise OSError("lost the controller") from error

    def _hang_up(self) -> None:
        """End the remote worker process by closing its channel."""
        with contextlib.suppress(OSError):
            self._channel.shut()

    def _end(self) -> None:
        """Handle the end of the remote worker process, or end it."""
        try:
            code = self._stand.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self._stand.kill()
            code = self._stand.wait()
        shutil.rmtree(self._directory, ignore_errors=True)  # a killed process leaves it
        how = f"killed by signal {-code}" if code < 0 else f"exit status {code}"
        with contextlib.suppress(Exception):  # there may be no receiver any more
            self._tell(frames.ENDED + how.encode())
            self._down.put(frames.CLOSE)  # for the thread that waits there
        self._over.set()
        self._channel.close()
        for queue in (self._up, self._down):
            with contextlib.suppress(Exception):  # the run is over; the scheduler may be gone
                queue.close()


def _started(channel: socket.socket, directory: str) -> subprocess.Popen[bytes]:
    """A new remote worker at the other end of this channel, which then only it holds; OSError."""
    with channel:
        words = [str(channel.fileno()), directory]
        return subprocess.Popen(
            [sys.executable, "-m", "orchestrator.cluster.remote_worker", *words],
            pass_fds=[channel.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )


def _directory() -> str:
    """A new directory for a remote worker process, in memory if possible."""
    parent = os.environ.get("XDG_RUNTIME_DIR")
    within = parent if parent and os.access(parent, os.W_OK | os.X_OK) else None
    return tempfile.mkdtemp(prefix="ccm-stand-", dir=within)


def _sites() -> Path:
    return state_directory() / "sites"


def _keep(name: str, site: bytes) -> None:
    """Store a site's sealed files for the next run; the oldest beyond the limit are removed."""
    if not name.isalnum():
        return
    directory = _sites()
    with contextlib.suppress(OSError):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = directory / f"{name}.{threading.get_ident()}.part"
        part.write_bytes(site)
        part.rename(directory / name)
        known = sorted(directory.iterdir(), key=lambda path: path.stat().st_mtime)
        for path in known[:-MAX_CACHED]:
            path.unlink(missing_ok=True)
