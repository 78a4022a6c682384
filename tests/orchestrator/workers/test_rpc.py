"""What planners of workers ask those of the controller."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from orchestrator.workers.rpc import RpcClient, RpcServer
from remote_runtime.errors import CcmError
from tests.orchestrator.fleet.fakes import FakePlanner


class AskingPlanner(FakePlanner):
    """Knows something, or asks another one that does."""

    def __init__(self, knows: str = "") -> None:
        super().__init__([])
        self.knows = knows
        self.ask: Any = None
        self.asked: list[Any] = []

    def forward_to(self, ask: Any) -> None:
        self.ask = ask

    def answer(self, question: Any) -> Any:
        self.asked.append(question)
        if question == "broken":
            raise ZeroDivisionError
        return [self.knows, question]


def joined(here: list[Any], there: list[Any]) -> RpcClient:
    """The questions of planners here to those there, of which each answer comes as it may."""
    answers = RpcServer(there)
    questions = RpcClient(
        lambda number, asked: answers.begin(asked, lambda told: questions.receive(number, told))
    )
    questions.forward(here)
    return questions


def test_each_planner_asks_its_like() -> None:
    """Those that ask nothing have no place among them; many may ask at the same time."""
    here: list[Any] = [AskingPlanner(), FakePlanner([]), AskingPlanner()]
    there = [AskingPlanner("one"), FakePlanner([]), AskingPlanner("two")]
    joined(here, there)
    assert [here[0].ask(1), here[2].ask([2])] == [["one", 1], ["two", [2]]]
    with ThreadPoolExecutor(8) as threads:
        told = list(threads.map(here[0].ask, range(100)))
    assert told == [["one", number] for number in range(100)]


def test_who_asks_waits_and_nobody_else() -> None:
    """A slow answer holds up neither other questions nor who hears them."""
    go = threading.Event()

    class Slow(AskingPlanner):
        def answer(self, question: Any) -> Any:
            assert go.wait(300)
            return "at last"

    here = [AskingPlanner(), AskingPlanner()]
    joined(here, [Slow(), AskingPlanner("quick")])
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(here[0].ask, "x")
        assert here[1].ask("y") == ["quick", "y"]
        assert not slow.done()
        go.set()
        assert slow.result(300) == "at last"


def test_a_defect_in_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asked is told of it, and of where more is written."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    here = [AskingPlanner()]
    joined(here, [AskingPlanner()])
    with pytest.raises(CcmError, match=f"internal error in ccm, see {tmp_path}") as caught:
        here[0].ask("broken")
    assert caught.value.kind == "defect"


def test_an_invalid_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker with a forbidden question gets an error, and no crash report is written."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    class Refusing(AskingPlanner):
        """Refuses all questions."""

        def answer(self, question: Any) -> Any:
            raise CcmError("not for a worker", "protocol")

    here = [AskingPlanner()]
    joined(here, [Refusing()])
    with pytest.raises(CcmError, match="not for a worker"):
        here[0].ask("x")
    assert not list(tmp_path.rglob("*"))


def test_what_nobody_asks() -> None:
    """A planner that there is not has no answer."""
    with pytest.raises(LookupError):
        RpcServer([FakePlanner([])]).begin([0, "x"], print)
