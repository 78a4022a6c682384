"""Servers and a scratch home for the transport's tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.transport import Connector, Credentials, Settings
from tests.orchestrator.transport.fakes import image
from tests.orchestrator.transport.sshd import Sshd

StartSshd = Callable[..., Sshd]
Connect = Callable[..., Connector]


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """A server that the tests of a module share and do not change."""
    server = Sshd(tmp_path_factory.mktemp("sshd"), kinds=("ed25519", "ecdsa", "rsa"))
    yield server
    server.stop()


@pytest.fixture
def start_sshd(tmp_path: Path) -> Iterator[StartSshd]:
    """Starts servers of a test's own."""
    servers: list[Sshd] = []

    def start(*options: str, **keywords: Any) -> Sshd:
        directory = tmp_path / f"sshd{len(servers)}"
        servers.append(Sshd(directory, *options, **keywords))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def ssh_config(tmp_path: Path) -> Path:
    """An SSH configuration, empty at first, that is used in place of the user's."""
    path = tmp_path / "ssh_config"
    path.write_text("")
    return path


@pytest.fixture
def connect(tmp_path: Path, ssh_config: Path) -> Iterator[Connect]:
    """Makes connectors whose targets have a scratch home and a tiny runtime."""
    (tmp_path / "home").mkdir()
    made: list[Connector] = []

    def make(
        settings: dict[str, object] | None = None,
        credentials: Credentials | None = None,
    ) -> Connector:
        options: dict[str, Any] = {"ssh_config": (ssh_config,), **(settings or {})}
        made.append(
            Connector(
                Settings(**options),
                credentials or Credentials(environ={}),
                image(tmp_path / "home"),
            )
        )
        return made[-1]

    yield make
    for connector in made:
        connector.close()
