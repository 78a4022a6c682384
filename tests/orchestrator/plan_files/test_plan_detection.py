"""A plan is told from a manifest."""

from pathlib import Path

from orchestrator.plan_files.plan_detection import is_plan
from orchestrator.plan_files.storage import write_plan
from tests.orchestrator.plan_files.made import keep


def test_a_plan_is_known_by_its_ending_or_by_how_it_begins(tmp_path: Path) -> None:
    """What is not there is known by its name alone."""
    path = tmp_path / "kept.json"
    write_plan(keep(tmp_path), str(path))
    assert is_plan(str(path))
    assert is_plan(str(tmp_path / "missing.plan"))
    assert not is_plan(str(tmp_path / "site.yaml"))
    assert not is_plan(str(tmp_path / "missing.yaml"))
