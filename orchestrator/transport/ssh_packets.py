"""Packets of an SSH connection on a socket, for paramiko (controller)."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from typing import Any, cast

import paramiko

from orchestrator.support.thread_pool import run_in_background
from orchestrator.transport.ssh_internals import EndlessGreetingError, OpenPacketizer

READ_SIZE = 8 << 10  # of each waiting connection; more once this much has arrived
IDLE_SIZE = 512  # the same after an idle wait
MAX_READ = 64 << 10
MAX_GREETING_LENGTH = 64 << 10
LARGEST_PACKET = 256 << 10  # bytes, as OpenSSH has it; paramiko itself allows 4 GiB
MAX_IDLE = 64 << 20  # bytes of a server beyond those of channels, and as many again for these


class OversizeError(paramiko.SSHException):
    """The server announces a packet larger than any SSH server sends."""


class Packets(OpenPacketizer):
    """The packets of one connection, which are limited in size and need no thread for time limits.

    Sending to a server that reads nothing waits up to the timeout of the socket, or the time set by
    ``be_patient``. After that, the connection ends.
    """

    def __init__(self, sock: Any) -> None:
        self._stream = _Stream(sock)
        self._greeted = 0
        super().__init__(cast(socket.socket, self._stream))  # paramiko asks for no more than it has

    def be_patient(self, seconds: float) -> None:
        """Allow the server to read nothing for this many seconds from now on."""
        self._stream.patience = seconds

    def greeted(self, count: int) -> None:
        """Limit the lines before the first packet, which paramiko does not limit."""
        self._greeted += count
        if self._greeted > MAX_GREETING_LENGTH:
            raise EndlessGreetingError("the text before the SSH greeting does not end")

    def start_handshake(self, timeout: float) -> None:
        """Do nothing: paramiko would start a thread here, but ``start_client`` has a timeout
        anyway.
        """

    def read_all(self, n: int, check_rekey: bool = False) -> bytes:
        """The next ``n`` bytes. paramiko accepts any packet length before the server is
        authenticated."""
        if n > LARGEST_PACKET:
            raise OversizeError(f"a packet of {n} bytes is too large")
        return super().read_all(n, check_rekey)

    def carried(self, count: int) -> None:
        """Count the bytes of a channel that were transferred, in either direction."""
        self._stream.carried += count

    def hold(self) -> None:
        """Send nothing until ``let_go``."""
        self._stream.held = self._stream.held or []

    def let_go(self) -> None:
        """Send the buffered data in one piece; EOFError."""
        with self._stream.sending:
            held, self._stream.held = self._stream.held, None
            self.write_all(b"".join(held or ()))


class Tunnel:
    """A channel of a jump host, used as a socket. Closing does not wait, because the jump host may
    no longer accept data.
    """

    def __init__(self, channel: paramiko.Channel) -> None:
        self.recv, self.send = channel.recv, channel.send
        self.gettimeout, self.settimeout = channel.gettimeout, channel.settimeout
        self._channel = channel
        self._closed = False  # paramiko asks

    def close(self) -> None:
        """Have it closed; any thread may call this."""
        if not self._closed:
            self._closed = True
            run_in_background(self._tell, "tunnel")

    def _tell(self) -> None:
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            self._channel.close()


class _Stream:
    """A socket from which all available data is read at once; paramiko reads each packet in two
    parts.

    Whenever Python makes a system call, it lets other threads run and may wait for them afterwards.
    For the same reason the kernel keeps the timeout: Python polls first on a socket that has one.
    """

    def __init__(self, sock: Any) -> None:
        self._sock = sock
        self._arrived = b""
        self._size = READ_SIZE
        self.held: list[bytes] | None = None
        self.carried = self._taken = 0
        self.sending = threading.RLock()
        self.close = sock.close
        self._is_socket = isinstance(sock, socket.socket)  # or a channel of a jump host
        seconds = sock.gettimeout()
        self.patience = float("inf") if seconds is None else seconds
        """Seconds for which a server may take nothing."""
        self._stuck_since: float | None = None
        if self._is_socket and seconds:
            sock.settimeout(None)
            for which in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                sock.setsockopt(socket.SOL_SOCKET, which, _interval(seconds))

    def recv(self, count: int) -> bytes:
        """At most this many bytes; TimeoutError, OSError."""
        if not self._arrived:
            try:
                self._arrived = self._sock.recv(self._size)
            except (BlockingIOError, TimeoutError):  # how the kernel or a channel reports a timeout
                self._size = IDLE_SIZE
                raise TimeoutError from None
            self._size = MAX_READ if len(self._arrived) == self._size else READ_SIZE
            self._taken += len(self._arrived)
            if self._taken - 2 * self.carried > MAX_IDLE:
                raise paramiko.SSHException("too many packets without content")
        data, self._arrived = self._arrived[:count], self._arrived[count:]
        return data

    def send(self, data: bytes) -> int:
        """The number of bytes that were or will be sent; TimeoutError if none could be, OSError,
        EOFError when the time is up.
        """
        with self.sending:
            if self.held is not None:
                self.held.append(data)
                return len(data)
            try:
                sent: int = self._sock.send(data)
            except (TimeoutError, BlockingIOError):
                now = time.monotonic()
                self._stuck_since = now if self._stuck_since is None else self._stuck_since
                if now - self._stuck_since >= self.patience:
                    self._hang_up()
                    raise EOFError from None
                raise TimeoutError from None
            self._stuck_since = None
            return sent

    def _hang_up(self) -> None:
        """Signal the end to every thread: part of a packet may have been sent, so nothing can
        follow.
        """
        if self._is_socket:
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)
        else:
            self._sock.close()


def _interval(seconds: float) -> bytes:
    """A timeout for the kernel, for which 0 would mean no timeout."""
    return struct.pack("@ll", *divmod(max(1, int(seconds * 1e6)), 1_000_000))
