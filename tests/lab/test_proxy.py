"""The delay proxy, in front of a small server on loopback and of a real sshd."""

from __future__ import annotations

import contextlib
import hashlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from . import DelayProxy, Lab
from .test_host import ssh


@pytest.fixture
def echo() -> Iterator[int]:
    """The port of a server that greets with `hello`, then sends back what it gets."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer(connection: socket.socket) -> None:
        with connection, contextlib.suppress(ConnectionResetError):
            connection.sendall(b"hello")
            while data := connection.recv(65536):
                connection.sendall(data)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def connect(proxy: DelayProxy) -> socket.socket:
    """Connect to a proxy; what is waited for comes within ten seconds."""
    return socket.create_connection((proxy.host, proxy.port), timeout=10)


def receive(connection: socket.socket, count: int) -> bytes:
    """Receive exactly so many bytes."""
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            break
        data += part
    return data


def test_each_way_takes_the_delay(echo: int) -> None:
    """The greeting comes two round trips after connecting, each answer one after its question."""
    with DelayProxy("127.0.0.1", echo, 0.05) as proxy:
        began = time.monotonic()
        with connect(proxy) as connection:
            assert receive(connection, 5) == b"hello"
            assert time.monotonic() - began >= 0.2
            for _ in range(3):
                began = time.monotonic()
                connection.sendall(b"x")
                assert receive(connection, 1) == b"x"
                assert time.monotonic() - began >= 0.1


def test_much_data_arrives_whole(echo: int) -> None:
    """Twenty megabytes arrive whole and in order."""
    data = hashlib.sha256(b"seed").digest() * (20 * 1024 * 1024 // 32)
    with DelayProxy("127.0.0.1", echo, 0.025) as proxy, connect(proxy) as connection:
        receive(connection, 5)
        threading.Thread(target=connection.sendall, args=(data,), daemon=True).start()
        assert (
            hashlib.sha256(receive(connection, len(data))).digest() == hashlib.sha256(data).digest()
        )


def test_bytes_are_counted_in_both_directions(echo: int) -> None:
    """What clients sent and received is known, whatever becomes of the connection."""
    with DelayProxy("127.0.0.1", echo) as proxy:
        with socket.create_connection(("127.0.0.1", proxy.port), 10) as connection:
            connection.sendall(b"x" * 1000)
            received = 0
            while received < 1005:
                received += len(connection.recv(65536))
        assert (proxy.sent, proxy.received) == (1000, 1005)


def test_an_orderly_end_is_passed_on(echo: int) -> None:
    """When the client has said all, it still gets all answers, then the end."""
    with DelayProxy("127.0.0.1", echo, 0.01) as proxy, connect(proxy) as connection:
        connection.sendall(b" world")
        connection.shutdown(socket.SHUT_WR)
        assert receive(connection, 100) == b"hello world"


def test_many_connections_share_the_proxy(echo: int) -> None:
    """A hundred connections are served side by side."""
    with DelayProxy("127.0.0.1", echo, 0.05) as proxy:
        connections = [connect(proxy) for _ in range(100)]
        for connection in connections:
            assert receive(connection, 5) == b"hello"
            connection.close()
        assert proxy.connections == 100


def test_the_first_connections_can_be_reset(echo: int) -> None:
    """As many as asked for are reset before the greeting, the next one is served."""
    with DelayProxy("127.0.0.1", echo, reset_first=2) as proxy:
        for _ in range(2):
            with pytest.raises(ConnectionResetError), connect(proxy) as connection:
                connection.recv(1)
        with connect(proxy) as connection:
            assert receive(connection, 5) == b"hello"


def test_a_connection_can_break_in_the_middle(echo: int) -> None:
    """After so many bytes from the target the connection is reset."""
    with DelayProxy("127.0.0.1", echo, drop_after=7) as proxy, connect(proxy) as connection:
        assert receive(connection, 5) == b"hello"
        connection.sendall(b"abcdef")
        with pytest.raises(ConnectionResetError):
            receive(connection, 3)


def test_a_black_hole_swallows_until_it_is_lifted(echo: int) -> None:
    """Nothing comes through and nothing is closed; afterwards what was under way arrives."""
    with DelayProxy("127.0.0.1", echo) as proxy, connect(proxy) as connection:
        assert receive(connection, 5) == b"hello"
        proxy.black_hole = True
        connection.sendall(b"late")
        connection.settimeout(0.3)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        proxy.black_hole = False
        connection.settimeout(10)
        assert receive(connection, 4) == b"late"


def test_ssh_through_the_proxy_keeps_strict_host_keys(lab: Lab) -> None:
    """known_hosts knows a host at its proxy too, and the way there is longer."""
    host = lab.hosts["web3"]
    with lab.proxy(host, delay_seconds=0.025) as proxy:
        began = time.monotonic()
        done = ssh(lab, "root", proxy.host, "hostname", proxy.port)
        assert done.stdout == "web3\n", done.stderr
        assert time.monotonic() - began > 0.3
