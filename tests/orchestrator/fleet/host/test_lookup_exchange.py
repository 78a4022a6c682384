"""Asking a host before its plan is made, over the link that told the facts."""

from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.fleet.host.framed_link import FramedLink
from orchestrator.fleet.host.host_facts import HostFacts, NeedAnswersError
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.host.protocol import gather, greet_then
from remote_runtime.errors import CcmError, PlanError, ProtocolError
from tests.orchestrator.fleet.fakes import FakeLink, FarEnd
from tests.texts import expect_text

QUESTIONS = {"a": {"kind": "stat", "of": "/a"}, "b": {"kind": "file", "of": "/b"}}


def needing(*rounds: dict[str, Any]) -> Callable[[HostFacts], HostFacts]:
    """What comes of the facts once these questions are answered, one round after the other."""

    def then(gathered: HostFacts) -> HostFacts:
        for questions in rounds:
            if not set(questions) <= set(gathered.answers or ()):
                raise NeedAnswersError(questions)
        return gathered

    return then


def answered(script: Callable[[FarEnd], Any], *rounds: dict[str, Any]) -> HostFacts:
    """What a host has told in the end."""
    entered: list[Phase] = []
    link = FramedLink(FakeLink(script))
    found = greet_then(link, entered.append, needing(*rounds))
    assert entered == [Phase.GATHERING]
    return found


def test_a_host_is_asked_all_at_once() -> None:
    """And answers over the same link; facts and answers are there in the end. What a text may not
    contain leaves a mark, so that no path becomes another one."""
    received: list[Any] = []

    def script(far: FarEnd) -> None:
        far.greet()
        received.append(far.await_message("ask")["questions"])
        far.say("notice", level="info", text="hm")
        far.say("answers", answers=[{"exists": False}, {"error": "denied\x07 there"}])
        received.append(far.await_message("ask")["questions"])
        text = "a\x1bb\tc\r\n/tmp/.\x01./.\x1b[m./.\u200e./.\udcff./etc"
        far.say("answers", answers=[{"exit_code": 0, "stdout": text}])

    more = {"c": {"kind": "command", "of": "x"}}
    found = answered(script, QUESTIONS, more)
    assert received == [list(QUESTIONS.values()), list(more.values())]
    assert found.facts == {"host": {"info": {"os": "linux"}}}
    assert found.answers is not None
    assert found.answers["a"] == {"exists": False}
    assert found.answers["b"] == {"error": "denied there"}
    marked = "/.\ufffd." * 4
    assert found.answers["c"]["stdout"] == f"a\ufffdb\tc\n/tmp{marked}/etc"


def test_who_needs_nothing_is_not_asked() -> None:
    """The conversation is what it was."""

    def script(far: FarEnd) -> None:
        far.greet()
        far.await_message("bye")
        assert far.seen == ["bye"]

    assert gather(FramedLink(FakeLink(script))).answers == {}


def test_facts_are_gathered_with_answers() -> None:
    """For a command that makes no run: the host is let go then."""

    def script(far: FarEnd) -> None:
        far.greet()
        far.await_message("ask")
        far.say("answers", answers=[{"exists": True}, {"exists": True}])
        far.await_message("bye")

    def require(gathered: HostFacts) -> None:
        needing(QUESTIONS)(gathered)

    found = gather(FramedLink(FakeLink(script)), require=require)
    assert set(found.answers or ()) == {"a", "b"}


@pytest.mark.parametrize(
    "answers",
    [None, [], [{}], [{}, {}, {}], [{}, 1], [{}, {"x": [1]}], [{}, {"x": {}}], [{}, {"x": 1.5}],
     [{}, {str(number): 1 for number in range(50)}]],
)  # fmt: skip
def test_what_is_no_answer_ends_the_host(answers: Any) -> None:
    """A stranger's answers have their form, or the host is broken off."""

    def script(far: FarEnd) -> None:
        far.greet()
        far.await_message("ask")
        far.say("answers", answers=answers)

    with pytest.raises(ProtocolError):
        answered(script, QUESTIONS)


def test_a_host_that_ends_meanwhile_says_why() -> None:
    """What else it says is not taken."""

    def failing(far: FarEnd) -> None:
        far.greet()
        far.await_message("ask")
        far.say("done", events=0, cancelled=False, error={"kind": "x", "message": "no room"})

    with pytest.raises(PlanError) as refused:
        answered(failing, QUESTIONS)
    expect_text(refused.value)

    def odd(far: FarEnd) -> None:
        far.greet()
        far.await_message("ask")
        far.say("event", seq=1, event={})

    with pytest.raises(ProtocolError) as raised:
        answered(odd, QUESTIONS)
    expect_text(raised.value)


def test_there_is_an_end_to_asking() -> None:
    """At most 64 lookups, in as many rounds as there are."""

    def script(far: FarEnd) -> None:
        far.greet()
        while True:
            questions = far.await_message("ask")["questions"]
            far.say("answers", answers=[{"exists": True}] * len(questions))

    rounds = [{f"{at}": {"kind": "stat", "of": f"/{at}"}} for at in range(65)]
    with pytest.raises(CcmError) as refused:
        answered(script, *rounds)
    expect_text(refused.value)
