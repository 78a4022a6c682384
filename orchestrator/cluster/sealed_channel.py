"""The encrypted channel of a worker process to its controller, through a relay (worker).

``receive`` and ``send`` are those of a ``Channel``, so a worker uses it like any other.
"""

import json
import queue
import socket
import threading
import time
from collections.abc import Callable

from orchestrator.cluster import frames
from orchestrator.cluster.run_spec import RemoteHost, remote_host
from orchestrator.cluster.sealing import Box
from orchestrator.fleet.host.stage_host import StageHost
from orchestrator.workers.channel import Channel


class SealedChannel(Channel):
    """The records of ``hosts`` are sent before the messages about them.

    ``told`` translates local paths in a string into the controller's paths. Nothing is encrypted
    before the ``box`` exists; after ``listen``, one thread receives for all others.
    """

    def __init__(self, end: socket.socket, told: Callable[[str], str]) -> None:
        super().__init__(end)
        self.hosts: dict[str, RemoteHost | StageHost] = {}
        self.box: Box | None = None
        self.last_received = time.monotonic()
        """When the last message of the relay arrived."""
        self._told = told
        self._sealing = threading.Lock()
        self._words: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._bundles: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def listen(self) -> None:
        """Start receiving in a separate thread."""
        threading.Thread(target=self._listen, name="listening", daemon=True).start()

    def put(self, kind: bytes, data: bytes = b"") -> None:
        """Send a frame; OSError."""
        self.send_data(kind + data)

    def bundle(self) -> bytes:
        """The sealed files of the site, once they have arrived; EOFError."""
        data = self._bundles.get()
        if data is None:
            raise EOFError
        return data

    def send(self, text: str) -> None:
        """Send to the controller."""
        with self._sealing:
            assert self.box is not None
            self.put(frames.SEALED, self.box.seal(self._told(text).encode("utf-8")))

    def receive(self, timeout: float | None = None) -> str | None:
        """The next message of the controller; see ``Channel``."""
        try:
            text = self._words.get(timeout=timeout)
        except queue.Empty:
            return None
        if text is None:
            raise EOFError
        return text

    def _listen(self) -> None:
        try:
            while (data := self.receive_data()) is not None:
                self.last_received = time.monotonic()
                kind, rest = data[:1], data[1:]
                if kind == frames.BUNDLE:
                    self._bundles.put(rest)
                elif kind == frames.SEALED and self.box is not None:
                    self._understand(self.box.open(rest).decode("utf-8"))
        except (EOFError, OSError, ValueError):
            pass  # nothing that could be believed comes any more
        self._words.put(None)
        self._bundles.put(None)

    def _understand(self, text: str) -> None:
        told = json.loads(text)
        if isinstance(told, list) and told[0] == "begin":
            *rest, records = told
            for name, record in records.items():
                host = remote_host(record)
                stage, _, _ = name.rpartition("/")
                self.hosts[name] = StageHost(stage, host) if stage else host
            text = json.dumps(rest)
        self._words.put(text)
