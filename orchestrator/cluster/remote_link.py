"""The controller's end of the connection to a worker through the scheduler (controller)."""

import contextlib
import json
import queue
import threading

from orchestrator.cluster import frames
from orchestrator.cluster.run_spec import RunSpec
from orchestrator.cluster.scheduler_client import SchedulerClient
from orchestrator.cluster.sealing import Box, KeyPair, SealError
from orchestrator.support.plain_text import one_line

MAX_INBOX = 64 << 20  # characters in the queue; after that, the sender waits


class RunBundle:
    """The data for every worker of a run: the run spec, and the sealed files of the site."""

    def __init__(self, spec: RunSpec, site: bytes) -> None:
        self.run_id = spec.run_id
        self.bundle = spec.bundle
        self.site = site
        self.spec = json.dumps(spec.record()).encode()


class RemoteLink:
    """Like a ``Channel`` to the remote process of a worker, with its state.

    Messages sent before the worker's greeting are queued until it arrives.
    """

    def __init__(self, worker: str, client: SchedulerClient, bundle: RunBundle) -> None:
        self.keys = KeyPair()
        self._worker = worker
        self._client = client
        self._bundle = bundle
        self._box: Box | None = None
        self._waiting: list[str] = []
        self._sending = threading.Lock()
        self._inbox: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._unread = 0
        self._capacity = threading.Condition()
        self._how = ""

    def send(self, text: str) -> None:
        """Send to the worker; OSError if the scheduler is gone."""
        with self._sending:
            if self._box is None:
                self._waiting.append(text)
            else:
                self._client.send(
                    self._worker, frames.SEALED + self._box.seal(text.encode("utf-8"))
                )

    def receive(self) -> str:
        """Receive from the worker; EOFError after its end."""
        text = self._inbox.get()
        if text is None:
            raise EOFError
        with self._capacity:
            self._unread -= len(text)
            self._capacity.notify_all()
        return text

    def take(self, frame: bytes) -> None:
        """Process a frame of the worker."""
        if self._how:
            return  # it has ended, and nobody reads any more
        kind, data = frame[:1], frame[1:]
        try:
            if kind == frames.HELLO:
                self._greet(data)
            elif kind == frames.BUNDLE:
                self._client.send_site(self._worker, self._bundle.bundle, self._bundle.site)
            elif kind == frames.ENDED:
                self.end(f"its process has ended, {data[:100].decode('ascii', 'replace')}")
            elif kind == frames.SEALED and self._box is not None:
                self._take(self._box.open(data).decode("utf-8"))
            else:
                raise SealError("an unexpected frame")
        except OSError as error:
            self.end(str(error))
        except (ValueError, RecursionError) as error:
            self.end(f"its data was corrupted: {error}")
            self.kill()

    def _take(self, text: str) -> None:
        if text.startswith("!"):  # why it ends, before any other report of its end
            self.end(str(json.loads(text[1:])))
            return
        with self._capacity:
            while self._unread > MAX_INBOX and not self._how:
                self._capacity.wait()
            self._unread += len(text)
        self._inbox.put(text)

    def end(self, how: str) -> None:
        """End the link; only the first reason is stored."""
        with self._capacity:
            self._how = self._how or one_line(how)
            self._capacity.notify_all()
        self._inbox.put(None)

    def close(self) -> None:
        """Stop reading."""
        self.end("ended")

    def kill(self) -> None:
        """Make the worker end its process."""
        with contextlib.suppress(OSError):
            self._client.send(self._worker, frames.CLOSE)

    def ending(self) -> str:
        """Why the link ended."""
        return self._how or "ended"

    def _greet(self, public: bytes) -> None:
        with self._sending:
            if self._box is not None:
                raise SealError("a second greeting")
            box = self.keys.box(public, self._bundle.run_id, leads=True)
            self._client.send(self._worker, frames.SEALED + box.seal(self._bundle.spec))
            for text in self._waiting:
                self._client.send(self._worker, frames.SEALED + box.seal(text.encode("utf-8")))
            self._waiting.clear()
            self._box = box
