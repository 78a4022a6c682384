"""Names, aliases and what require and subscribe may name."""

from pathlib import Path

import pytest

from ..site import load, refused_resource

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
        ("- exec:\n    - a: {}\n    - a: {}", "exec#a is defined twice, first at"),
        ("- exec:\n    - a: {alias: b}\n    - b: {}", "exec#b is defined twice"),
        ("- exec:\n    - a: {alias: c}\n    - b: {alias: c}", "exec#c is defined twice"),
        ("- exec:\n    - a: {require: ['exec#b']}\n    - b: {}", "which comes later"),
        ("- exec:\n    - a: {subscribe: ['exec#a']}", "refers to the resource itself"),
        ("- exec:\n    - abc: {}\n    - b: {require: ['exec#abd']}", "did you mean exec#abc?"),
        ("- exec:\n    - abe: {require: ['exec#abd']}", "use an earlier resource"),
        ("- exec:\n    - a: {}\n    - b: {require: [a]}", "type#name or type#alias"),
        ("- exec:\n    - b: {require: ['exec#']}", "type#name or type#alias"),
        ("- exec:\n    - a: {}\n    - b: {require: 'exec#a'}", "require must be a list"),
    ],
)
def test_a_bad_reference_is_refused(tmp_path: Path, text: str, words: str) -> None:
    """Duplicates, later, own and unknown references each say what is wrong, once."""
    problems = refused_resource(tmp_path, text)
    assert [words in str(problem) for problem in problems] == [True]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('- "x{{ Data.n }}": {}\n- b: {require: ["exec#x{{ Data.n }}"]}', 5, 25),
        ('- "x{{ Data.n }}": {}\n- b: {subscribe: ["exec#a", "exec#${ Data.n }"]}', 5, 37),
        ('- b: {require: ["{{ Data.type }}#x"]}', 4, 25),
        ('- b: {require: ["{{ Data.all }}"]}', 4, 25),
        ('- b: {require: "{{ Data.all }}"}', 4, 24),
    ],
)
def test_a_template_in_a_reference_is_refused(
    tmp_path: Path, text: str, line: int, column: int
) -> None:
    """References are never rendered: that is said before any host is asked, and what to do."""
    lines = "".join(f"    {entry}\n" for entry in text.splitlines())
    (problem,) = refused_resource(tmp_path, f"- exec:\n    - a: {{}}\n{lines}")
    assert problem.where is not None
    assert problem.where[1:] == (line + 1, column)
    assert "is not rendered as a template" in problem.message
    assert "alias" in problem.hint


def test_a_name_that_only_looks_like_a_template_may_be_named(tmp_path: Path) -> None:
    """With render: false the braces belong to the name."""
    text = "{'a {{ b }}': {render: false}}, {c: {require: ['exec#a {{ b }}']}}"
    assert len(load(tmp_path, f"ccm: {{resources: [{{exec: [{text}]}}]}}").resources) == 2
