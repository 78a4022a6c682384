"""A connection that one thread reads whenever it waits, between two ends of a socket."""

from __future__ import annotations

import gc
import socket
import threading
import weakref
from collections.abc import Iterator

import paramiko
import pytest

from orchestrator.transport.ssh_transport import UnthreadedTransport


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    here, there = socket.socketpair()
    there.settimeout(30)
    with here, there:
        yield here, there


def test_a_server_that_says_nothing_is_waited_for_as_long_as_said(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    here, there = ends
    session = UnthreadedTransport(here, 30)
    session.start_client(timeout=0.05)
    assert there.recv(8).startswith(b"SSH-2.0-")
    assert session.is_alive()
    with pytest.raises(paramiko.SSHException, match="No existing session"):
        session.get_remote_server_key()
    session.close()
    session.done_with()
    assert not session.is_alive()


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n" * 200, b"SSH-1.5-old\r\n", b""])
def test_what_is_no_ssh_is_told(ends: tuple[socket.socket, socket.socket], said: bytes) -> None:
    here, there = ends
    there.sendall(said)
    there.shutdown(socket.SHUT_WR)
    session = UnthreadedTransport(here, 30)
    with pytest.raises((paramiko.SSHException, EOFError)):
        session.start_client(timeout=30)
    assert not session.is_alive()
    assert not session.active


def test_another_thread_ends_a_wait(ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = ends
    told: list[Exception] = []
    made: list[UnthreadedTransport] = []

    def negotiate() -> None:
        session = UnthreadedTransport(here, 30)
        made.append(session)
        try:
            session.start_client(timeout=30)
        except (paramiko.SSHException, EOFError) as error:
            told.append(error)

    waiting = threading.Thread(target=negotiate)
    waiting.start()
    assert there.recv(8).startswith(b"SSH-2.0-")  # it has begun
    here.shutdown(socket.SHUT_RDWR)
    made[0].close()
    made[0].done_with()
    waiting.join(30)
    assert len(told) == 1
    assert not made[0].is_alive()


def test_nothing_is_left_of_a_connection_that_is_done_with(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    """Not even for as long as it takes Python to look for what refers to each other."""
    here, _ = ends
    gc.disable()
    try:
        session = UnthreadedTransport(here, 30)
        session.start_client(timeout=0.05)
        session.close()
        session.done_with()
        left = weakref.ref(session.loop)
        del session
        assert left() is None
    finally:
        gc.enable()
