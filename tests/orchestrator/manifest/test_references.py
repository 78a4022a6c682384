"""Names, aliases and what require and subscribe may name."""

from pathlib import Path

import pytest

from .site import load, refused_resource

GOOD = """
ccm:
  resources:
    - exec:
        - a: {alias: first}
        - "x{{ Data.n }}": {}
        - b: {require: ["exec#a", "exec#first"], subscribe: ["exec#a", "exec#x1"]}
"""


def test_earlier_names_and_aliases_may_be_named(tmp_path: Path) -> None:
    """A name, an alias, and what a template may turn out to be are accepted."""
    assert len(load(tmp_path, GOOD).resources) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- exec:\n    - a: {}\n    - a: {}", "exec#a stands twice, first in"),
        ("- exec:\n    - a: {alias: b}\n    - b: {}", "exec#b stands twice"),
        ("- exec:\n    - a: {alias: c}\n    - b: {alias: c}", "exec#c stands twice"),
        ("- exec:\n    - a: {require: ['exec#b']}\n    - b: {}", "which comes later"),
        ("- exec:\n    - a: {subscribe: ['exec#a']}", "names the resource itself"),
        ("- exec:\n    - abc: {}\n    - b: {require: ['exec#abd']}", "did you mean exec#abc?"),
        ("- exec:\n    - a: {}\n    - b: {require: [a]}", "type#name or type#alias"),
        ("- exec:\n    - a: {}\n    - b: {require: 'exec#a'}", "require must be a list"),
    ],
)
def test_a_bad_reference_is_refused(tmp_path: Path, text: str, words: str) -> None:
    """Duplicates, later, own and unknown references each say what is wrong, once."""
    problems = refused_resource(tmp_path, text)
    assert [words in str(problem) for problem in problems] == [True]
