"""What came out otherwise is told with what the plan had said."""

from typing import Any

import pytest

from orchestrator.plan_files.prediction_mismatches import NOTHING, Predictions
from tests.orchestrator.plan_files.made import event
from tests.texts import expect_text

MODE = [{"what": "mode", "from": "0600", "to": "0644"}]


def told(**members: Any) -> dict[str, Any]:
    """A file whose mode would be changed."""
    return event("web1", "/a", changes=MODE, **members)


@pytest.mark.parametrize(
    "came",
    [
        {},
        {"changes": [{**MODE[0], "diff": "left out before"}]},
        {"duration": 9, "noop": False, "final_ensure": "present"},
    ],
)
def test_as_predicted(came: dict[str, Any]) -> None:
    """The same status with the same records is what was predicted."""
    assert Predictions([told()]).misprediction({**told(), **came}) == ""


@pytest.mark.parametrize(
    "came",
    [
        {"status": "failed"},
        {"refreshed": True},
        {"changes": []},
        {"changes": [{"what": "mode", "from": "0400", "to": "0644"}]},
    ],
)
def test_otherwise(came: dict[str, Any]) -> None:
    """Anything else is not, and the plan's words say what was to come."""
    words = Predictions([told(prediction="assumed")]).misprediction({**told(), **came})
    assert words == "changed (assumed), mode 0600 → 0644"


def test_hashes_are_told_by_twelve_digits() -> None:
    """The plan's words tell contents by the first digits of their hashes."""
    content = [{"what": "content", "from": "sha256:" + "1" * 64, "to": "sha256:" + "2" * 64}]
    predictions = Predictions([{**told(), "changes": content}])
    came = predictions.misprediction({**told(), "changes": []})
    expect_text(came)


def test_each_turn_has_its_own() -> None:
    """A resource of two manifests is compared turn by turn; one more than planned is told."""
    stable = {**told(), "status": "stable", "changes": []}
    predictions = Predictions([told(), stable])
    assert predictions.misprediction(told()) == ""
    assert predictions.misprediction(told()) == "unchanged"
    assert predictions.misprediction(told()) == NOTHING


def test_what_was_not_there_is_not_told() -> None:
    """A command that was to run has no value before it, and is told as that."""
    command = [{"what": "command", "from": None, "to": "/bin/migrate"}]
    predictions = Predictions([{**told(), "changes": command}])
    assert predictions.misprediction({**told(), "changes": []}) == "changed, command /bin/migrate"
