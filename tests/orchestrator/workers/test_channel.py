"""Messages between a controller and a worker."""

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from orchestrator.workers.channel import Channel, RpcClient, RpcServer
from remote_runtime.errors import CcmError
from tests.orchestrator.fleet.fakes import FakePlanner


def pair() -> tuple[Channel, Channel]:
    """Both ends."""
    ours, theirs = socket.socketpair()
    return Channel(ours), Channel(theirs)


def test_messages_come_whole_and_in_order() -> None:
    """However the bytes arrive, each text is one message, also a long one and one that is not
    ASCII."""
    ours, theirs = pair()
    said = ["a", "é\t\n", "x" * 1_000_000, '["close"]']

    def say() -> None:
        for text in said:
            ours.send(text)

    thread = threading.Thread(target=say)
    thread.start()
    assert [theirs.receive() for _ in said] == said
    thread.join()


def test_silence_is_no_message() -> None:
    """Nothing within the time is None, and what comes later is not lost."""
    ours, theirs = pair()
    assert theirs.receive(0.01) is None
    ours.send("late")
    assert theirs.receive(60) == "late"


def test_the_end_is_told_apart_from_silence() -> None:
    """Once the other side has hung up what it said is there still, and then the end."""
    ours, theirs = pair()
    ours.send("last")
    ours.close()
    assert theirs.receive() == "last"
    with pytest.raises(EOFError):
        theirs.receive()
    with pytest.raises(BrokenPipeError):
        theirs.send("to nobody")


def test_a_message_that_is_too_large_is_not_read() -> None:
    """Its length is enough to refuse it: nothing of it is held."""
    ours, theirs = socket.socketpair()
    channel = Channel(ours, maximum=10)
    theirs.sendall(b"\0\0\0\x0axxxxxxxxxx\0\0\0\x0b")
    assert channel.receive() == "x" * 10
    with pytest.raises(ValueError, match=r"a message of 11 bytes is too large \(limit 10\)"):
        channel.receive()


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
    """The caller gets an error that names the report."""
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
