"""An SSH connection with as few round trips as the protocol allows (controller; paramiko).

paramiko waits for an answer before each step. Here the authentication request leaves together with
the service request, the opening of the channel with an authentication request that is the last to
be tried, and the command right behind the answer to the opening. None of it is new
protocol: both sides answer in order, and what follows the request that logs in belongs to the
session (RFC 4252, section 5.1).
"""

from __future__ import annotations

import contextlib
import io
import re
import socket
import threading
import time
from collections.abc import Callable, Container, Sequence
from typing import Any

import paramiko
from cryptography.exceptions import InvalidTag
from paramiko.auth_handler import AuthOnlyHandler
from paramiko.common import (
    MSG_CHANNEL_DATA,
    MSG_CHANNEL_EXTENDED_DATA,
    cMSG_CHANNEL_OPEN,
    cMSG_CHANNEL_REQUEST,
    cMSG_SERVICE_REQUEST,
    cMSG_USERAUTH_REQUEST,
)
from paramiko.message import Message
from paramiko.transport import ServiceRequestingTransport

from orchestrator.transport.host_keys.certificates import SUFFIX
from orchestrator.transport.ssh_packets import Packets

# How a connection ends that breaks off or is tampered with, wherever that shows.
BROKEN = (OSError, EOFError, paramiko.SSHException, InvalidTag)
WINDOW = 1 << 20  # at most this much unread data of a host is held
CHANNEL_TIMEOUT = 30.0

_CIPHERS = (
    "aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes128-ctr", "aes192-ctr", "aes256-ctr",
)  # fmt: skip
_MACS = (
    "hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com",
    "hmac-sha2-256", "hmac-sha2-512",
)  # fmt: skip


def _first(names: Sequence[str], *wanted: str) -> tuple[str, ...]:
    """The names with the wanted ones in front."""
    front = [name for name in wanted if name in names]
    return (*front, *(name for name in names if name not in front))


def _known(wanted: Sequence[str], known: Container[str]) -> tuple[str, ...]:
    """Those of the wanted names that this paramiko has: it offers what it is told to, and stumbles
    over what a server then chooses."""
    return tuple(name for name in wanted if name in known)


# the stubs leave these out
_TAKING: dict[int, Any] = ServiceRequestingTransport._channel_handler_table  # type: ignore[attr-defined]
_HAS_CIPHERS: Container[str] = ServiceRequestingTransport._cipher_info  # type: ignore[attr-defined]
_HAS_MACS: Container[str] = ServiceRequestingTransport._mac_info  # type: ignore[attr-defined]
_PLAIN_HOST_KEYS = tuple(ServiceRequestingTransport._preferred_keys)  # type: ignore[attr-defined]
_HOST_KEYS = (*_PLAIN_HOST_KEYS, *(f"{name}{SUFFIX}" for name in _PLAIN_HOST_KEYS))
_DATA = (MSG_CHANNEL_DATA, MSG_CHANNEL_EXTENDED_DATA)


def _bounded(take: Callable[[Any, Message], None]) -> Callable[[Any, Message], None]:
    """Take what arrives on a channel while no more is unread than the server was allowed to send;
    paramiko holds whatever comes, and each message until the next one."""

    def take_bounded(channel: Any, message: Message) -> None:
        take(channel, message)
        channel.transport.packetizer.carried(message.packet.seek(0, io.SEEK_END))
        message.packet = io.BytesIO()
        if len(channel.in_buffer) + len(channel.in_stderr_buffer) > 2 * WINDOW:
            raise paramiko.SSHException("the server sends more than it was asked for")

    return take_bounded


class EagerTransport(ServiceRequestingTransport):
    """A transport that does not wait where it need not; made by ``session_factory``."""

    # the stubs leave these out
    active: bool
    host_key: paramiko.PKey
    packetizer: Packets
    _service_userauth_accepted: bool
    _send_message: Callable[[Message], None]
    _send_user_message: Callable[[Message], None]
    _next_channel: Callable[[], int]
    _channels: Any
    _handler_table: dict[bytes, Any]
    _channel_handler_table = {
        kind: _bounded(take) if kind in _DATA else take for kind, take in _TAKING.items()
    }

    # empty until some are asked for
    _preferred_keys: tuple[str, ...] = ()
    shown_host_key = b""
    """What the server proved itself with: a plain key, or a certificate."""

    # X25519 costs a tenth of the hybrid exchange, which stays on offer for servers that insist.
    _preferred_kex = _first(  # the stubs leave it out
        ServiceRequestingTransport._preferred_kex,  # type: ignore[attr-defined]
        "curve25519-sha256@libssh.org",
        "ecdh-sha2-nistp256",
    )
    _preferred_ciphers = _known(_CIPHERS, _HAS_CIPHERS)
    _preferred_macs = _known(_MACS, _HAS_MACS)

    # Its thread wakes this often for nothing; a close wakes it at once (see ``ssh_connect``).
    _active_check_timeout = 1.0

    def __init__(self, sock: Any, timeout: float) -> None:
        super().__init__(sock, default_window_size=WINDOW, packetizer_class=Packets)
        self.packetizer.be_patient(timeout)
        self.banner_timeout = timeout
        self.handshake_timeout = timeout
        self.channel_timeout = CHANNEL_TIMEOUT
        self.opens_early = False
        """Whether the next authentication request is the last one, whatever comes of it."""
        self._early: tuple[Any, threading.Event] | None = None
        self._done_with = self._has_run = False

    def run(self) -> None:
        """Read what the server sends, in the thread that this is."""
        super().run()
        self._has_run = True
        if self._done_with:
            self._forget()

    def start_client(
        self, event: threading.Event | None = None, timeout: float | None = None
    ) -> None:
        """As paramiko's, which polls for the end of it, and by the wall clock."""
        negotiated = event or threading.Event()
        super().start_client(negotiated)
        if event is None:
            negotiated.wait(timeout)
            if not self.active:
                raise self.get_exception() or paramiko.SSHException("Negotiation failed.")

    def hang_up(self) -> None:
        """End the connection and its thread, after which nothing is held; any thread may call."""
        if isinstance(self.sock, socket.socket):  # or a channel of a jump host
            with contextlib.suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)  # wakes the thread, and whoever sends
        self.close()
        self._done_with = True
        if self._has_run or not self.is_alive():
            self._forget()

    def _forget(self) -> None:
        # Reference cycles stay until Python collects them, which it does only now and then: by
        # that time it would be hundreds of connections.
        self._handler_table = {}
        self.auth_handler = self.kex_engine = self.saved_exception = None

    def get_exception(self) -> Exception | None:
        """Why the connection ended; one of ``BROKEN``, whatever paramiko stumbled over."""
        found = super().get_exception()
        if found is None or isinstance(found, BROKEN):
            return found
        return paramiko.SSHException(f"the server does not keep to SSH: {found!r}")

    def prefer_host_keys(self, algorithms: Sequence[str]) -> None:
        """Ask for these host key algorithms first, as OpenSSH does for what known_hosts holds."""
        self._preferred_keys = _first(self.offered_host_keys, *algorithms)

    def restrict_host_keys(self, algorithms: Sequence[str]) -> None:
        """Accept these host key algorithms only, in this order."""
        self._preferred_keys = tuple(algorithms)

    @property
    def offered_host_keys(self) -> tuple[str, ...]:
        """The host key algorithms on offer, in order."""
        return self._preferred_keys or _HOST_KEYS

    @property
    def preferred_keys(self) -> tuple[str, ...]:
        """As paramiko asks for them: it adds those of certificates, which stand in ours."""
        return self.offered_host_keys

    def _verify_key(self, host_key: bytes, sig: bytes) -> None:
        """As paramiko's, which keeps the key alone."""
        # the stubs leave it out
        super()._verify_key(host_key, sig)  # type: ignore[misc]
        self.shown_host_key = host_key

    def ensure_session(self) -> None:
        """Ask for the authentication service without waiting for the answer."""
        if not self.active or not self.initial_kex_done:
            raise paramiko.SSHException("the connection is not open")
        if self._service_userauth_accepted:
            return
        message = Message()
        message.add_byte(cMSG_SERVICE_REQUEST)
        message.add_string("ssh-userauth")
        self.packetizer.hold()  # the authentication request goes along
        self._send_message(message)
        self._service_userauth_accepted = True
        self.auth_handler = self.get_auth_handler()

    def _log(self, level: int, msg: object, *args: object) -> None:
        """Nobody reads what paramiko notes of each connection."""

    def _parse_debug(self, message: Message) -> None:
        """Pass over what servers say for debugging; paramiko would write out each byte of it."""

    def begin_session(self) -> None:
        """Send the request for a channel; ``finish_session`` takes the answer."""
        self._early = self._begin_session()

    def _begin_session(self) -> tuple[Any, threading.Event]:
        with self.lock:
            number = self._next_channel()
            channel: Any = paramiko.Channel(number)
            self._channels.put(number, channel)
            self.channel_events[number] = event = threading.Event()
            self.channels_seen[number] = True
            channel._set_transport(self)
            channel._set_window(self.default_window_size, self.default_max_packet_size)
        message = Message()
        message.add_byte(cMSG_CHANNEL_OPEN)
        message.add_string("session")
        message.add_int(number)
        message.add_int(self.default_window_size)
        message.add_int(self.default_max_packet_size)
        self._send_user_message(message)
        return channel, event  # paramiko itself holds the channel weakly

    def finish_session(self, until: float) -> paramiko.Channel:
        """An open channel, the one that was begun if there is one; SSHException."""
        if not self.active:
            raise self.get_exception() or paramiko.SSHException("the connection is lost")
        early, self._early = self._early, None
        channel, event = early or self._begin_session()
        answered = event.wait(max(0.0, until - time.monotonic()))
        if answered and self.active and self._channels.get(channel.chanid) is channel:
            opened: paramiko.Channel = channel
            return opened
        raise self.get_exception() or paramiko.SSHException("Unable to open channel.")

    def get_auth_handler(self) -> Authentication:
        """The handler that remembers what the server accepts."""
        return Authentication(self)

    @property
    def accepted_methods(self) -> list[str]:
        """What the server said that it accepts, when it last refused; empty before that."""
        handler = self.auth_handler
        return handler.accepted if isinstance(handler, Authentication) else []


class Authentication(AuthOnlyHandler):
    """paramiko's handler, told of each answer even if that is quicker than the sender."""

    def __init__(self, transport: EagerTransport) -> None:
        super().__init__(transport)
        self._session = transport
        self.accepted: list[str] = []

    def send_auth_request(
        self,
        username: str,
        method: str,
        finish_message: Callable[[Message], None] | None = None,
    ) -> list[str]:
        """Send one request and wait; the methods to go on with, empty when logged in."""
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
            self._session._send_message(message)
        if self._session.opens_early:
            self._session.begin_session()
        self._session.packetizer.let_go()
        left: list[str] = self.wait_for_response(event)
        return left

    def wait_for_response(self, event: threading.Event) -> list[str]:
        """The methods to go on with, empty when logged in. The time that there is for it is none of
        the wall clock, which may be set meanwhile."""
        if not event.wait(self.transport.auth_timeout) and self.transport.is_active():
            raise paramiko.AuthenticationException("Authentication timeout.")
        left: list[str] = super().wait_for_response(event)
        return left

    def _parse_userauth_failure(self, message: Message) -> None:
        names = Message(message.asbytes()).get_list()
        self.accepted = [name for name in names if re.fullmatch(r"[A-Za-z0-9@.-]{1,64}", name)]
        # the stubs leave out what is paramiko's own
        super()._parse_userauth_failure(message)  # type: ignore[misc]


def session_factory(
    timeout: float, prepare: Callable[[EagerTransport], None]
) -> Callable[..., paramiko.Transport]:
    """What paramiko calls to make the transport of a connected socket."""

    def make(sock: Any, **_: Any) -> paramiko.Transport:
        session = EagerTransport(sock, timeout)
        prepare(session)
        return session

    return make


def start(session: EagerTransport, command: str, until: float) -> paramiko.Channel:
    """Open a channel and start a command on it, not waiting for the server's word on the command.

    The channel has to be open ``until`` then. A refusal shows as its end.
    """
    channel = session.finish_session(until)
    message = Message()
    message.add_byte(cMSG_CHANNEL_REQUEST)
    message.add_int(channel.remote_chanid)
    message.add_string("exec")
    message.add_boolean(True)
    message.add_string(command)
    session._send_user_message(message)
    return channel
