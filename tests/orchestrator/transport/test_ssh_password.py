"""Passwords, against a small SSH server that checks them itself."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import paramiko
import pytest
from paramiko.common import (
    AUTH_FAILED,
    AUTH_SUCCESSFUL,
    OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED,
)
from paramiko.server import InteractiveQuery

from orchestrator.transport import Credentials, ssh_login
from orchestrator.transport.password import REFUSALS
from remote_runtime.errors import UnreachableError
from tests.orchestrator.transport.conftest import Connect
from tests.orchestrator.transport.fakes import Host, Phases
from tests.orchestrator.transport.sshd import make_key, public
from tests.texts import expect_text


class Door(paramiko.ServerInterface):
    """Lets in whoever knows the password, by the methods that are open."""

    def __init__(self, methods: str) -> None:
        self.methods = methods
        self.tried: list[tuple[str, str]] = []
        self.accepted = 0

    def get_allowed_auths(self, username: str) -> str:
        return self.methods

    def check_auth_password(self, username: str, password: str) -> int:
        self.tried.append(("password", password))
        if "password" not in self.methods:
            return AUTH_FAILED
        return self._checked(password)

    def check_auth_interactive(self, username: str, submethods: str) -> int | InteractiveQuery:
        if "keyboard-interactive" not in self.methods:
            return AUTH_FAILED
        return InteractiveQuery("", "", ("Password: ", False))

    def check_auth_interactive_response(self, responses: list[str]) -> int:
        self.tried.append(("keyboard-interactive", responses[0]))
        return self._checked(responses[0])

    def _checked(self, password: str) -> int:
        if password != "s3cret":
            return AUTH_FAILED
        self.accepted += 1
        return AUTH_SUCCESSFUL

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED


class Server:
    """Serves connections until it is closed."""

    def __init__(self, directory: Path, methods: str) -> None:
        self.door = Door(methods)
        self._key = paramiko.Ed25519Key.from_private_key_file(str(make_key(directory / "host")))
        self._socket = socket.create_server(("127.0.0.1", 0))
        port = self._socket.getsockname()[1]
        known = directory / "known_hosts"
        known.write_text(f"[127.0.0.1]:{port} {public(directory / 'host')}\n")
        self.host = Host(port=port, user="ann", known_hosts=str(known), connect_timeout=10.0)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._connection = connection
            transport = paramiko.Transport(connection)
            transport.add_server_key(self._key)
            transport.start_server(event=threading.Event(), server=self.door)

    def hang_up(self) -> None:
        """Break off the connection that came last."""
        self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["password", "keyboard-interactive", "publickey,password"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path, request.param)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)


def attempt(connect: Connect, server: Server, password: str | None) -> UnreachableError:
    """The login, which always fails in the end because the server opens no session."""
    environ = {"CCM_SSH_PASSWORD": password} if password else {}
    connector = connect(credentials=Credentials(environ=environ))
    with pytest.raises(UnreachableError) as caught:
        connector.open(server.host, Phases())
    assert "s3cret" not in str(caught.value)
    return caught.value


def test_a_password_logs_in(connect: Connect, server: Server) -> None:
    """By the password method or, where that is closed, by keyboard-interactive."""
    assert attempt(connect, server, "s3cret").kind == "transport.session"
    assert server.door.accepted == 1


def test_a_wrong_password_is_told_and_tried_once(connect: Connect, server: Server) -> None:
    """The methods that were tried are named."""
    error = attempt(connect, server, "wrong")
    assert error.kind == "transport.auth"
    expect_text(error.message)
    method = "password" if "password" in server.door.methods else "keyboard-interactive"
    assert method in error.message
    assert server.door.tried.count((method, "wrong")) == 1


def test_without_a_password_the_way_out_is_told(connect: Connect, server: Server) -> None:
    """Where the server would take a password, --ask-pass is the advice."""
    error = attempt(connect, server, None)
    expect_text(error.message)
    if "password" in server.door.methods.split(","):
        assert "--ask-pass" in error.hint or server.door.tried == []


class _Stalling(Door):
    """Never says whether the password is right, or breaks off in the middle."""

    def __init__(self, cut: bool) -> None:
        super().__init__("password")
        self.over = threading.Event()
        self.cut = cut
        self.server: Server | None = None

    def check_auth_password(self, username: str, password: str) -> int:
        if self.cut and self.server is not None:
            self.server.hang_up()
        self.over.wait(60)
        return AUTH_FAILED


@pytest.mark.parametrize(
    ("cut", "kind", "words"),
    [
        (False, "transport.silent", "did not respond to the login"),
        (True, "transport.lost", "closed the connection during the login"),
    ],
)
def test_a_login_without_an_answer_is_no_refusal(
    connect: Connect, tmp_path: Path, cut: bool, kind: str, words: str
) -> None:
    """A server that stalls or hangs up neither let us in nor refused, and that is what is told."""
    server = Server(tmp_path, "password")
    server.door = door = _Stalling(cut)
    door.server = server
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssh_login, "AUTH_TIMEOUT", 0.5)
        error = attempt(connect, server, "s3cret")
    door.over.set()
    server.close()
    assert (error.kind, words in error.message) == (kind, True)
    assert "no other methods" not in error.message
    expect_text(error.hint)


def test_a_wrong_password_does_not_lock_the_fleet_out(connect: Connect, tmp_path: Path) -> None:
    """After a few refusals no other host sees it."""
    server = Server(tmp_path, "password")
    connector = connect(credentials=Credentials(environ={"CCM_SSH_PASSWORD": "wrong"}))
    messages: list[str] = []
    for _ in range(REFUSALS + 2):
        with pytest.raises(UnreachableError) as caught:
            connector.open(Host(**{**server.host.__dict__, "name": f"h{len(messages)}"}), Phases())
        messages.append(str(caught.value))
    server.close()
    assert len(server.door.tried) == REFUSALS
    expect_text(messages[-1])
