"""Waiting for what others do."""

import os
import socket

from tests.contract.scenario import SECRET, Scenario
from tests.contract.world import World

STATELESS = True
PASSIVE = True


def file(world: World) -> Scenario:
    """A file that comes while it is waited for."""
    path = world.path("ready")
    return Scenario(
        "ready",
        {"file": path, "interval": "100ms", "timeout": "30s"},
        {"condition": lambda: os.remove(path)},
        meanwhile=lambda: world.write("ready", ""),
    )


def gone(world: World) -> Scenario:
    """A lock that somebody lets go of."""
    path = world.write("lock", "")

    def let_go() -> None:
        if os.path.exists(path):
            os.remove(path)

    return Scenario(
        "unlocked",
        {"ensure": "absent", "file": path, "interval": "100ms", "timeout": "30s"},
        {"condition": lambda: world.write("lock", "")},
        meanwhile=let_go,
    )


def command(world: World) -> Scenario:
    """A command that comes to exit 0."""
    path = world.path("done")
    wait = {"command": f"test -e {path}", "environment": [f"WORD={SECRET}"], "interval": "100ms"}
    return Scenario(
        "done",
        {**wait, "timeout": "30s"},
        {"condition": lambda: os.remove(path)},
        meanwhile=lambda: world.write("done", ""),
    )


class Listener:
    """A port on loopback that comes and goes."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def open(self) -> None:
        if self._socket is None:
            self._socket = socket.create_server(("127.0.0.1", self.port))

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None


def port(world: World) -> Scenario:
    """A port on which somebody begins to listen."""
    listener = Listener()
    world.later.callback(listener.close)
    wait = {"port": listener.port, "interval": "100ms", "timeout": "30s"}
    return Scenario("listening", wait, {"condition": listener.close}, meanwhile=listener.open)


SCENARIOS = (file, gone, command, port)
