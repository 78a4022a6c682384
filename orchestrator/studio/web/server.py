"""Listens and serves; the only module that imports uvicorn (controller)."""

import asyncio
import contextlib
import functools
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from remote_runtime.errors import UsageError

HEADER_TIME = 10.0  # seconds for the head of a request
KEEP_ALIVE = 5  # seconds without a request
MAX_HEAD_BYTES = 16 << 10
MAX_CONNECTIONS = 200
HANDSHAKE_TIME = 10.0  # seconds for the start of TLS
MAX_HANDSHAKES = 200  # in progress


class Listener(socket.socket):
    """A socket that listens, and closes connections on which TLS does not start in time. If there
    are too many of these, it closes the oldest, because each one has an open file.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._starting: dict[int, tuple[socket.socket, float]] = {}  # by descriptor

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection, which counts until ``started``."""
        connection, address = super().accept()
        self.started(connection.fileno())  # an earlier connection with this number is closed
        self._starting[connection.fileno()] = connection, time.monotonic()
        if len(self._starting) > MAX_HANDSHAKES:
            self._end(next(iter(self._starting)))
        return connection, address

    def started(self, descriptor: int) -> None:
        """Stop waiting for a connection."""
        self._starting.pop(descriptor, None)

    def end_late(self) -> None:
        """Close the connections that have been waited for too long."""
        late = time.monotonic() - HANDSHAKE_TIME
        for descriptor in [one for one, (_, since) in self._starting.items() if since < late]:
            self._end(descriptor)

    def _end(self, descriptor: int) -> None:
        connection, _ = self._starting.pop(descriptor)
        with contextlib.suppress(OSError):  # it is closed
            connection.shutdown(socket.SHUT_RDWR)


class BoundedProtocol(H11Protocol):
    """Closes a connection whose request does not arrive in time, because uvicorn would
    wait forever. If there are too many connections, it closes the one that has been waited for
    the longest. A client that does not read its response is waited for, too.
    """

    header_time = HEADER_TIME
    _patience: asyncio.TimerHandle | None = None
    _since = 0.0

    def __init__(self, *given: Any, started: Callable[[int], None], **options: Any) -> None:
        super().__init__(*given, **options)
        self._started = started

    def connection_made(self, transport: Any) -> None:
        """Start waiting for a request."""
        super().connection_made(transport)
        self._started(transport.get_extra_info("socket").fileno())
        self._wait()
        connections: list[Any] = list(self.connections)  # all of this class
        if len(connections) >= MAX_CONNECTIONS:
            waited_for = [one for one in connections if one.is_waited_for()]
            min(waited_for, key=lambda one: one.waited_since()).transport.abort()

    def is_waited_for(self) -> bool:
        """Whether its request has not arrived completely, or a response was not read completely."""
        if self.transport.get_write_buffer_size():
            return True
        is_open = not self.transport.is_closing()
        return is_open and self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def waited_since(self) -> float:
        """The time at which its request was first waited for."""
        return self._since

    def data_received(self, data: bytes) -> None:
        """Continue reading; the time limit ends once the head of the request is complete."""
        if self._patience is None and self.conn.their_state is h11.IDLE:
            self._since = self.loop.time()
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._end_wait()
        elif self._patience is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._end_wait()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._since = self.loop.time()
        self._patience = self.loop.call_later(self.header_time, self._give_up)

    def _end_wait(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        self._patience = None
        if not self.transport.is_closing() and self.conn.their_state is h11.IDLE:
            self.transport.close()


def listen(host: str, port: int) -> Listener:
    """A socket that listens at this address; UsageError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return Listener(fileno=socket.create_server((host, port), family=family).detach())
    except OSError as error:
        raise UsageError(
            f"--listen {host}:{port}: {error.strerror or error}",
            hint="use an address of this machine and a free port",
        ) from error


class _Server(uvicorn.Server):
    """A server that also stops once ``is_over`` returns true."""

    def __init__(
        self, config: uvicorn.Config, listener: Listener, is_over: Callable[[], bool]
    ) -> None:
        super().__init__(config)
        self._listener, self._is_over = listener, is_over

    async def on_tick(self, counter: int) -> bool:
        """Return whether to stop; called ten times a second."""
        self._listener.end_late()
        return self._is_over() or await super().on_tick(counter)


def serve(
    app: Any,
    listener: Listener,
    *,
    tls: tuple[str, str] | None,
    protocol: type[BoundedProtocol] = BoundedProtocol,
    is_over: Callable[[], bool] = lambda: False,
) -> None:
    """Serve until a signal ends the process, or ``is_over`` returns true.

    UsageError for an unusable certificate or key.
    """
    config = uvicorn.Config(
        app,
        # uvicorn only calls it, with the arguments of the class.
        http=functools.partial(protocol, started=listener.started),  # type: ignore[arg-type]
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        ssl_certfile=tls[0] if tls else None,
        ssl_keyfile=tls[1] if tls else None,
    )
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise UsageError(
            f"--tls-cert, --tls-key: {error}", hint="use a certificate and its key in PEM format"
        ) from error
    _Server(config, listener, is_over).run(sockets=[listener])
