"""A started command on a host, and the link that it becomes once its runtime is
ready (controller).
"""

from __future__ import annotations

import threading
import time
from typing import Protocol

from orchestrator.support.plain_text import plain

STDERR_TAIL = 32 * 1024  # bytes; sudo may repeat our whole command in one message


class Pipe(Protocol):
    """The streams of a command that was started on a host; there is one class for ssh and one for
    local.
    """

    def write(self, data: bytes) -> None:
        """Write every byte; UnreachableError if the pipe broke or was closed in the meantime."""

    def read(self, timeout: float) -> tuple[bytes, bytes]:
        """The received data of standard output and standard error; both empty at the end.

        TimeoutError if nothing arrived within ``timeout`` seconds.
        """

    def exit_status(self) -> int | None:
        """The exit status of the command, None if it is unknown."""

    def close(self) -> None:
        """Release the command; any thread may call this, and it ends a blocked write."""


class Link:
    """The open channel to one host's runtime. See docs/design/package-interfaces.md.

    ``nonce`` and ``runtime`` are the values that the target's ``hello`` must repeat; ``host_key``
    is the fingerprint of the host's key, "" on this machine. ``login_keys`` has the fingerprints of
    the key that was used to log in. One thread reads; any thread may send complete frames.
    """

    host_key = ""
    login_keys: tuple[str, ...] = ()

    def __init__(
        self, pipe: Pipe, nonce: str, *, runtime: str, first: bytes = b"", stderr: bytes = b""
    ) -> None:
        self.nonce = nonce
        self.runtime = runtime
        self._pipe = pipe
        self._first = first
        self._stderr = bytearray(stderr)
        self._sending = threading.Lock()

    def send(self, data: bytes) -> None:
        """Send complete frames; UnreachableError if the link is lost."""
        with self._sending:
            self._pipe.write(data)

    def receive(self, timeout: float) -> bytes:
        """Bytes from the runtime, b"" at the end; TimeoutError after ``timeout`` seconds."""
        if self._first:
            first, self._first = self._first, b""
            return first
        end = time.monotonic() + timeout
        while True:
            out, err = self._pipe.read(max(0.0, end - time.monotonic()))
            keep_tail(self._stderr, err)
            if out or not err:
                return out
            if time.monotonic() >= end:
                raise TimeoutError  # standard error alone is no answer, however much comes

    def stderr_tail(self) -> str:
        """The end of the host's standard error, for messages."""
        return readable(self._stderr)

    def close(self) -> None:
        """Close the link; the runtime detects this and exits."""
        self._pipe.close()


def keep_tail(tail: bytearray, more: bytes) -> None:
    """Append data, and keep only the end."""
    tail += more
    if len(tail) > STDERR_TAIL:
        del tail[:-STDERR_TAIL]


def readable(data: bytes | bytearray) -> str:
    """Text from a host without anything that a terminal would interpret."""
    return plain(bytes(data).decode("utf-8", "replace")).strip()
