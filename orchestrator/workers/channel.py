"""Messages between the controller and a worker, each a string preceded by its length (controller).

The controller sends orders to a worker as JSON. ``begin`` may name any number of hosts::

    ["begin", [[job, host], ...]]    job: the index in the list of jobs of this run; followed by
                                     the data of these hosts for a remote worker
    ["cancel", host], ["abandon", host]
    ["answer", [number, told]]
    ["close"]                        no host is left: report the rest and end

A worker sends its events since the last message, see ``event_sender.py``.
"""

import contextlib
import select
import socket
import struct
import threading

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
        """The next message as bytes; None after ``timeout`` seconds, EOFError at the end."""
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
