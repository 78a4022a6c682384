"""What paramiko reads and writes of an SSH connection: packets on a socket (controller)."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from typing import Any, cast

import paramiko
from paramiko.packet import Packetizer

from orchestrator.support.spare_threads import beside
from orchestrator.transport.ssh_loop import NEVER, Loop

READ_SIZE = 8 << 10  # held by each connection that waits; more once that much has arrived
IDLE_SIZE = 512  # the same of one that has waited in vain
MOST_READ = 64 << 10
LONGEST_GREETING = 64 << 10
LARGEST_PACKET = 256 << 10  # bytes, as OpenSSH has it; paramiko itself allows 4 GiB
MOST_LEFT = 256 << 10  # bytes of answers that a server does not take
MOST_IDLE = 64 << 20  # bytes of a server beyond those of channels, and as many again for these
_SOON = 0.1  # seconds
_STEPS = (1.0, 0.1, 0.01, 0.001)  # seconds


class OversizeError(paramiko.SSHException):
    """The server announces a packet that no server of SSH sends."""


class Packets(Packetizer):
    """The packets of one connection, which are bounded and need no thread for their time.

    Whoever sends to a server that takes nothing waits for as long as the timeout of the socket, or
    as ``be_patient`` says; then that is the end of the connection.
    """

    def __init__(self, sock: Any) -> None:
        self._stream = _Stream(sock)
        self._greeted = 0
        super().__init__(cast(socket.socket, self._stream))  # paramiko asks for no more than it has

    def be_patient(self, seconds: float = NEVER) -> None:
        """A server may take nothing for so long from now on; ``NEVER`` where somebody else notices
        that."""
        self._stream.outlet.patience = seconds

    def read_by(self, loop: Loop | None) -> None:
        """Ask the loop before each wait for the server, None for nobody."""
        self._stream.loop = loop

    def _read_timeout(self, timeout: float) -> bytes:
        """Some of what comes before the first packet, in lines that paramiko does not bound."""
        # the stubs leave it out
        found: bytes = super()._read_timeout(timeout)  # type: ignore[misc]
        self._greeted += len(found)
        if self._greeted > LONGEST_GREETING:
            raise paramiko.SSHException("Indecipherable protocol version: it does not end")
        return found

    def start_handshake(self, timeout: float) -> None:
        """paramiko starts a thread here; ``start_client`` is given a timeout anyway."""

    def read_all(self, n: int, check_rekey: bool = False) -> bytes:
        """The next ``n`` bytes. paramiko believes whatever length a packet tells, before anything
        proves who sent it."""
        if n > LARGEST_PACKET:
            raise OversizeError(f"it announces a packet of {n} bytes")
        return super().read_all(n, check_rekey)

    def carried(self, count: int) -> None:
        """So many bytes of a channel have passed, in either direction."""
        self._stream.carried += count

    def hold(self) -> None:
        """Send nothing until ``let_go``."""
        self._stream.held = self._stream.held or []

    def let_go(self) -> None:
        """Send what was held, in one piece; EOFError."""
        with self._stream.sending:
            held, self._stream.held = self._stream.held, None
            self.write_all(b"".join(held or ()))


class Tunnel:
    """A channel of a jump host, in place of a socket. Nobody waits for its close: that tells the
    jump host so, which may take nothing any more."""

    def __init__(self, channel: paramiko.Channel) -> None:
        self.recv, self.send = channel.recv, channel.send
        self.gettimeout, self.settimeout = channel.gettimeout, channel.settimeout
        self._channel = channel
        self._closed = False  # paramiko asks

    def close(self) -> None:
        """Have it closed; any thread may call it."""
        if not self._closed:
            self._closed = True
            beside(self._tell, "tunnel")

    def _tell(self) -> None:
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            self._channel.close()


class _Stream:
    """A socket that is asked once for all that has arrived; paramiko asks for each packet twice.

    Whenever Python asks, it lets other threads go on and may wait for them afterwards. For the same
    reason the kernel keeps the timeout: Python polls first on a socket that has one.
    """

    def __init__(self, sock: Any) -> None:
        self._sock = sock
        self._arrived = b""
        self._size = READ_SIZE
        self.loop: Loop | None = None
        self.held: list[bytes] | None = None
        self.carried = self._taken = 0
        self.sending = threading.RLock()
        self.close = sock.close
        self._is_socket = isinstance(sock, socket.socket)  # or a channel of a jump host
        self._bound = seconds = sock.gettimeout()
        self.outlet = _Outlet(sock, self._is_socket, NEVER if seconds is None else seconds)
        if self._is_socket and seconds:
            sock.settimeout(None)
            for which in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                sock.setsockopt(socket.SOL_SOCKET, which, _interval(seconds))

    def recv(self, count: int) -> bytes:
        """At most so many bytes; TimeoutError, OSError."""
        if not self._arrived:
            if self.loop is not None:
                left = self.loop.pause()
                self._wait_at_most(_step(left if self._is_clear() else min(left, _SOON)))
            try:
                self._arrived = self._sock.recv(self._size)
            except (BlockingIOError, TimeoutError):  # as the kernel tells a timeout, or a channel
                self._size = IDLE_SIZE
                raise TimeoutError from None
            self._size = MOST_READ if len(self._arrived) == self._size else READ_SIZE
            self._taken += len(self._arrived)
            if self._taken - 2 * self.carried > MOST_IDLE:
                raise paramiko.SSHException("the server goes on and on about nothing")
        found, self._arrived = self._arrived[:count], self._arrived[count:]
        return found

    def _wait_at_most(self, seconds: float) -> None:
        if seconds == self._bound:
            return
        self._bound = seconds
        if self._is_socket:
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _interval(seconds))
        else:
            self._sock.settimeout(seconds)

    def send(self, data: bytes) -> int:
        """How many of the bytes have left, or will; TimeoutError, OSError, EOFError."""
        with self.sending:
            if self.held is not None:
                self.held.append(data)
                return len(data)
            if self.loop is not None and self.loop.is_reading:
                self.outlet.put(data)
                return len(data)
            return self.outlet.send(data)

    def _is_clear(self) -> bool:
        """Whether all that the reader said has left, as far as there is room now."""
        if self.outlet.left and self.sending.acquire(blocking=False):
            try:
                self.outlet.put(b"")
            finally:
                self.sending.release()
        return not self.outlet.left


class _Outlet:
    """What leaves by a socket or a channel, in order; one thread at a time.

    What the reader of a connection says waits for nobody, as nobody would look at the time
    meanwhile: what there is no room for is ``left`` over and goes first later.
    """

    def __init__(self, sock: Any, is_socket: bool, patience: float) -> None:
        self._sock = sock
        self._is_socket = is_socket
        self.patience = patience
        """Seconds that a server may take nothing."""
        self._stuck: float | None = None  # since when
        self.left = b""

    def send(self, data: bytes) -> int:
        """How many of the bytes have left; TimeoutError where none could, EOFError at the end of
        the patience."""
        try:
            while self.left:
                self.left = self.left[self._sock.send(self.left) :]
            sent: int = self._sock.send(data)
        except (TimeoutError, BlockingIOError):
            now = time.monotonic()
            self._stuck = now if self._stuck is None else self._stuck
            if now - self._stuck >= self.patience:
                self._hang_up()
                raise EOFError from None
            raise TimeoutError from None
        self._stuck = None
        return sent

    def _hang_up(self) -> None:
        """Have everybody see the end: nothing fits behind part of a packet, which may have left."""
        if self._is_socket:
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)
        else:
            self._sock.close()

    def put(self, data: bytes) -> None:
        """Send what there is room for, before what is left over as well; EOFError where that is too
        much, OSError."""
        self.left += data
        try:
            while self.left:
                self.left = self.left[self._at_once(self.left) :]
        except (TimeoutError, BlockingIOError):
            if len(self.left) > MOST_LEFT:
                raise EOFError from None

    def _at_once(self, data: bytes) -> int:
        if self._is_socket:
            sent: int = self._sock.send(data, socket.MSG_DONTWAIT)
            return sent
        before = self._sock.gettimeout()
        self._sock.settimeout(0.0)
        try:
            sent = self._sock.send(data)
        finally:
            self._sock.settimeout(before)
        return sent


def _step(seconds: float) -> float:
    """A wait at whose end there is another one, if need be, a tenth longer at the most: few that
    differ, as the kernel is told of each."""
    return next((step for step in _STEPS if step <= 1.1 * seconds), _STEPS[-1])


def _interval(seconds: float) -> bytes:
    """What the kernel takes for a timeout, which is none at 0."""
    return struct.pack("@ll", *divmod(max(1, int(seconds * 1e6)), 1_000_000))
