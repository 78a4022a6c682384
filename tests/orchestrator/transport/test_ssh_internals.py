"""Failures that paramiko tells apart by text only have classes of their own."""

import socket
import threading

import paramiko
import pytest

from orchestrator.transport import ssh_packets
from orchestrator.transport.ssh_internals import EndlessGreetingError, NotSshError, preferred_first
from orchestrator.transport.ssh_transport import EagerTransport


def failure(said: bytes) -> Exception:
    """What a connection ends with to a server that says this and hangs up."""
    here, there = socket.socketpair()
    with here, there:
        there.sendall(said)
        there.shutdown(socket.SHUT_WR)
        session = EagerTransport(here, 30)
        with pytest.raises((paramiko.SSHException, EOFError)) as caught:
            session.start_client(timeout=30)
        session.join(30)
        return caught.value


def test_a_server_of_another_protocol_is_told_from_one_that_hangs_up() -> None:
    """The one is no SSH server, the other may be overloaded."""
    assert type(failure(b"HTTP/1.1 400 Bad Request\r\n" * 200)) is NotSshError
    assert type(failure(b"")) is EOFError
    assert type(failure(b"SSH-1.5-old\r\n")) is paramiko.ssh_exception.IncompatiblePeer


def test_a_greeting_that_does_not_end_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssh_packets, "MAX_GREETING_LENGTH", 100)
    assert type(failure(b"a" * 200)) is EndlessGreetingError


def test_whoever_waits_for_the_handshake_learns_of_an_end_by_another_thread() -> None:
    """Also where the thread of the connection finds that it has ended already."""
    here, there = socket.socketpair()
    with here, there:
        session = EagerTransport(here, 30)
        told: list[Exception] = []

        def negotiate() -> None:
            try:
                session.start_client(timeout=30)
            except (paramiko.SSHException, OSError, EOFError) as error:
                told.append(error)

        waiting = threading.Thread(target=negotiate)
        waiting.start()
        assert there.recv(8).startswith(b"SSH-2.0-")
        session.active = False  # as a close has it, before the thread looks
        session.hang_up()
        waiting.join(10)
        assert len(told) == 1


def test_the_wanted_names_come_first_where_they_are_known() -> None:
    assert preferred_first(["a", "b", "c"], "c", "x") == ("c", "a", "b")
