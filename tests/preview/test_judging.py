"""The judge of the corpus tells right predictions from wrong ones."""

import pytest

from .judging import Event, judge, moved_again, not_as_meant, told_in_vain, told_to_undo
from .scenario import Scenario

NAME = "file#/etc/a"


def event(status: str, prediction: str | None = None, to: str = "x", **more: object) -> Event:
    """An event as far as it is judged."""
    changes = [{"what": "content", "from": None, "to": to}] if status == "changed" else []
    said = {"prediction": prediction} if prediction else {}
    kept = {"refreshed": False, "failed": status == "failed", "error": [], "unmet_requirements": []}
    known = {"host": "web1", "type": "file", "name": "/etc/a", "status": status}
    return {**known, **kept, "changes": changes, **said, **more}


@pytest.mark.parametrize(
    ("preview", "push", "kind"),
    [
        (event("changed", "certain"), event("changed"), "exact"),
        (event("changed", "certain", to="y"), event("changed"), "record"),
        (event("stable", "certain"), event("changed"), "wrong"),
        (event("failed", "certain"), event("changed"), "wrong"),
        (event("changed", "certain"), event("changed", refreshed=True), "wrong"),
        (event("changed", "assumed"), event("stable"), "assumed"),
        (event("changed", "unknown"), event("changed"), "unknown"),
    ],
)
def test_a_prediction_falls_into_one_class(preview: Event, push: Event, kind: str) -> None:
    """Status, refresh and records decide, as far as the prediction is certain."""
    scenario = Scenario("area", "name")
    assert [verdict.kind for verdict in judge(scenario, [preview], [push])] == [kind]


def test_a_resource_that_has_no_turn_was_not_foretold() -> None:
    """A certain prediction of a resource of which the push tells nothing is wrong."""
    verdicts = judge(Scenario("area", "name"), [event("changed", "certain")], [])
    assert [verdict.kind for verdict in verdicts] == ["wrong"]


def test_what_only_running_tells_is_no_mistake() -> None:
    """A wrong certain prediction that is marked inherent is counted apart."""
    scenario = Scenario("area", "name", inherent={NAME: "it is decided by a clock"})
    verdicts = judge(scenario, [event("changed", "certain")], [event("failed")])
    assert [(verdict.kind, verdict.missed) for verdict in verdicts] == [("inherent", False)]


def test_a_second_push_is_to_be_stable() -> None:
    """What a second push changes is told unless the scenario says that it may."""
    changed = [event("changed")]
    assert len(moved_again(Scenario("area", "name"), changed)) == 1
    assert moved_again(Scenario("area", "name", again=(NAME,)), changed) == []


def test_a_contradiction_is_to_be_one() -> None:
    """Resources that are told to undo each other move in a second push."""
    said = f"warning: package#a and {NAME} undo each\n  other on every run: /etc/a"
    pairs = told_to_undo(said)
    assert len(told_in_vain(pairs, ())) == 1
    assert told_in_vain(pairs, (NAME,)) == []


def test_a_scenario_comes_to_what_it_is_about() -> None:
    """Failures that are not meant, and meant ones that do not come, are told."""
    assert len(not_as_meant(Scenario("area", "name"), [event("failed")])) == 1
    assert len(not_as_meant(Scenario("area", "name", fails=(NAME,)), [event("stable")])) == 1
    assert not_as_meant(Scenario("area", "name", fails=(NAME,)), [event("failed")]) == []
    open_one = Scenario("area", "name", fails=(NAME,), open={NAME: "a race"})
    assert not_as_meant(open_one, [event("stable")]) == not_as_meant(open_one, [event("failed")])
