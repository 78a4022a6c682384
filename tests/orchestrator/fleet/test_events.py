"""The steps of a rollout, as the run's directory keeps them."""

from pathlib import Path

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet.store.run_directory import RunDirectory
from orchestrator.fleet.store.stored_runs import saved_run

STEPS: list[run_events.RolloutStep] = [
    run_events.RolloutPlanned((("a",), ("b", "c")), 0, {"waves": "1"}, "ccm push"),
    run_events.WaveStarted(1, 1.5),
    run_events.GateAsked(1, "verify", 2.0, 3.0),
    run_events.GateAnswered(1, "verify", False, "no", ("a",), 2.5),
    run_events.RolloutHeld("gate", "no", ("b", "c"), 2.6),
]


def test_each_step_is_read_back_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report knows of a rollout what the run knew, whole also where ccm was killed."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    directory = RunDirectory(run_events.RunStarted("run", 0.0, ("a", "b", "c"), False), {})
    for step in STEPS:
        directory.handle(step)
    kept = saved_run("run")
    assert list(kept.rollout()) == STEPS
    with open(kept.path / "rollout.jsonl", "a", encoding="utf-8") as file:
        file.write('{"step": "RolloutHe')
    assert list(kept.rollout()) == STEPS
