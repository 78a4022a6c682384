"""Regular expressions of templates."""

from typing import Any

import pytest

from orchestrator.expressions import EvaluationError
from tests.orchestrator.expressions.fakes import evaluate


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("'aXbX' | regex_replace('x', '-', ignorecase=true, count=1)", "a-bX"),
        ("'a\nb' | regex_replace('^', '> ', multiline=true)", "> a\n> b"),
        ("'k=v' | regex_replace('(?P<k>\\\\w)=(?P<v>\\\\w)', '\\\\g<v>\\\\n\\\\g<1>')", "v\nk"),
        ("'é1' | regex_replace('é', '\\\\\\\\')", "\\1"),
        ("'abc' | regex_search('b.')", "bc"),
        ("'abc' | regex_search('x')", None),
        ("'a=1' | regex_search('(.)=(.)', '\\\\2', '\\\\1')", ["1", "a"]),
        ("'a=1 b=2' | regex_findall('(.)=(.)')", [["a", "1"], ["b", "2"]]),
        ("'aA' | regex_findall('a', ignorecase=true)", ["a", "A"]),
        ("'aaa' | regex_replace('^(a+)+$', 'x')", "x"),
        ("'/a b.c' | regex_escape", "/a\\ b\\.c"),
        ("'x/a b' is search('a b' | regex_escape)", True),
    ],
)
def test_matches(source: str, value: Any) -> None:
    """As Ansible's filters of these names."""
    assert evaluate(source) == value


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("'a' | regex_search('(a')", "write \\( for the character"),
        ("'a' | regex_search('a(?=b)')", "look-around is not supported"),
        ("'a' | regex_replace('a', '\\\\3')", "the pattern has no group 3"),
        ("'a' | regex_search('a', 'x')", "takes groups such as"),
        ("1 | regex_search('a')", "takes text, not a number"),
        ("'a' | regex_replace('a', 'b', nope=1)", "nope"),
    ],
)
def test_mistakes(source: str, told: str) -> None:
    """A mistake says what was expected."""
    with pytest.raises(EvaluationError) as caught:
        evaluate(source)
    assert told in str(caught.value)
