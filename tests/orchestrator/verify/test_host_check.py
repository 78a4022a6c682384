"""One host of a verify, and many side by side."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.fleet.window import Window
from orchestrator.verify.checks.file import expectations
from orchestrator.verify.host_check import _without_secrets, verify_all
from orchestrator.verify.observation import observe
from orchestrator.verify.subject import Subject
from remote_runtime.errors import UnreachableError
from remote_runtime.reporting.masking import Mask
from tests.orchestrator.verify.fakes import Script


class Member:
    """A host whose visit does ``turn`` and then loses its connection."""

    def __init__(self, name: str, turn: Any = lambda: None) -> None:
        self.name = name
        self._turn = turn

    def plan(self) -> Any:
        self._turn()
        raise UnreachableError("the connection was lost")

    def abandon(self) -> None:
        pass

    close = forget = abandon


def test_an_interrupt_is_no_news_of_a_host() -> None:
    """A host whose connection was closed by Ctrl-C was not lost."""
    windows: list[Window[Any]] = []
    members: list[Any] = [Member("web1", lambda: windows[0].interrupt())]
    with pytest.raises(KeyboardInterrupt):
        verify_all(members, 1, keep=False, watch=windows.append)


def test_each_host_that_has_answered_is_counted() -> None:
    """The count grows by one with each, however it ended."""
    counts: list[int] = []
    members: list[Any] = [Member("web1"), Member("web2")]
    found = verify_all(members, 1, keep=False, asked=counts.append)
    assert counts == [1, 2]
    assert {name: str(one.error) for name, one in found.items()} == {
        "web1": "the connection was lost",
        "web2": "the connection was lost",
    }


def test_no_command_shows_a_secret() -> None:
    """What would have a secret in its arguments is not run, which fails the check and is told."""
    script, mask = Script({}), Mask(["hunter2"])
    for properties in ({"owner": "root"}, {"ensure": "absent"}):
        check = expectations(Subject("/srv/hunter2", properties))
        (found,) = observe("web1", [check], _without_secrets(script.read_all, mask), mask)
        assert any(not one.holds and "show a secret" in one.instead for one in found)
    assert not any("hunter2" in command for asked in script.rounds for command in asked)
