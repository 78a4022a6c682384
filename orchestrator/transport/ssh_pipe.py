"""A command on an SSH channel, as a ``Pipe`` (controller; paramiko)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import paramiko

from remote_runtime.errors import UnreachableError

READ_SIZE = 256 * 1024
STATUS_TIMEOUT = 2.0


class SshPipe:
    """The streams of one channel. Nothing is read ahead of ``read`` but what the window allows."""

    def __init__(self, channel: paramiko.Channel, close: Callable[[], None]) -> None:
        self._channel = channel
        self._close = close
        self._arrived = threading.Event()
        channel.settimeout(None)
        channel.in_buffer.set_event(self._arrived)
        channel.in_stderr_buffer.set_event(self._arrived)

    def write(self, data: bytes) -> None:
        """Write every byte; blocks while the window is shut, until ``close``."""
        try:
            self._channel.sendall(data)
        except (OSError, EOFError, paramiko.SSHException) as error:
            raise UnreachableError("the connection was lost", "transport.lost") from error

    def read(self, timeout: float) -> tuple[bytes, bytes]:
        """What arrived on either stream; TimeoutError when nothing did."""
        end = time.monotonic() + timeout
        while True:
            self._arrived.clear()  # before looking, so that nothing is missed
            out, err = self._take()
            if out or err:
                return out, err
            if self._ended():
                return self._take()
            if not self._arrived.wait(max(0.0, end - time.monotonic())):
                raise TimeoutError

    def _take(self) -> tuple[bytes, bytes]:
        channel = self._channel
        try:
            out = channel.recv(READ_SIZE) if channel.recv_ready() else b""
            err = channel.recv_stderr(READ_SIZE) if channel.recv_stderr_ready() else b""
        except TimeoutError:
            return b"", b""
        return out, err

    def _ended(self) -> bool:
        return bool(self._channel.closed or self._channel.eof_received)

    def exit_status(self) -> int | None:
        """How the command ended; None when the server does not say so in a moment."""
        if self._channel.status_event.wait(STATUS_TIMEOUT) and self._channel.exit_status >= 0:
            return self._channel.exit_status
        return None

    def close(self) -> None:
        """Close the channel and the connection below it."""
        self._close()
