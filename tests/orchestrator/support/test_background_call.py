"""No wait of a login outlasts the time that a host has, wherever it hangs."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.fleet.host.phases import Phase
from orchestrator.support.background_call import BackgroundCall, deadline
from orchestrator.transport import Connector, Credentials, Settings, ssh_login, ssh_transport
from orchestrator.transport.handshake import Handshake
from remote_runtime.errors import UnreachableError
from tests.orchestrator.transport.fakes import Host, Phases, image
from tests.orchestrator.transport.hanging import (
    BANNER,
    EXCHANGE,
    LATEST,
    LOGIN,
    PASSES,
    SESSION,
    START,
    UPLOAD,
    Hanging,
)

TIME = 1.0  # seconds that a host has
SESSION_TEXT = "# " + "x" * (1 << 18)  # more than a window takes
IN = [Phase.CONNECTING, Phase.AUTHENTICATING]

Hang = Callable[[str], Hanging]


@pytest.fixture
def hang(tmp_path: Path) -> Iterator[Hang]:
    """Starts servers that hang."""
    servers: list[Hanging] = []

    def start(where: str) -> Hanging:
        servers.append(Hanging(tmp_path / f"server{len(servers)}", where))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def connector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connector]:
    """One whose own bounds nobody lives to see."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setattr(ssh_login, "AUTH_TIMEOUT", LATEST)
    monkeypatch.setattr(ssh_transport, "CHANNEL_TIMEOUT", LATEST)
    defaults = Handshake.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "timeout", LATEST)
    config = tmp_path / "ssh_config"
    config.write_text("")
    with Connector(
        Settings(ssh_config=(config,), connect_timeout=LATEST),
        Credentials(environ={"CCM_SSH_PASSWORD": "s3cret"}),
        image(tmp_path / "home", SESSION_TEXT),
    ) as made:
        yield made


def phases_of(connector: Connector, host: Host) -> list[Phase]:
    """How far a host came, which has so much time."""
    phases, until = Phases(), time.monotonic() + TIME
    with pytest.raises(UnreachableError):
        connector.open(host, phases, until)
    assert time.monotonic() >= until - 0.05
    return list(phases)


@pytest.mark.parametrize(
    ("where", "phases"),
    [
        (BANNER, IN[:1]),
        (EXCHANGE, IN[:1]),
        (LOGIN, IN),
        (SESSION, [*IN, Phase.STARTING]),
        (START, [*IN, Phase.STARTING]),
        (UPLOAD, [*IN, Phase.STARTING]),
    ],
)
def test_a_host_hangs_for_its_time_and_no_longer(
    connector: Connector, hang: Hang, where: str, phases: list[Phase]
) -> None:
    """Each phase up to the runtime's first word ends with it, long before its own bound."""
    assert phases_of(connector, hang(where).host) == phases


def test_a_jump_host_is_waited_for_as_long(
    connector: Connector, hang: Hang, tmp_path: Path
) -> None:
    """Hosts behind one that hangs at the login give up, each in its time; it is opened once."""
    server = hang(LOGIN)
    (tmp_path / "ssh_config").write_text(f"UserKnownHostsFile {server.host.known_hosts}\n")
    jump = f"ann@127.0.0.1:{server.host.port}"
    for _ in range(2):
        assert phases_of(connector, Host(address="192.0.2.1", jump=jump)) == IN[:1]
    assert len(server.taken) == 1


def test_a_slow_jump_host_takes_nothing_of_the_time_of_who_is_behind_it(
    connector: Connector, hang: Hang, tmp_path: Path
) -> None:
    """The bound of a connection begins when there is something to connect through."""
    server = hang(PASSES)
    server.door.slow = 2.0
    (tmp_path / "ssh_config").write_text(f"UserKnownHostsFile {server.host.known_hosts}\n")
    connector = Connector(
        Settings(ssh_config=(tmp_path / "ssh_config",), connect_timeout=1.5),
        Credentials(environ={"CCM_SSH_PASSWORD": "s3cret"}),
        image(tmp_path / "home"),
    )
    host = Host(address="192.0.2.1", jump=f"ann@127.0.0.1:{server.host.port}")
    with connector, pytest.raises(UnreachableError, match="the SSH handshake with"):
        connector.open(host, Phases())


def test_a_name_server_is_waited_for_as_long(
    connector: Connector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The resolver, which has bounds of its own, is left behind."""
    over = threading.Event()
    known: Any = socket.getaddrinfo

    def resolve(*given: Any, flags: int = 0, **more: Any) -> Any:
        if not flags & socket.AI_NUMERICHOST:
            over.wait(LATEST)
        return known(*given, flags=flags, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert phases_of(connector, Host(address="web1.example")) == IN[:1]
    over.set()


def test_a_wait_ends_with_the_first_of_its_bounds() -> None:
    """Its own seconds, or the moment after which the host has none."""
    now = time.monotonic()
    assert deadline(3600, now + 10) == now + 10
    assert deadline(1, now + 3600) < now + 3600
    assert deadline(1, None) >= now + 1


def test_a_call_aside_is_asked_for_by_many() -> None:
    """What it comes to is there for all of them, an error too; who waits in vain is told."""
    go = threading.Event()
    found = BackgroundCall(lambda: go.wait(LATEST) and 7, "seven")
    with pytest.raises(TimeoutError):
        found.wait(time.monotonic())
    assert found.found is None
    go.set()
    assert [found.wait(None), found.wait(time.monotonic() + LATEST), found.found] == [7, 7, 7]
    failed: BackgroundCall[int] = BackgroundCall(lambda: int("x"), "none")
    for _ in range(2):
        with pytest.raises(ValueError, match="'x'"):
            failed.wait(None)
