"""What is done while a connection is being made."""

import contextlib
import socket
import threading
import time

import pytest

from orchestrator.transport import Credentials, ssh_connect
from orchestrator.transport.tcp_connect import dial
from remote_runtime.errors import UnreachableError
from tests.orchestrator.transport.conftest import Connect
from tests.orchestrator.transport.fakes import Host, Phases

LONG = 60.0


def test_other_hosts_are_dialed_while_the_libraries_are_loaded(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One host waits for them, all have their packets under way."""
    loading = threading.Event()

    class Slow(ssh_connect.Dialer):
        def __init__(self, credentials: Credentials) -> None:
            loading.wait(4 * LONG)
            super().__init__(credentials)

    monkeypatch.setattr(ssh_connect, "Dialer", Slow)
    connector = connect()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(LONG)
        host = Host(port=server.getsockname()[1], connect_timeout=LONG)

        def log_in() -> None:
            with contextlib.suppress(UnreachableError):
                connector.login(host, Phases())

        threads = [threading.Thread(target=log_in, daemon=True) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in threads:
            server.accept()[0].close()
    loading.set()
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive()


def test_a_connection_that_comes_late_is_waited_for() -> None:
    """A server with no room makes the client ask again, seconds later."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        address = server.getsockname()
        with socket.create_connection(address):  # has the only place
            threading.Timer(0.2, server.accept).start()
            with dial(*address, family="inet", deadline=time.monotonic() + LONG) as late:
                assert late.getpeername() == address


def test_a_port_that_takes_no_connection_is_given_up() -> None:
    """The deadline holds while the server's queue is full."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        address = server.getsockname()
        with socket.create_connection(address), pytest.raises(UnreachableError) as caught:
            dial(
                *address,
                family="inet",
                deadline=time.monotonic() + 0.2,
            )
    assert "connection timed out" in caught.value.message
