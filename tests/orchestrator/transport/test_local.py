"""An interpreter of this machine that is started before its program."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from orchestrator.transport import Connector, Credentials, Settings
from orchestrator.transport.local import WaitingInterpreter
from remote_runtime.errors import UsageError
from tests.orchestrator.children import assert_over, children, expect_soon
from tests.orchestrator.transport.fakes import Host, Phases, image, local

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc lists the children")


def started(connector: Connector, *hosts: Host) -> set[int]:
    """The processes that preparing for the hosts starts."""
    before = children()
    connector.prepare(hosts)
    return children() - before


def reads_its_input(pid: int) -> bool:
    """Whether a process has nothing to do but to wait for its standard input."""
    return Path(f"/proc/{pid}/wchan").read_text() in ("pipe_read", "anon_pipe_read")


def connector_of(home: Path, settings: Settings | None = None) -> Connector:
    home.mkdir(exist_ok=True)
    return Connector(settings or Settings(), Credentials(environ={}), image(home))


def test_the_runtime_runs_in_the_interpreter_that_waited(tmp_path: Path) -> None:
    """It has touched nothing before the host is opened, and then becomes the runtime."""
    connector = connector_of(tmp_path / "home")
    with connector:
        waiting = started(connector, local())
        assert len(waiting) == 1
        expect_soon(lambda: reads_its_input(*waiting))
        assert not list((tmp_path / "home").iterdir())
        link = connector.open(local(), Phases())
        assert waiting <= children()
        assert link.receive(10).startswith(os.fsencode(sys.executable))
        second = connector.open(local(), Phases())
        assert second.receive(10).startswith(os.fsencode(sys.executable))
        second.close()
        link.close()
    assert_over(waiting)


def test_the_runtime_may_start_before_the_host_is_opened(tmp_path: Path) -> None:
    """A run that begins with other hosts leaves the interpreter waiting."""
    with connector_of(tmp_path / "home") as connector:
        waiting = started(connector, local(), Host())
        connector.begin([Host(), local(python="python3")])
        expect_soon(lambda: reads_its_input(*waiting))
        assert not list((tmp_path / "home").iterdir())
        connector.begin([local()])
        expect_soon(lambda: list((tmp_path / "home").iterdir()))
        link = connector.open(local(), Phases())
        assert link.receive(10).startswith(os.fsencode(sys.executable))
        link.close()
    assert_over(waiting)


def test_a_runtime_that_nobody_opens_ends_with_the_run(tmp_path: Path) -> None:
    """A run may be refused after its runtime has started."""
    connector = connector_of(tmp_path / "home")
    waiting = started(connector, local())
    connector.begin([local()])
    connector.close()
    assert_over(waiting)


def test_an_interpreter_that_waits_already_is_used(tmp_path: Path) -> None:
    """A connector starts none if it has one."""
    before = children()
    waiting = WaitingInterpreter()
    first = children() - before
    (tmp_path / "home").mkdir()
    made = image(tmp_path / "home")
    with Connector(Settings(), Credentials(environ={}), made, waiting) as connector:
        assert not started(connector, local())
        connector.open(local(), Phases()).close()
        assert_over(first)


def test_it_ends_without_a_program(tmp_path: Path) -> None:
    """Closing the connector, or a start of worker processes, ends the interpreter."""
    for end in (Connector.close, Connector.share):
        connector = connector_of(tmp_path / "home")
        waiting = started(connector, local())
        assert waiting
        end(connector)
        assert_over(waiting)


@pytest.mark.parametrize(
    ("host", "settings"),
    [
        (local(python="/usr/bin/python3"), Settings()),
        (local(become=True), Settings()),
        (local(), Settings(become="web")),
    ],
)
def test_only_our_own_interpreter_waits(tmp_path: Path, host: Host, settings: Settings) -> None:
    """A host with another user or interpreter starts its own when it is opened."""
    assert not started(connector_of(tmp_path / "home", settings), host)


def test_refused_input_starts_nothing(tmp_path: Path) -> None:
    """Without a terminal for a password, no interpreter is started."""
    credentials = Credentials(ask_become_pass=True, environ={})
    connector = Connector(Settings(), credentials, image(tmp_path))
    before = children()
    with pytest.raises(UsageError):
        connector.prepare([local()])
    assert children() == before
