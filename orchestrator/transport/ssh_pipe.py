"""A command on an SSH channel, as a ``Pipe`` (controller; paramiko)."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import paramiko

from orchestrator.transport.ssh_transport import EagerTransport
from remote_runtime.errors import UnreachableError
from remote_runtime.protocol.wire import SILENCE

READ_SIZE = 256 * 1024
STATUS_TIMEOUT = 2.0


class SshPipe:
    """The streams of one channel. Only as much as the window allows is read ahead of ``read``."""

    def __init__(
        self, session: EagerTransport, channel: paramiko.Channel, close: Callable[[], None]
    ) -> None:
        self._carried = session.packetizer.carried
        session.packetizer.be_patient(SILENCE)
        self._channel = channel
        self._close = close
        self._arrived = threading.Event()
        channel.settimeout(None)
        channel.in_buffer.set_event(self._arrived)
        channel.in_stderr_buffer.set_event(self._arrived)

    def write(self, data: bytes) -> None:
        """Write every byte; blocks while the window is closed, until ``close``."""
        left: Any = memoryview(data)  # paramiko slices it for each packet; its stubs say bytes
        with _connected():
            self._channel.sendall(left)
        self._carried(len(data))

    def read(self, timeout: float) -> tuple[bytes, bytes]:
        """Return the received data of either stream; TimeoutError without data."""
        end = time.monotonic() + timeout
        while True:
            self._arrived.clear()  # before looking, so that nothing is missed
            out, err = self._take()
            if out or err:
                return out, err
            if bool(self._channel.closed or self._channel.eof_received):
                return self._take()
            if not self._arrived.wait(max(0.0, end - time.monotonic())):
                raise TimeoutError

    def _take(self) -> tuple[bytes, bytes]:
        channel = self._channel
        try:
            out = channel.recv(READ_SIZE) if channel.recv_ready() else b""
            err = channel.recv_stderr(READ_SIZE) if channel.recv_stderr_ready() else b""
        except _BROKEN:  # recv reports free space to the server; the next read finds the end
            return b"", b""
        return out, err

    def exit_status(self) -> int | None:
        """The exit status of the command; None if the server does not report it promptly."""
        if self._channel.status_event.wait(STATUS_TIMEOUT) and self._channel.exit_status >= 0:
            return self._channel.exit_status
        return None

    def close(self) -> None:
        """Close the channel, or the connection below it; a lost connection counts as closed."""
        with contextlib.suppress(*_BROKEN):
            self._close()


_BROKEN = (OSError, EOFError, paramiko.SSHException)


@contextlib.contextmanager
def _connected() -> Iterator[None]:
    """UnreachableError if the connection breaks."""
    try:
        yield
    except _BROKEN as error:
        raise UnreachableError("the connection was lost", "transport.lost") from error
