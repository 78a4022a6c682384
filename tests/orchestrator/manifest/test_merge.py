"""How trees of data are laid over one another."""

from typing import Any

import pytest

from orchestrator.manifest.merge import Merging, merge_base, merge_key


def laid(merging: Merging, data: dict[str, Any], *overrides: dict[str, Any]) -> dict[str, Any]:
    """The data with the overrides over it, each of them wanted."""
    found = merge_base(merging, data)
    for override in overrides:
        for key, value in override.items():
            merge_key(merging, key, found, value)
    return found


def test_unique_joins_lists_without_repetition() -> None:
    """Each element stands once, also those of data alone; 1 and true and "1" are three."""
    merging = Merging("deep", {"a": "unique"})
    assert laid(merging, {"a": [1, 1], "b": [1]}, {"a": [True, "1", 1, {"x": 1}]}) == {
        "a": [1, True, "1", {"x": 1}],
        "b": [1],
    }
    assert laid(merging, {"a": [{"x": 1}]}, {"a": [{"x": 1}, [2], [2]]}) == {"a": [{"x": 1}, [2]]}


@pytest.mark.parametrize("strategy", ["deep", "unique"])
def test_a_knockout_removes_elements_and_keys(strategy: str) -> None:
    """--x removes x of what lies below, -- as a value removes the key, at any depth."""
    merging = Merging(strategy, {}, "--")
    below = {"list": ["a", 5, True, "b"], "map": {"x": 1, "y": {"z": 2, "l": [1]}}, "gone": 1}
    above = {"list": ["--a", "--5", "--true", "c"], "map": {"y": {"z": "--"}}, "gone": "--"}
    assert laid(merging, below, above) == {
        "list": ["b", "c"],
        "map": {"x": 1, "y": {"l": [1]}},
    }


def test_marks_are_never_in_the_result() -> None:
    """A mark that finds nothing to remove, or stands where all is replaced, vanishes."""
    for strategy in ("first", "deep", "unique"):
        merging = Merging(strategy, {}, "--")
        assert laid(merging, {"a": 1}, {"a": ["--x", "y"], "b": {"c": "--", "d": ["--e"]}}) == {
            "a": ["y"],
            "b": {"d": []},
        }


def test_without_a_knockout_nothing_is_a_mark() -> None:
    """Options of a command may begin with dashes."""
    merging = Merging("deep")
    assert laid(merging, {"a": ["-v"]}, {"a": ["--x"], "b": "--"}) == {
        "a": ["-v", "--x"],
        "b": "--",
    }


def test_what_is_laid_over_is_not_changed() -> None:
    """Data is shared by all hosts."""
    below: dict[str, Any] = {"a": {"l": [1, 2]}}
    assert laid(Merging("deep", {}, "--"), below, {"a": {"l": ["--1"]}}) == {"a": {"l": [2]}}
    assert below == {"a": {"l": [1, 2]}}
