"""An SSH connection with as few round trips as the protocol allows (controller; paramiko).

paramiko waits for an answer before each step. Here, the authentication request is sent together
with the service request, the opening of the channel together with the last authentication request,
and the command immediately after the response to the opening. This does not extend the protocol:
both sides answer in order, and everything after the successful login request belongs to the session
(RFC 4252, section 5.1).
"""

from __future__ import annotations

import contextlib
import io
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import paramiko
from cryptography.exceptions import InvalidTag
from paramiko.common import (
    cMSG_CHANNEL_OPEN,
    cMSG_CHANNEL_REQUEST,
    cMSG_SERVICE_REQUEST,
    cMSG_USERAUTH_REQUEST,
)
from paramiko.message import Message

from orchestrator.transport.host_keys.certificates import SUFFIX
from orchestrator.transport.ssh_internals import (
    PLAIN_HOST_KEYS,
    OpenAuthentication,
    OpenTransport,
    preferred_first,
)
from orchestrator.transport.ssh_packets import Packets

# How a connection ends that breaks off or is tampered with, wherever that shows.
BROKEN = (OSError, EOFError, paramiko.SSHException, InvalidTag)
WINDOW = 1 << 20  # at most this much unread data of a host is held
CHANNEL_TIMEOUT = 30.0

_HOST_KEYS = (*PLAIN_HOST_KEYS, *(f"{name}{SUFFIX}" for name in PLAIN_HOST_KEYS))


class UnansweredError(paramiko.AuthenticationException):
    """The server did not answer any login request in time."""


class EagerTransport(OpenTransport):
    """A transport without unnecessary round trips; created by ``session_factory``."""

    # the stubs leave these out
    active: bool
    host_key: paramiko.PKey
    packetizer: Packets

    def __init__(self, sock: Any, timeout: float) -> None:
        super().__init__(sock, default_window_size=WINDOW, packetizer_class=Packets)
        self.packetizer.be_patient(timeout)
        self.banner_timeout = timeout
        self.handshake_timeout = timeout
        self.channel_timeout = CHANNEL_TIMEOUT
        self.opens_early = False
        """Whether the next authentication request is the last one, regardless of its result."""
        self.login_keys: tuple[str, ...] = ()
        """The fingerprints of the key that the server accepted, and of the CA that signed it."""
        self._early: tuple[Any, threading.Event] | None = None
        self._wanted_host_keys: tuple[str, ...] = ()  # empty until some are asked for
        self._done_with = self._has_run = False

    def run(self) -> None:
        """Read the data of the server, in the current thread."""
        super().run()
        self._has_run = True
        if self._done_with:
            self.drop_handlers()

    def start_client(
        self, event: threading.Event | None = None, timeout: float | None = None
    ) -> None:
        """Like paramiko's method, which polls for the end, and uses the wall clock."""
        negotiated = event or threading.Event()
        super().start_client(negotiated)
        if event is None:
            negotiated.wait(timeout)
            if not self.active:
                raise self.get_exception() or paramiko.SSHException("Negotiation failed.")

    def hang_up(self) -> None:
        """End the connection and its thread, and release everything; any thread may call this."""
        if isinstance(self.sock, socket.socket):  # or a channel of a jump host
            with contextlib.suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)  # wakes the thread, and whoever sends
        self.close()
        if self.completion_event is not None:  # paramiko's thread sets it only if it ended first
            self.completion_event.set()
        self._done_with = True
        if self._has_run or not self.is_alive():
            self.drop_handlers()

    def get_exception(self) -> Exception | None:
        """The reason why the connection ended; one of ``BROKEN`` for every failure of paramiko."""
        error = super().get_exception()
        if error is None or isinstance(error, BROKEN):
            return error
        return paramiko.SSHException(f"the server violated the SSH protocol: {error!r}")

    def prefer_host_keys(self, algorithms: Sequence[str]) -> None:
        """Request these host key algorithms first, as OpenSSH does for keys in known_hosts."""
        self._wanted_host_keys = preferred_first(self.offered_host_keys, *algorithms)

    def restrict_host_keys(self, algorithms: Sequence[str]) -> None:
        """Accept only these host key algorithms, in this order."""
        self._wanted_host_keys = tuple(algorithms)

    @property
    def offered_host_keys(self) -> tuple[str, ...]:
        """The offered host key algorithms, in order."""
        return self._wanted_host_keys or _HOST_KEYS

    @property
    def preferred_keys(self) -> tuple[str, ...]:
        """The host key algorithms for paramiko, which adds the certificate algorithms to its own
        list; this list already has them."""
        return self.offered_host_keys

    def data_arrived(self, channel: Any, message: Message) -> None:
        """Limit unread data to the amount that the server may send: paramiko stores everything, and
        each message until the next one."""
        self.packetizer.carried(message.packet.seek(0, io.SEEK_END))
        message.packet = io.BytesIO()
        if len(channel.in_buffer) + len(channel.in_stderr_buffer) > 2 * WINDOW:
            raise paramiko.SSHException("the server sent more than requested")

    def ensure_session(self) -> None:
        """Request the authentication service without waiting for the answer."""
        if not self.active or not self.initial_kex_done:
            raise paramiko.SSHException("the connection is not open")
        if self.has_service:
            return
        message = Message()
        message.add_byte(cMSG_SERVICE_REQUEST)
        message.add_string("ssh-userauth")
        self.packetizer.hold()  # the authentication request goes along
        self.send_now(message)
        self.has_service = True
        self.auth_handler = self.get_auth_handler()

    def begin_session(self) -> None:
        """Send the request for a channel; ``finish_session`` receives the answer."""
        self._early = self._begin_session()

    def _begin_session(self) -> tuple[Any, threading.Event]:
        channel, event = self.add_channel()
        message = Message()
        message.add_byte(cMSG_CHANNEL_OPEN)
        message.add_string("session")
        message.add_int(channel.chanid)
        message.add_int(self.default_window_size)
        message.add_int(self.default_max_packet_size)
        self.send_in_session(message)
        return channel, event

    def finish_session(self, until: float) -> paramiko.Channel:
        """Return an open channel, using one that is already being opened; SSHException."""
        if not self.active:
            raise self.get_exception() or paramiko.SSHException("the connection was lost")
        early, self._early = self._early, None
        channel, event = early or self._begin_session()
        answered = event.wait(max(0.0, until - time.monotonic()))
        if answered and self.active and self.is_open(channel):
            opened: paramiko.Channel = channel
            return opened
        raise self.get_exception() or paramiko.SSHException("Unable to open channel.")

    def get_auth_handler(self) -> Authentication:
        """The handler that stores the methods that the server accepts."""
        return Authentication(self)

    @property
    def accepted_methods(self) -> list[str]:
        """The methods that the server named in its last refusal; empty before that."""
        handler = self.auth_handler
        return handler.accepted if isinstance(handler, Authentication) else []


class Authentication(OpenAuthentication):
    """paramiko's handler, which also receives responses that arrive before the sender waits."""

    def __init__(self, transport: EagerTransport) -> None:
        super().__init__(transport)
        self._session = transport

    def send_auth_request(
        self,
        username: str,
        method: str,
        finish_message: Callable[[Message], None] | None = None,
    ) -> list[str]:
        """Send one request and wait; the methods to continue with, empty when logged in."""
        self.auth_method = method
        self.username = username
        self.transport.saved_exception = None
        message = Message()
        message.add_byte(cMSG_USERAUTH_REQUEST)
        message.add_string(username)
        message.add_string("ssh-connection")
        message.add_string(method)
        if finish_message is not None:
            finish_message(message)
        self.auth_event = event = threading.Event()  # before sending: it may come at once
        with self.transport.lock:
            self._session.send_now(message)
        if self._session.opens_early:
            self._session.begin_session()
        self._session.packetizer.let_go()
        left: list[str] = self.wait_for_response(event)
        return left

    def wait_for_response(self, event: threading.Event) -> list[str]:
        """The methods to continue with, empty when logged in. The time limit does not use the wall
        clock, which may be changed in the meantime.
        """
        if not event.wait(self.transport.auth_timeout) and self.transport.is_active():
            raise UnansweredError("the server does not respond to the login")
        left: list[str] = super().wait_for_response(event)
        return left


def session_factory(
    timeout: float, prepare: Callable[[EagerTransport], None]
) -> Callable[..., paramiko.Transport]:
    """The factory with which paramiko creates the transport of a connected socket."""

    def make(sock: Any, **_: Any) -> paramiko.Transport:
        """The prepared transport of a socket."""
        session = EagerTransport(sock, timeout)
        prepare(session)
        return session

    return make


def start(session: EagerTransport, command: str, until: float) -> paramiko.Channel:
    """Open a channel and start a command on it without waiting for the server to confirm the
    command.

    The channel must be open by ``until``. If the command is refused, the channel ends.
    """
    channel = session.finish_session(until)
    message = Message()
    message.add_byte(cMSG_CHANNEL_REQUEST)
    message.add_int(channel.remote_chanid)
    message.add_string("exec")
    message.add_boolean(True)
    message.add_string(command)
    session.send_in_session(message)
    return channel
