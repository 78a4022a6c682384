"""A command on an SSH channel, as a ``Pipe`` (controller; paramiko)."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

import paramiko

from orchestrator.transport.ssh_loop import NEVER
from orchestrator.transport.ssh_transport import EagerTransport, UnthreadedTransport
from remote_runtime.errors import UnreachableError

READ_SIZE = 256 * 1024
AT_ONCE = 64 * 1024  # of which a packet takes what it may
STATUS_TIMEOUT = 2.0


def pipe_of(
    session: EagerTransport, channel: paramiko.Channel, close: Callable[[], None]
) -> SshPipe:
    """The streams of a channel of that session."""
    if isinstance(session, UnthreadedTransport):
        return UnthreadedPipe(session, channel, close)
    return SshPipe(session, channel, close)


class SshPipe:
    """The streams of one channel. Nothing is read ahead of ``read`` but what the window allows."""

    def __init__(
        self, session: EagerTransport, channel: paramiko.Channel, close: Callable[[], None]
    ) -> None:
        self._carried = session.packetizer.carried
        session.packetizer.be_patient()  # whoever converses does not wait for ever
        self._channel = channel
        self._close = close
        self._arrived = session.answer()
        channel.settimeout(None)
        channel.in_buffer.set_event(self._arrived)
        channel.in_stderr_buffer.set_event(self._arrived)

    def write(self, data: bytes) -> None:
        """Write every byte; blocks while the window is shut, until ``close``."""
        with _connected():
            self._channel.sendall(data)
        self._carried(len(data))

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
        """Close the channel, or the connection below it; one that is gone already is closed."""
        with contextlib.suppress(*_BROKEN):
            self._close()


class UnthreadedPipe(SshPipe):
    """The streams of a channel that one thread reads. Any may write."""

    def __init__(
        self, session: UnthreadedTransport, channel: paramiko.Channel, close: Callable[[], None]
    ) -> None:
        super().__init__(session, channel, close)
        self._loop = session.loop
        self._sending = threading.Lock()
        self._unsent = b""
        channel.status_event = session.answer()
        channel.settimeout(0.0)  # the thread that waits for room has to read meanwhile

    def write(self, data: bytes) -> None:
        """As of any pipe. What another thread than the reading one has no room for leaves as soon
        as there is some."""
        with self._sending, _connected():
            self._unsent += data
            self._push()
            while self._unsent and self._loop.is_own:
                self._loop.go_on(self._has_room, NEVER)
                self._push()

    def read(self, timeout: float) -> tuple[bytes, bytes]:
        """As of any pipe."""
        if self._unsent and self._sending.acquire(blocking=False):
            try:
                with contextlib.suppress(*_BROKEN):  # then there is an end to be read
                    self._push()
            finally:
                self._sending.release()
        return super().read(timeout)

    def _push(self) -> None:
        """Send what there is room for."""
        left = memoryview(self._unsent)
        try:
            while left:
                sent = self._channel.send(bytes(left[:AT_ONCE]))
                if not sent:
                    raise EOFError
                self._carried(sent)
                left = left[sent:]
        except TimeoutError:
            pass  # no room
        finally:
            self._unsent = bytes(left)

    def _has_room(self) -> bool:
        return bool(self._channel.closed or self._channel.out_window_size)


_BROKEN = (OSError, EOFError, paramiko.SSHException)


@contextlib.contextmanager
def _connected() -> Iterator[None]:
    """UnreachableError where the connection breaks."""
    try:
        yield
    except _BROKEN as error:
        raise UnreachableError("the connection was lost", "transport.lost") from error
