"""``Asked`` as templates see it: an answer is found when it is read."""

from typing import Any

import pytest

from orchestrator.language.errors import NoAnswerError
from orchestrator.language.lookup_answers import Answers

ANSWERS: dict[str, dict[str, Any]] = {
    "java": {"stdout": "17"},
    "conf": {"exists": True, "list": [1]},
}


def asked(names: tuple[str, ...] = ("java", "conf", "bad")) -> tuple[Answers, list[str]]:
    """What a template sees, and the lookups that were found so far."""
    found: list[str] = []

    def find(name: str) -> dict[str, object]:
        found.append(name)
        if name == "bad":
            raise NoAnswerError(name, "it is broken")
        return dict(ANSWERS[name])

    return Answers(names, find), found


def test_an_answer_is_found_once_and_when_it_is_read() -> None:
    """What nobody reads is not looked for."""
    seen, found = asked()
    assert seen["java"]["stdout"] == "17"
    assert "java" in seen
    assert seen.get("java") == {"stdout": "17"}
    assert found == ["java"]
    assert len(seen) == 3


def test_one_without_an_answer_refuses_to_be_read() -> None:
    """Also where a default stands behind it, and where all are read."""
    seen, _ = asked()
    for read in (
        lambda: seen["bad"],
        lambda: seen.get("bad", ""),
        lambda: "bad" in seen,
        lambda: list(seen),
    ):
        with pytest.raises(NoAnswerError, match=r"Asked\.bad has no answer: it is broken"):
            read()


def test_one_that_nobody_declares_is_a_mistake() -> None:
    """It is not empty, not even in data, where what is missing is."""
    seen, _ = asked(("java",))
    with pytest.raises(NoAnswerError, match="declares no such lookup"):
        seen.get("jave")
    assert list(seen) == list(seen.keys()) == ["java"]
    assert dict(seen.items()) == {"java": {"stdout": "17"}}
    assert "17" in repr(seen)
    assert list(seen.values()) == [{"stdout": "17"}]


def test_a_copy_is_not_changed_by_another_one() -> None:
    """A template that can change maps has its own."""
    seen, found = asked(("java", "conf"))
    assert seen["conf"]["list"] == [1]
    copied = seen.copied()
    copied["conf"]["list"].append(2)
    assert seen["conf"]["list"] == [1]
    assert copied["java"] == {"stdout": "17"}
    assert found == ["conf", "java"]
