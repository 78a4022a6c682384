"""One host of a verify, and many side by side."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.fleet.rollout import Rollout
from orchestrator.verify.visiting import visit_all
from remote_runtime.errors import UnreachableError


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
    rollouts: list[Rollout[Any]] = []
    members: list[Any] = [Member("web1", lambda: rollouts[0].interrupt())]
    with pytest.raises(KeyboardInterrupt):
        visit_all(members, 1, keep=False, watch=rollouts.append)


def test_each_host_that_has_answered_is_counted() -> None:
    """The count grows by one with each, however it ended."""
    counts: list[int] = []
    members: list[Any] = [Member("web1"), Member("web2")]
    found = visit_all(members, 1, keep=False, asked=counts.append)
    assert counts == [1, 2]
    assert {name: str(one.error) for name, one in found.items()} == {
        "web1": "the connection was lost",
        "web2": "the connection was lost",
    }
