"""One host of a verify, and many side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.fleet.sliding_window import Window
from orchestrator.verify.checks.file import expectations
from orchestrator.verify.expectation import Expectation
from orchestrator.verify.host_check import _without_secrets, observe, verify_all
from orchestrator.verify.subject import Subject
from remote_runtime.errors import CcmError, UnreachableError
from remote_runtime.reporting.masking import Mask
from tests.orchestrator.verify.fakes import Said, Script


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


def files(count: int) -> list[list[Expectation]]:
    owned = {"owner": "root", "group": "root", "mode": "0644", "content": "x"}
    return [expectations(Subject(f"/etc/f{n}", owned)) for n in range(count)]


def test_a_hundred_resources_cost_two_round_trips() -> None:
    """What chooses testinfra's modules is one, all the questions of all resources the other."""
    answers: dict[str, Said] = {}
    for n in range(100):
        path = f"/etc/f{n}"
        answers |= {f"stat -c %F -- {path}": (0, "regular file")}
        answers |= {f"stat -Lc {what} {path}": (0, "root") for what in ("%U", "%G")}
        answers |= {f"stat -Lc %a {path}": (0, "644")}
        answers |= {f"test -f {path} && sha256sum <{path}": (0, "0  -")}
    script = Script(answers)
    found = observe("web1", files(100), script.read_all)
    assert len(script.rounds) == 2
    assert len(script.rounds[1]) == 500
    assert [one.holds for one in found[99]] == [True, False, True, True, True]


def saying(told: str) -> Callable[[Any], str]:
    """Finds the same on each host."""
    return lambda host: told


def test_a_secret_at_the_cut_is_masked() -> None:
    """What was found is masked whole before it is cut."""
    for before in range(180, 205):
        told = "x" * before + "s3cret-value and more"
        one = Expectation("x", "y", saying(told), lambda found: False)
        ((answer,),) = observe("web1", [[one]], Script({}).read_all, Mask(["s3cret-value"]))
        assert "s3c" not in answer.instead


def test_an_odd_answer_is_no_defect_of_ours() -> None:
    """Where testinfra cannot make sense of what a host says, the check fails, and only that."""
    odd = {"uname -s": (1, ""), "cat /etc/os-release": (1, "")}
    (answers,) = observe("web1", files(1), Script({}, odd).read_all)
    assert all(answer.instead.startswith("no result (") for answer in answers)

    nothing: Any = None

    def find(host: object) -> str:
        return str(nothing.missing)  # a bug of the user

    with pytest.raises(AttributeError):
        observe("web1", [[Expectation("x", "y", find, bool)]], Script({}).read_all)


def test_nothing_to_ask_costs_nothing() -> None:
    """A host whose plan holds nothing to look at is not asked."""
    script = Script({})
    assert observe("web1", [], script.read_all) == []
    assert [commands for commands in script.rounds if commands] == []


def test_a_chain_of_questions_is_followed() -> None:
    """A module may ask one thing after another; each is answered once."""

    def find(host: Any) -> str:
        text = "a"
        while len(text) < 5:
            text = host.check_output(f"echo {text}a")
        return text

    script = Script({f"echo {'a' * n}": (0, "a" * n) for n in range(2, 6)})
    (answers,) = observe("web1", [[Expectation("x", "y", find, bool)]], script.read_all)
    assert answers[0].holds
    assert [len(commands) for commands in script.rounds] == [4, 1, 1, 1, 1]


def test_questions_without_end_are_a_defect() -> None:
    """A question that asks for something new for ever is not followed for ever."""
    seen = iter(range(1000))

    def find(host: Any) -> Any:
        return host.check_output(f"echo {next(seen)}")

    with pytest.raises(CcmError, match="never finish") as caught:
        observe("web1", [[Expectation("x", "y", find, bool)]], Script({}).read_all)
    assert caught.value.kind == "defect"


def test_a_lost_host_ends_it() -> None:
    """What the connection raises comes through testinfra's modules unchanged."""

    def lost(commands: object) -> list[Any]:
        raise UnreachableError("gone")

    with pytest.raises(UnreachableError):
        observe("web1", files(1), lost)
