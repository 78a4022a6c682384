"""Opens an SSH connection: connects, performs the handshake, checks the host and logs in
(controller; fabric).
"""

from __future__ import annotations

import contextlib
import functools
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import fabric
import paramiko

from orchestrator.fleet.host.phases import Phase
from orchestrator.support.background_call import BackgroundCall
from orchestrator.transport.command_pipe import readable
from orchestrator.transport.credentials import Credentials
from orchestrator.transport.host_keys.known_hosts import fingerprint
from orchestrator.transport.host_keys.ssh_host_key import HostKeyCheck
from orchestrator.transport.proxy_command import ProxySocket
from orchestrator.transport.route import Route
from orchestrator.transport.ssh_internals import NotSshError, rooted, without_known_hosts
from orchestrator.transport.ssh_keys import Keyring
from orchestrator.transport.ssh_login import Authenticator
from orchestrator.transport.ssh_packets import OversizeError, Tunnel
from orchestrator.transport.ssh_transport import (
    BROKEN,
    CHANNEL_TIMEOUT,
    EagerTransport,
    session_factory,
)
from orchestrator.transport.tcp_connect import Backoff, ConnectAttempt, dial_route, disconnect_hint
from remote_runtime.errors import UnreachableError
from remote_runtime.protocol.wire import SILENCE

PROXY_ATTEMPTS = 3
_LATE = ("transport.connect", "transport.handshake")

# paramiko also logs the errors that it raises
logging.getLogger("paramiko").setLevel(logging.CRITICAL)
logging.getLogger("paramiko").addHandler(logging.NullHandler())


class Connection:
    """A connection to a host with a completed login."""

    def __init__(self, connection: Any, sock: Any) -> None:
        self._fabric = connection
        self._sock = sock
        self._closing = threading.Lock()

    @property
    def session(self) -> EagerTransport:
        """The transport; channels are opened on it."""
        session: EagerTransport = self._fabric.transport
        return session

    @property
    def host_key(self) -> str:
        """The fingerprint of the key that the host proved to have, even if it has closed the
        connection since.
        """
        return fingerprint(self.session.host_key.asbytes())

    def close(self) -> None:
        """Close the connection; any thread may call this."""
        with self._closing:
            # fabric has none if the login failed
            session = self._fabric.transport or self._fabric.client.get_transport()
            if session is not None:
                session.hang_up()
            self._fabric.client.close()
            with contextlib.suppress(OSError, EOFError):
                self._sock.close()


class Gateways:
    """The connections to jump hosts: one for each, shared by the hosts behind it."""

    def __init__(self, open_one: Callable[[Route], Connection]) -> None:
        self._open = open_one
        self._opened: dict[Route, BackgroundCall[Connection]] = {}
        self._lock = threading.Lock()
        self._closed = False

    def connection(self, route: Route, until: float | None = None) -> Connection:
        """An open connection to a jump host; a lost one is opened again.

        One that cannot be opened is not tried again for each of the hosts behind it.
        TimeoutError for a host whose time is up before that is known.
        """
        with self._lock:
            known = self._opened.get(route)
            lost = known.found if known is not None else None
            if known is None or (lost is not None and not lost.session.is_active()):
                known = BackgroundCall(lambda: self._kept(route), f"jump host {route.label}")
                self._opened[route] = known
                if lost is not None:
                    lost.close()
        return known.wait(until)

    def _kept(self, route: Route) -> Connection:
        connection = self._open(route)
        connection.session.packetizer.be_patient(SILENCE)  # as of each host behind it
        with self._lock:
            if self._closed:
                connection.close()
        return connection

    def close(self) -> None:
        """Close all connections, the farthest first."""
        with self._lock:
            self._closed = True
            for route in sorted(self._opened, key=lambda one: -len(one.jumps)):
                connection = self._opened[route].found
                if connection is not None:
                    connection.close()
            self._opened.clear()


class Dialer:
    """Opens the connections of a run."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._keyring = Keyring(credentials)
        self._gateways = Gateways(lambda route: self.open(route, lambda phase: None))

    def open(
        self,
        route: Route,
        on_phase: Callable[[Phase], None],
        call: ConnectAttempt | None = None,
    ) -> Connection:
        """A connection with a completed login.

        UnreachableError; limited by the route's timeout, which starts after the login to the last
        jump host. ``call`` is an attempt that has already started. A connection that ends before
        the server's host key arrives is retried, because sshd sheds load this way (MaxStartups).
        """
        if route.jumps:
            self._gateway(route)
            call = None
        deadline, sock = call or ConnectAttempt(route.end(route.timeout), None)
        backoff = Backoff(deadline)
        shed: _DisconnectedError | None = None
        while True:
            try:
                if sock is None:
                    sock = self._socket(route, deadline)
                return self._handshake(route, sock, deadline=deadline, on_phase=on_phase)
            except _DisconnectedError as again:
                shed, sock = again, None
                if not _again(route, backoff):
                    raise _hung_up(route, backoff.attempts, shed) from shed
            except UnreachableError as error:
                # the time of earlier attempts is not part of the message
                if shed is None or error.kind not in _LATE or time.monotonic() < deadline - 0.1:
                    raise
                raise _hung_up(route, backoff.attempts, shed) from error

    def unlock(self, route: Route) -> None:
        """Prompt for the passphrase of the key that is tried first, if it has one."""
        first = next(iter(self._keyring.candidates(route)), None)
        if first is not None and first.locked:
            first.load()

    def host_key(self, route: Route) -> tuple[str, bytes, bool]:
        """The type and blob of the key that a host presents, and whether it has a valid certificate
        from a known CA; without a login. UnreachableError.
        """
        if route.jumps:
            self._gateway(route)
        deadline = route.end(route.timeout)
        backoff = Backoff(deadline)
        while True:
            sock = self._socket(route, deadline)
            seconds_left = max(0.5, deadline - time.monotonic())
            session = EagerTransport(sock, seconds_left)
            check = HostKeyCheck(route)
            check.prepare(session)
            try:
                session.start_client(timeout=seconds_left)
                key = session.get_remote_server_key()
                plain, shown = key.asbytes(), session.shown_host_key
                return key.get_name(), plain, shown != plain and check.certified(shown)
            except BROKEN as error:
                mapped = _mapped(route, session, sock=sock, deadline=deadline, error=error)
                if not isinstance(mapped, _DisconnectedError):
                    raise mapped from error
                if not _again(route, backoff):
                    raise _hung_up(route, backoff.attempts, mapped) from error
            finally:
                session.hang_up()
                sock.close()

    def close(self) -> None:
        """Release jump hosts and agents."""
        self._gateways.close()
        self._keyring.close()

    def _socket(self, route: Route, deadline: float) -> Any:
        if route.proxy_command:
            return ProxySocket(route.proxy_command)
        if not route.jumps:
            return dial_route(route, deadline)
        return self._through(route, deadline)

    def _gateway(self, route: Route) -> Connection:
        """The connection to the last jump host on the way."""
        last = route.hops()[-1]
        try:
            return self._gateways.connection(last, route.until)
        except TimeoutError as error:
            message = f"the jump host {last.label} is not connected yet"
            raise UnreachableError(message, "transport.connect") from error

    def _through(self, route: Route, deadline: float) -> Tunnel:
        gateway, last = self._gateway(route), route.jumps[-1]
        seconds_left = max(0.1, min(deadline - time.monotonic(), CHANNEL_TIMEOUT))
        try:
            channel = gateway.session.open_channel(
                "direct-tcpip", (route.address, route.port), ("127.0.0.1", 0), timeout=seconds_left
            )
            return Tunnel(channel)
        except BROKEN as error:
            reason = error.text if isinstance(error, paramiko.ChannelException) else error
            raise UnreachableError(
                f"cannot connect from {last.label} to {route.address} port {route.port}: {reason}",
                "transport.connect",
                hint=f"is the host up, and does sshd on {last.label} allow TCP forwarding?",
            ) from error

    def _handshake(
        self,
        route: Route,
        sock: Any,
        *,
        deadline: float,
        on_phase: Callable[[Phase], None],
    ) -> Connection:
        seconds_left = max(0.5, deadline - time.monotonic())
        check = HostKeyCheck(route)
        login = Authenticator(
            route, self._keyring, self._credentials, lambda: on_phase(Phase.AUTHENTICATING)
        )
        sessions: list[EagerTransport] = []

        def prepare(session: EagerTransport) -> None:
            """Record the session, and prepare the host key check."""
            sessions.append(session)
            check.prepare(session)

        connection = new_connection(
            route,
            sock=sock,
            timeout=seconds_left,
            transport_factory=session_factory(seconds_left, prepare),
            auth_strategy=login,
        )
        client = connection.client
        client.set_missing_host_key_policy(check)
        without_known_hosts(client)  # the check looks up the known keys itself
        opened = Connection(connection, sock)
        try:
            connection.open()
        except BaseException as error:
            mapped = error
            if isinstance(error, BROKEN):
                session = sessions[0] if sessions else None
                mapped = _mapped(route, session, sock=sock, deadline=deadline, error=error)
            opened.close()
            raise mapped from (None if mapped is error else error)
        connection.connect_kwargs.clear()  # drop the arguments and the objects that they refer to
        return opened


class _OwnAttributes(fabric.Connection):  # type: ignore[misc]  # which has no types
    """Stores its attributes itself, because fabric writes one of them to the configuration and
    merges it again.
    """

    __setattr__ = object.__setattr__


class _NoSettings(paramiko.SSHConfig):
    """An empty configuration, because the options of a host are in its route."""

    def lookup(self, hostname: str) -> paramiko.SSHConfigDict:
        """Return only the name."""
        return paramiko.SSHConfigDict(hostname=hostname)


@functools.lru_cache(maxsize=1)
def _configuration() -> fabric.Config:
    """The shared configuration of all connections, which only read it."""
    return rooted(fabric.Config(ssh_config=_NoSettings(), lazy=True))


def new_connection(route: Route, **connecting: Any) -> fabric.Connection:
    """A new connection of fabric, see ``connecting``; any thread may call this."""
    return _OwnAttributes(
        route.address,
        user=route.user,
        port=route.port,
        config=_configuration(),
        connect_kwargs=connecting,
    )


class _DisconnectedError(Exception):
    """The server closed the connection before it showed its key; ``unresponsive``: before it
    announced its protocol.
    """

    def __init__(self, said: str, *, unresponsive: bool) -> None:
        super().__init__(said)
        self.unresponsive = unresponsive


def _mapped(
    route: Route, session: EagerTransport | None, *, sock: Any, deadline: float, error: Exception
) -> Exception:
    """A failure of the handshake, as one of our errors or as a reason to retry."""
    text = readable(str(error).encode("utf-8", "replace"))[:300] or type(error).__name__
    if isinstance(error, paramiko.ssh_exception.IncompatiblePeer):
        return UnreachableError(
            f"no common SSH algorithm with {route.label}: {text}",
            "transport.handshake",
            hint="update sshd on the host",
        )
    if session is None or session.initial_kex_done:
        return UnreachableError(f"{route.label} closed the connection: {text}", "transport.lost")
    hung_up = isinstance(error, (EOFError, ConnectionResetError))
    late = not hung_up and time.monotonic() >= deadline - 0.1
    if late or session.is_active():  # nothing ended it
        return UnreachableError(
            f"the SSH handshake with {route.label} timed out after {route.timeout:.0f} s",
            "transport.handshake",
            hint=f"is {route.port} the port of sshd, and is sshd overloaded?",
        )
    if isinstance(error, OversizeError):
        return UnreachableError(
            f"{route.label} violated the SSH protocol: {text}",
            "transport.handshake",
            hint=f"is {route.port} the port of sshd? Another service may be listening",
        )
    if isinstance(error, NotSshError):
        return UnreachableError(
            f"{route.address} port {route.port} is not an SSH server",
            "transport.handshake",
            hint="check the port",
        )
    said = sock.last_error() if isinstance(sock, ProxySocket) else ""
    return _DisconnectedError(said or text, unresponsive=not session.remote_version)


def _again(route: Route, backoff: Backoff) -> bool:
    if route.proxy_command and backoff.attempts >= PROXY_ATTEMPTS - 1:
        return False
    return backoff.pause()


def _hung_up(route: Route, attempts: int, shed: _DisconnectedError) -> UnreachableError:
    if route.proxy_command:
        return UnreachableError(
            f"the ProxyCommand for {route.label} ended before the login: {shed}",
            "transport.proxy",
            hint=f"run it manually: {route.proxy_command}",
        )
    if shed.unresponsive:
        return UnreachableError(
            (
                f"{route.address} port {route.port} closed the connection before the SSH "
                f"handshake, {attempts} times"
            ),
            "transport.connect",
            hint=disconnect_hint(route.port),
        )
    return UnreachableError(
        f"{route.label} closed the connection before the login, {attempts} times: {shed}",
        "transport.connect",
        hint="sshd may be overloaded (MaxStartups) or refuse this address; lower --forks",
    )
