"""Servers that keep whoever logs in busy, each in its own way (paramiko's, on this machine)."""

from __future__ import annotations

import gc
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import paramiko
import pytest
from paramiko.common import AUTH_SUCCESSFUL, OPEN_SUCCEEDED
from paramiko.message import Message

from orchestrator.transport.credentials import Credentials
from orchestrator.transport.ssh_transport import EagerTransport
from remote_runtime.errors import UnreachableError
from tests.orchestrator.transport.conftest import Connect
from tests.orchestrator.transport.fakes import Host, Phases
from tests.orchestrator.transport.sshd import make_key, public

pytestmark = pytest.mark.timeout(60)


class Trap(paramiko.ServerInterface):
    """Lets everybody in, and does something else at one step, in the thread that reads."""

    def __init__(self, step: str, act: Callable[[Any], None]) -> None:
        self._step, self._act = step, act
        self.transport: Any = None

    def _at(self, step: str) -> None:
        if step == self._step:
            self._act(self.transport)

    def get_allowed_auths(self, username: str) -> str:
        return "password"

    def check_auth_password(self, username: str, password: str) -> int:
        self._at("login")
        return AUTH_SUCCESSFUL

    def check_channel_request(self, kind: str, chanid: int) -> int:
        self._at("session")
        return OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        self._at("command")
        return True


def unknown(transport: Any) -> None:
    """Say what nobody knows, each time to be told so, and read no answer."""
    message = Message()
    message.add_byte(b"\x0e")  # no message has this number
    while transport.active:
        transport._send_message(message)


def asking(transport: Any) -> None:
    """Ask whether the client is alive, again and again, and read no answer."""
    message = Message()
    message.add_byte(b"\x50")  # SSH_MSG_GLOBAL_REQUEST
    message.add_string("keepalive@openssh.com")
    message.add_boolean(True)
    while transport.active:
        transport._send_message(message)


class Server:
    """Serves one trap until it is closed."""

    def __init__(self, directory: Path, trap: Trap) -> None:
        self._trap = trap
        self._key = paramiko.Ed25519Key.from_private_key_file(str(make_key(directory / "host")))
        self._socket = socket.create_server(("127.0.0.1", 0))
        port = self._socket.getsockname()[1]
        known = directory / "known_hosts"
        known.write_text(f"[127.0.0.1]:{port} {public(directory / 'host')}\n")
        self.host = Host(port=port, user="ann", known_hosts=str(known), connect_timeout=2.0)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            transport = paramiko.Transport(connection)
            transport.add_server_key(self._key)
            self._trap.transport = transport
            transport.start_server(event=threading.Event(), server=self._trap)

    def close(self) -> None:
        self._socket.close()
        if self._trap.transport is not None:
            self._trap.transport.close()


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[Trap], Server]]:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    made: list[Server] = []

    def serve(trap: Trap) -> Server:
        made.append(Server(tmp_path, trap))
        return made[-1]

    yield serve
    for server in made:
        server.close()


@pytest.mark.parametrize("act", [unknown, asking])
@pytest.mark.parametrize(
    ("step", "kind"),
    [
        ("login", "transport.lost"),
        ("session", "transport.session"),
        ("command", "transport.bootstrap"),
    ],
)
def test_a_server_that_talks_without_end_is_given_up(
    connect: Connect,
    serve: Callable[[Trap], Server],
    monkeypatch: pytest.MonkeyPatch,
    *,
    step: str,
    kind: str,
    act: Callable[[Any], None],
) -> None:
    """It takes no answers, which is waited for as for a host that says nothing."""
    monkeypatch.setattr("orchestrator.transport.ssh_pipe.SILENCE", 2.0)
    monkeypatch.setattr("orchestrator.transport.ssh_transport.CHANNEL_TIMEOUT", 2.0)
    server = serve(Trap(step, act))
    connector = connect(credentials=Credentials(environ={"CCM_SSH_PASSWORD": "s3cret"}))
    with pytest.raises(UnreachableError) as caught:
        connector.open(server.host, Phases())
    assert caught.value.kind == kind


def hanging(transport: Any) -> None:
    """Say nothing any more."""
    while transport.active:
        time.sleep(0.1)


def connections() -> set[int]:
    """The identities of those that exist; to hold one here would keep it."""
    gc.collect()
    return {id(one) for one in gc.get_objects() if isinstance(one, EagerTransport)}


def test_nothing_is_left_of_a_login_that_fails(
    connect: Connect, serve: Callable[[Trap], Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run over thousands of hosts keeps no connection for each that hangs."""
    monkeypatch.setattr("orchestrator.transport.ssh_login.AUTH_TIMEOUT", 1.0)
    before = connections()
    connector = connect(credentials=Credentials(environ={"CCM_SSH_PASSWORD": "s3cret"}))
    with pytest.raises(UnreachableError):
        connector.open(serve(Trap("login", hanging)).host, Phases())
    until = time.monotonic() + 10  # its thread may still be ending
    while (left := connections() - before) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left
