"""All private members of paramiko and fabric that ccm uses (controller).

Another release may rename or change a private member without notice. Only this module accesses
private members. ``MEMBERS`` lists them, ``CHECKED_RELEASES`` the releases on which the tests of
``orchestrator/transport`` passed with them. Before a new release is admitted in ``pyproject.toml``,
run ``python -m tests.project.ssh_releases`` and add the release here.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Container, Sequence
from typing import Any

import paramiko
from paramiko.agent import AgentSSH
from paramiko.auth_handler import AuthOnlyHandler
from paramiko.common import MSG_CHANNEL_DATA, MSG_CHANNEL_EXTENDED_DATA
from paramiko.message import Message
from paramiko.packet import Packetizer
from paramiko.transport import ServiceRequestingTransport

CHECKED_RELEASES = {"paramiko": ("3.4.0", "4.0.0", "5.1.0"), "fabric": ("3.2.0", "3.2.3")}
"""The releases with which the tests passed, the oldest first. CI installs the last one."""

MEMBERS: dict[str, tuple[str, ...]] = {
    "paramiko.transport.ServiceRequestingTransport": (
        "_active_check_timeout", "_channel_handler_table", "_channels", "_check_banner",
        "_cipher_info", "_handler_table", "_log", "_mac_info", "_next_channel", "_parse_debug",
        "_preferred_ciphers", "_preferred_kex", "_preferred_keys", "_preferred_macs",
        "_send_message", "_send_user_message", "_service_userauth_accepted", "_verify_key",
    ),
    "paramiko.channel.Channel": ("_set_transport", "_set_window"),
    "paramiko.auth_handler.AuthOnlyHandler": ("_parse_userauth_failure",),
    "paramiko.packet.Packetizer": ("_read_timeout",),
    "paramiko.agent.AgentSSH": ("_close", "_conn", "_connect", "_send_message"),
    "paramiko.client.SSHClient": ("_host_keys", "_system_host_keys"),
    "fabric.config.Config": ("_keypath", "_root", "_set"),
}  # fmt: skip
"""The private members by class."""

_CIPHERS = (
    "aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes128-ctr", "aes192-ctr", "aes256-ctr",
)  # fmt: skip
_MACS = (
    "hmac-sha2-256-etm@openssh.com",
    "hmac-sha2-512-etm@openssh.com",
    "hmac-sha2-256",
    "hmac-sha2-512",
)
_DATA = (MSG_CHANNEL_DATA, MSG_CHANNEL_EXTENDED_DATA)


class NotSshError(paramiko.SSHException):
    """The first line of the server is not an SSH greeting."""


class EndlessGreetingError(NotSshError):
    """The server sends endless data before its greeting."""


def preferred_first(names: Sequence[str], *wanted: str) -> tuple[str, ...]:
    """Return the names, the preferred ones first."""
    front = [name for name in wanted if name in names]
    return (*front, *(name for name in names if name not in front))


def _known(wanted: Sequence[str], known: Container[str]) -> tuple[str, ...]:
    """Return the preferred names that this version of paramiko supports. It would offer any name,
    and fail if the server chooses an unsupported one."""
    return tuple(name for name in wanted if name in known)


_OWN: Any = ServiceRequestingTransport  # the stubs leave out paramiko's private members
_HANDLERS: dict[int, Any] = _OWN._channel_handler_table
_HAS_CIPHERS: Container[str] = _OWN._cipher_info
_HAS_MACS: Container[str] = _OWN._mac_info
PLAIN_HOST_KEYS: tuple[str, ...] = tuple(_OWN._preferred_keys)
"""The algorithms of host keys that paramiko supports, best first, without those of certificates."""


def _reported(take: Callable[[Any, Message], None]) -> Callable[[Any, Message], None]:
    def take_and_report(channel: Any, message: Message) -> None:
        """Handle the message, then report that data arrived."""
        take(channel, message)
        channel.transport.data_arrived(channel, message)

    return take_and_report


class OpenTransport(ServiceRequestingTransport):
    """paramiko's transport, with the steps of a session under public names."""

    # the stubs leave these out
    _service_userauth_accepted: bool
    _send_message: Callable[[Message], None]
    _send_user_message: Callable[[Message], None]
    _next_channel: Callable[[], int]
    _channels: Any
    _handler_table: dict[bytes, Any]
    _channel_handler_table = {
        kind: _reported(take) if kind in _DATA else take for kind, take in _HANDLERS.items()
    }

    shown_host_key = b""
    """The plain key or the certificate that authenticated the server."""

    # X25519 costs a tenth of the hybrid exchange, which stays on offer for servers that insist.
    _preferred_kex = preferred_first(
        _OWN._preferred_kex, "curve25519-sha256@libssh.org", "ecdh-sha2-nistp256"
    )
    _preferred_ciphers = _known(_CIPHERS, _HAS_CIPHERS)
    _preferred_macs = _known(_MACS, _HAS_MACS)

    # Its thread wakes this often for nothing; a close wakes it at once (see ``ssh_connect``).
    _active_check_timeout = 1.0

    def data_arrived(self, channel: Any, message: Message) -> None:
        """Called after a message with data of a channel was processed."""

    def send_now(self, message: Message) -> None:
        """Send a message, even during a key exchange."""
        self._send_message(message)

    def send_in_session(self, message: Message) -> None:
        """Send a message, after the key exchange if there is one."""
        self._send_user_message(message)

    @property
    def has_service(self) -> bool:
        """Whether the authentication service was requested."""
        return self._service_userauth_accepted

    @has_service.setter
    def has_service(self, asked: bool) -> None:
        self._service_userauth_accepted = asked

    def add_channel(self) -> tuple[Any, threading.Event]:
        """A new channel, and the event for the response to its opening. paramiko itself holds the
        channel weakly.
        """
        with self.lock:
            number = self._next_channel()
            channel: Any = paramiko.Channel(number)
            self._channels.put(number, channel)
            self.channel_events[number] = event = threading.Event()
            self.channels_seen[number] = True
            channel._set_transport(self)
            channel._set_window(self.default_window_size, self.default_max_packet_size)
        return channel, event

    def is_open(self, channel: Any) -> bool:
        """Whether the server has neither refused nor closed the channel."""
        return self._channels.get(channel.chanid) is channel

    def drop_handlers(self) -> None:
        """Break the reference cycles of a connection that has ended. Python collects them only
        occasionally, and by then there could be hundreds of connections.
        """
        self._handler_table = {}
        self.auth_handler = self.kex_engine = self.saved_exception = None

    def _verify_key(self, host_key: bytes, sig: bytes) -> None:
        """Like paramiko's method, which stores only the key."""
        super()._verify_key(host_key, sig)  # type: ignore[misc]  # not in the stubs
        self.shown_host_key = host_key

    def _check_banner(self) -> None:
        """Like paramiko's, but raise NotSshError for an error that only its text identifies."""
        try:
            super()._check_banner()  # type: ignore[misc]  # not in the stubs
        except paramiko.SSHException as error:
            # no name for it here: it would refer to this frame, and this frame to it
            if isinstance(error.__context__, (OSError, EOFError, NotSshError)):
                raise error.__context__ from None  # paramiko has its text in a new error
            if error.__context__ is None and not self.remote_version:
                raise NotSshError(str(error)) from error
            raise

    def _log(self, level: int, msg: object, *args: object) -> None:
        """Do nothing, because nobody reads paramiko's log of each connection."""

    def _parse_debug(self, message: Message) -> None:
        """Ignore debug messages from servers; paramiko would write out each byte of them."""


class OpenAuthentication(AuthOnlyHandler):
    """paramiko's part of a login, which stores the methods that a server accepts."""

    def __init__(self, transport: OpenTransport) -> None:
        super().__init__(transport)
        self.accepted: list[str] = []
        """The methods that the server accepts, according to its last refusal."""

    def _parse_userauth_failure(self, message: Message) -> None:
        names = Message(message.asbytes()).get_list()
        self.accepted = [name for name in names if re.fullmatch(r"[A-Za-z0-9@.-]{1,64}", name)]
        super()._parse_userauth_failure(message)  # type: ignore[misc]  # not in the stubs


class OpenPacketizer(Packetizer):
    """paramiko's reader and writer of packets, which reports data before the first packet."""

    def greeted(self, count: int) -> None:
        """Called with the number of bytes that arrived before the first packet."""

    def _read_timeout(self, timeout: float) -> bytes:
        data: bytes = super()._read_timeout(timeout)  # type: ignore[misc]  # not in the stubs
        self.greeted(len(data))
        return data


class OpenAgent(AgentSSH):
    """An agent at any socket; paramiko's own class supports only the agent from the environment."""

    # the stubs leave these out
    _connect: Callable[[socket.socket], None]
    _close: Callable[[], None]

    def connect(self, connection: socket.socket) -> None:
        """Request its keys; SSHException, OSError. After an error, it is not connected."""
        try:
            self._connect(connection)
        except (OSError, paramiko.SSHException):
            connection.close()
            self._conn = None
            raise

    def close(self) -> None:
        """Release the agent."""
        self._close()

    def ask(self, message: Any) -> Any:
        """The answer to a message; SSHException, OSError."""
        return super()._send_message(message)  # type: ignore[misc]  # not in the stubs

    def _send_message(self, msg: Any) -> Any:
        return self.ask(msg)


def without_known_hosts(client: Any) -> None:
    """Prevent a paramiko client from looking up host keys itself, so that its policy is called each
    time.
    """
    client._system_host_keys = client._host_keys = {}


def rooted(config: Any) -> Any:
    """A fabric configuration that knows that it is not part of another one. Without this, each
    access to a setting makes invoke write an error that nobody reads.
    """
    config._set(_root=config, _keypath=())
    return config
