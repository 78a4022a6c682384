"""Conditions on the counters of a plan."""

import pytest

from orchestrator.plan_files.conditions import Condition, evaluate, parse_conditions
from orchestrator.plan_files.counters import COUNTERS
from remote_runtime.errors import UsageError


def test_a_list_of_conditions() -> None:
    """Blanks do not matter."""
    assert parse_conditions(" removes>0 , reboots >= 3", "--deny") == [
        Condition("removes", ">", 0),
        Condition("reboots", ">=", 3),
    ]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [("hosts>2", False), ("hosts>=2", True), ("hosts<3", True), ("hosts<=1", False),
     ("hosts==2", True), ("hosts!=2", False)],
)  # fmt: skip
def test_operators(condition: str, holds: bool) -> None:
    """Each compares as it does everywhere."""
    (one,) = parse_conditions(condition, "--deny")
    assert str(one) == condition
    assert one.holds({"hosts": 2}) is holds


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("removes>0,rebots>3", "unknown counter 'rebots' at character 11", "did you mean reboots?"),
        ("zzz>0", "unknown counter 'zzz' at character 1", "counters: removes, package_removes"),
        ("removes", "expected an operator at character 8", "use >, >=, <, <=, == or !="),
        ("removes=>0", "an operator at character 8, not '=>'", "use >, >="),
        ("removes>x", "expected a number at character 9, not 'x'", "write COUNTER>NUMBER"),
        ("removes>-1", "expected a number at character 9, not '-1'", "write COUNTER>NUMBER"),
        ("removes>", "expected a number at character 9", "write COUNTER>NUMBER"),
        (">0", "expected a counter at character 1", "counters: removes"),
        ("removes>0,", "expected a condition at character 11, but there is none", "write"),
        ("", "expected a condition at character 1, but there is none", "write"),
        ("hosts > 3 x", "expected a condition at character 1, not 'hosts > 3 x'", "write"),
        ("\x1b[31mred>0", "unknown counter 'red' at character 1", "counters: removes"),
        (",".join(["hosts>1"] * 101), "more than 100 conditions", "use fewer"),
    ],
)
def test_mistakes(text: str, message: str, hint: str) -> None:
    """A mistake is refused with its place and what to write: it must never let a plan pass."""
    with pytest.raises(UsageError) as error:
        parse_conditions(text, "--deny")
    assert message in error.value.message
    assert hint in error.value.hint


def test_what_no_condition_sees_is_named() -> None:
    """What cannot be counted is part of the answer, unless a condition is about it."""
    counters = {**dict.fromkeys(COUNTERS, 0), "unknown": 2, "left_out": 1}
    verdict = evaluate(counters, parse_conditions("removes>0,left_out>5", "--deny"))
    assert (verdict.denied, verdict.uncounted) == ([], ["unknown"])
    verdict = evaluate(counters, parse_conditions("unknown>0", "--deny"))
    assert list(map(str, verdict.denied)) == ["unknown>0"]
    assert verdict.uncounted == ["left_out"]
