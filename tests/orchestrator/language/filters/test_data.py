"""Filters of lists and maps."""

from typing import Any

import pytest

from orchestrator.expressions import EvaluationError
from tests.orchestrator.expressions.fakes import evaluate


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("[{'a': 1}, {'b': 2}] | combine", {"a": 1, "b": 2}),
        ("{'a': {'x': 1}} | combine({'a': {'y': 1}})", {"a": {"y": 1}}),
        ("{'a': [1, 2]} | combine({'a': [2, 3]}, list_merge='append_rp')", {"a": [1, 2, 3]}),
        ("{'a': [1]} | combine({'a': [2]}, list_merge='prepend')", {"a": [2, 1]}),
        ("{'a': [1]} | combine({'a': [2]}, list_merge='keep')", {"a": [1]}),
        ("[{'n': 'a', 'v': 1}] | items2dict('n', 'v')", {"a": 1}),
        ("[1] | zip([2, 3], [4])", [[1, 2, 4]]),
        ("[] | product([1])", []),
        ("[[1, [2]], [none]] | flatten(skip_nulls=false)", [1, 2, None]),
        ("[{'a': 1}, {'a': 1}] | union([{'a': 2}])", [{"a": 1}, {"a": 2}]),
        ("[1, 1, 2] | difference([2])", [1]),
        ("none | ternary(1, 2, 3)", 3),
        ("1 | ternary(true_val='a', false_val='b')", "a"),
        ("none | ternary('a', 'b', none_val='c')", "c"),
        ("Data.nope | d(default_value='x')", "x"),
        ("'ccm' | hash(hashtype='md5')", "b42f1990c0cee8758b64584877d69b93"),
        ("'off' | bool", False),
        ("none | bool", False),
        ("1 | bool", True),
        ("'strict' | bool(false)", False),
        ("'yes' | bool(false)", True),
        ("'a' | extract({'a': {'b': [5]}}, ['b', 0])", 5),
        ("'' | d('x', true)", "x"),
        ("59 | random(seed='web1')", 52),
        ("60 | random(start=10, step=5, seed='db2')", 15),
        ("['a', 'b', 'c', 'd'] | random(seed='web1')", "c"),
        ("24 | random(seed=7)", 10),
    ],
)
def test_lists_and_maps(source: str, value: Any) -> None:
    """As Ansible's filters of these names."""
    assert evaluate(source) == value


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("Data.nope | mandatory", "'nope' is mandatory but not set"),
        ("Data.nope | mandatory('set it')", "set it"),
        ("Data.nope | mandatory(msg='set it')", "set it"),
        ("'x' | bool", "bool takes yes, no"),
        ("[1] | combine({})", "combine takes a map, not a number"),
        ("{} | combine({}, list_merge='x')", "combine takes one of replace"),
        ("[{'a': 1}] | items2dict", "items2dict takes maps with 'key'"),
        ("1 | zip([])", "zip takes a list, not a number"),
        ("'x' | extract({'y': 1})", "there is no key 'x'"),
        ("9 | random", "random needs a seed"),
        ("[] | random(seed='a')", "random takes a list with entries"),
        ("5 | random(start=5, seed='a')", "there is no number from 5 to 5"),
    ],
)
def test_mistakes(source: str, told: str) -> None:
    """A mistake says what was expected."""
    with pytest.raises(EvaluationError) as caught:
        evaluate(source)
    assert told in str(caught.value)


def test_nothing_is_changed() -> None:
    """The data that all hosts share stays as it is."""
    data = {"m": {"a": {"x": [1]}}}
    source = "Data.m | combine({'a': {'x': [2]}}, recursive=true, list_merge='append')"
    assert evaluate(source, data=data) == {"a": {"x": [1, 2]}}
    assert data == {"m": {"a": {"x": [1]}}}
