"""A run of the corpus goes on where it was interrupted."""

from pathlib import Path

from .judging import EXACT, Verdict
from .kept_results import KeptResults
from .running import Result
from .scenario import Scenario

ONE = Scenario("files", "one", resources=[{"file": [{"/a": {}}]}])
TWO = Scenario("files", "two", resources=[{"file": [{"/b": {}}]}])


def result_of(scenario: Scenario) -> Result:
    """One with a verdict and a fault."""
    event = {"host": "web1", "status": "changed", "changes": []}
    verdict = Verdict(scenario.name, "web1", "file#/a", EXACT, True, False, event, None)
    return Result(scenario, [verdict], unstable=["it moved again"])


def test_what_has_run_is_not_run_again(tmp_path: Path) -> None:
    """The results come out of the file as they went in, and the other scenarios are left."""
    path = tmp_path / "results"
    KeptResults(path).add(result_of(ONE))
    known, left = KeptResults(path).left([ONE, TWO])
    assert known == [result_of(ONE)]
    assert left == [TWO]


def test_a_changed_scenario_and_a_cut_line_run_again(tmp_path: Path) -> None:
    """What was written last may be cut off, and what is added behind it counts."""
    path = tmp_path / "results"
    KeptResults(path).add(result_of(ONE))
    path.write_text(path.read_text()[:-20])
    assert KeptResults(path).left([ONE]) == ([], [ONE])
    KeptResults(path).add(result_of(ONE))
    assert KeptResults(path).left([ONE]) == ([result_of(ONE)], [])
    changed = Scenario("files", "one", setup="true", resources=ONE.resources)
    assert KeptResults(path).left([changed]) == ([], [changed])
