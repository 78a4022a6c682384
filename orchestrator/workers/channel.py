"""Messages between the controller and a worker, and requests of workers (controller).

Each message is a string preceded by its length. A request is answered once for all workers.

The controller sends orders to a worker as JSON. ``begin`` may name any number of hosts::

    ["begin", [[job, host], ...]]    job: the index in the list of jobs of this run; followed by
                                     the data of these hosts for a remote worker
    ["cancel", host], ["abandon", host]
    ["answer", [number, told]]
    ["close"]                        no host is left: report the rest and end

A worker sends its events since the last message, see ``event_sender.py``.
"""

import contextlib
import functools
import queue
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

from orchestrator.support.crash_report import describe_crash
from remote_runtime.errors import CcmError

_HEAD = struct.Struct(">I")
_READ = 1 << 18
MAX_MESSAGE = 64 << 20  # bytes in one message of a worker


class Channel:
    """One end of the channel; any thread may send, and one thread receives.

    A message of more than ``maximum`` bytes is not received: ValueError.
    """

    def __init__(self, end: socket.socket, maximum: int = (1 << 32) - 1) -> None:
        self._maximum = maximum
        self._end = end
        self._sending = threading.Lock()
        self._buffer = bytearray()
        self._readable = select.poll()
        self._readable.register(end, select.POLLIN)

    def send(self, text: str) -> None:
        """Send a complete message; OSError if the other side is gone."""
        self.send_data(text.encode("utf-8"))

    def send_data(self, data: bytes) -> None:
        """Send a complete message of bytes; OSError if the other side is gone."""
        with self._sending:
            self._end.sendall(_HEAD.pack(len(data)) + data)

    def receive(self, timeout: float | None = None) -> str | None:
        """The next message; None after ``timeout`` seconds without one, EOFError at the end."""
        data = self.receive_data(timeout)
        return None if data is None else data.decode("utf-8")

    def receive_data(self, timeout: float | None = None) -> bytes | None:
        """The next message as bytes; None after ``timeout`` seconds without one,
        EOFError at the end.
        """
        while True:
            found = self._take()
            if found is not None:
                return found
            if timeout is not None and not self._readable.poll(timeout * 1000):
                return None
            try:
                data = self._end.recv(_READ)
            except ConnectionError as error:
                raise EOFError from error
            if not data:
                raise EOFError
            self._buffer += data

    def _take(self) -> bytes | None:
        if len(self._buffer) < _HEAD.size:
            return None
        (size,) = _HEAD.unpack_from(self._buffer)
        if size > self._maximum:
            raise ValueError(f"a message of {size:,} bytes is too large (limit {self._maximum:,})")
        end = _HEAD.size + size
        if len(self._buffer) < end:
            return None
        data = bytes(self._buffer[_HEAD.size : end])
        del self._buffer[:end]
        return data

    def shut(self) -> None:
        """Close both directions, including a pending receive on this side."""
        with contextlib.suppress(OSError):
            self._end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close this end; the other side detects this."""
        self._end.close()


Ask = Callable[[Any], Any]


@runtime_checkable
class RpcService(Protocol):
    """A planner, or another object with requests that are answered once per run."""

    def forward_to(self, ask: Ask) -> None:
        """Forward requests to ``ask``, which returns the result of ``answer`` on the controller; it
        may raise CcmError.
        """

    def answer(self, question: Any) -> Any:
        """Return the answer for JSON; CcmError for a request that is not allowed. Thread-safe."""


class RpcClient:
    """The questions of a worker; ``put`` sends each to the controller with a number."""

    def __init__(self, put: Callable[[int, Any], None]) -> None:
        self._put = put
        self._lock = threading.Lock()
        self._last = 0
        self._open: dict[int, queue.SimpleQueue[Any]] = {}

    def forward(self, askers: Iterable[object]) -> None:
        """Redirect the requests of these objects through this one."""
        for place, asker in enumerate(_services(askers)):
            asker.forward_to(functools.partial(self._ask, place))

    def receive(self, number: int, message: Any) -> None:
        """Receive the answer to the question with that number."""
        with self._lock:
            waiting = self._open.pop(number)
        waiting.put(message)

    def _ask(self, place: int, question: Any) -> Any:
        answer: queue.SimpleQueue[Any] = queue.SimpleQueue()
        with self._lock:
            self._last += 1
            number = self._last
            self._open[number] = answer
        self._put(number, [place, question])
        told, defect = answer.get()
        if defect is not None:
            raise CcmError(defect, "defect")
        return told


class RpcServer:
    """Answers such requests on the controller; its objects have the same order."""

    def __init__(self, askers: Iterable[object] = ()) -> None:
        self._askers: Sequence[RpcService] = _services(askers)

    def begin(self, asked: Any, tell: Callable[[Any], None]) -> None:
        """Answer in another thread. LookupError, TypeError or ValueError for an invalid request."""
        place, question = asked
        asker = self._askers[place]
        threading.Thread(
            target=self._answer, args=(asker, question, tell), name="answer", daemon=True
        ).start()

    def _answer(self, asker: RpcService, question: Any, tell: Callable[[Any], None]) -> None:
        try:
            told = [asker.answer(question), None]
        except CcmError as error:  # an invalid question of a worker, which is not trusted
            told = [None, error.message]
        except Exception as error:  # a defect: the worker must not wait for its answer forever
            report = describe_crash(error, "a request from a worker")
            told = [None, f"internal error in ccm, see {report}"]
        tell(told)


def _services(askers: Iterable[object]) -> list[RpcService]:
    return [asker for asker in askers if isinstance(asker, RpcService)]
