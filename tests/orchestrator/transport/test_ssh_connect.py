"""What the connections of a run share."""

import gc
import time
import weakref
from typing import Any

import fabric
import paramiko
import pytest

from orchestrator.transport.connection_settings import Settings
from orchestrator.transport.route import Router
from orchestrator.transport.ssh_connect import new_connection
from tests.orchestrator.transport.conftest import Connect
from tests.orchestrator.transport.fakes import Host, Phases
from tests.orchestrator.transport.sshd import Sshd


class Counted:
    """Stands for a function and counts its calls."""

    def __init__(self, real: Any) -> None:
        self.real = real
        self.calls = 0

    def __call__(self, *given: Any, **named: Any) -> Any:
        self.calls += 1
        return self.real(*given, **named)


def test_connections_share_a_configuration_that_none_of_them_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So it is merged for none of them either, and each has its own attributes."""
    router = Router(Settings())
    first = new_connection(router.route(Host(address="192.0.2.1")), timeout=1)
    config = first.config
    before = dict(config)
    merge = Counted(fabric.Config.merge)
    monkeypatch.setattr(fabric.Config, "merge", lambda self: merge(self))
    made = [
        new_connection(router.route(Host(address=f"192.0.2.{n}")), timeout=n) for n in range(2, 9)
    ]
    assert all(one.config is config for one in made)
    assert [one.connect_kwargs["timeout"] for one in made] == list(range(2, 9))
    assert [one.host for one in made] == [f"192.0.2.{n}" for n in range(2, 9)]
    made[0].inline_ssh_env = "its own"
    assert made[1].inline_ssh_env is True
    assert dict(config) == before
    assert merge.calls == 0


def test_settings_are_looked_up_without_errors_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    route = Router(Settings()).route(Host(address="192.0.2.1"))
    new_connection(route, timeout=1)
    composed: list[object] = []

    def listed(one: object) -> list[str]:
        composed.append(one)
        return dir(one)

    monkeypatch.setattr("invoke.config.dir", listed, raising=False)
    new_connection(route, timeout=1)
    assert composed == []


def test_a_login_writes_nothing_to_the_configuration(sshd: Sshd, connect: Connect) -> None:
    """Whatever fabric looks up there on the way."""
    config = new_connection(Router(Settings()).route(sshd.host()), timeout=1).config
    before = dict(config)
    connect().open(sshd.host(), Phases()).close()
    assert dict(config) == before


def test_a_key_is_parsed_once_for_all_hosts(
    sshd: Sshd, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read from its file for the first host of a run, and by the others used as it is."""
    parse = Counted(paramiko.PKey.from_path)
    monkeypatch.setattr(paramiko.PKey, "from_path", parse)
    connector = connect()
    for _ in range(3):
        connector.open(sshd.host(), Phases()).close()
    assert parse.calls == 1


def test_a_closed_connection_is_gone_without_being_looked_for(sshd: Sshd, connect: Connect) -> None:
    """Nothing of it refers to each other in a circle, nor to who was told of its phases."""
    connector, phases = connect(), Phases()
    connector.open(sshd.host(), phases).close()  # what is loaded on the way may be left
    gc.disable()
    try:
        link = connector.open(sshd.host(), phases)
        pipe: Any = link._pipe
        held = [weakref.ref(pipe._channel.get_transport()), weakref.ref(pipe._channel)]
        link.close()
        told = weakref.ref(phases)
        del link, pipe, phases
        until = time.monotonic() + 60  # its thread ends by itself
        while any(ref() is not None for ref in held) and time.monotonic() < until:
            time.sleep(0.01)
        assert [ref() for ref in held] == [None, None]
        assert told() is None
    finally:
        gc.enable()
