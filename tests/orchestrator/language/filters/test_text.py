"""Comments, quotes, JSON and YAML."""

from typing import Any

import pytest

from orchestrator.expressions import EvaluationError
from tests.orchestrator.expressions.fakes import evaluate


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("'a\n\nb' | comment", "#\n# a\n#\n# b\n#"),
        ("'a' | comment(prefix='', postfix='')", "# a\n"),
        ("'a\n' | comment(prefix='\n', postfix_count=0)", "\n# a\n# "),
        ("'a' | comment('xml')", "<!--\n -\n - a\n -\n-->"),
        ("'a' | comment('cblock')", "/*\n *\n * a\n *\n */"),
        ("'a' | comment(decoration='; ', prefix_count=2)", ";\n;\n; a\n;"),
        ("[1, 'a b'] | quote", "'[1, \"a b\"]'"),
        ("'a  b' | split", ["a", "b"]),
        ("'a,b,c' | split(',', 2)", ["a", "b,c"]),
        ("'é' | to_json", '"é"'),
        ("{'b': 1, 'a': 2} | to_json(sort_keys=true)", '{"a": 2, "b": 1}'),
        ("['no', '0644', 'é', 1.5, true] | to_nice_yaml", "- 'no'\n- '0644'\n- é\n- 1.5\n- true\n"),
        ("[[1], [1]] | to_nice_yaml", "-   - 1\n-   - 1\n"),
        ("['aa bb cc dd ee'] | to_nice_yaml(width=10)", "- aa bb cc dd\n    ee\n"),
        ("['a b ' * 30] | to_nice_yaml(width=999)", f"- '{'a b ' * 30}'\n"),
        ("'a: no' | from_yaml", {"a": "no"}),
        ("{'a': {'b': [1, 'x']}} | to_nice_yaml | from_yaml", {"a": {"b": [1, "x"]}}),
    ],
)
def test_texts(source: str, value: Any) -> None:
    """As Ansible's filters of these names."""
    assert evaluate(source) == value


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("'a' | comment('x')", "comment takes plain"),
        ("'a' | comment(foo='x')", "comment has no 'foo'"),
        ("'{' | from_json", "this is not JSON"),
        ("'[NaN]' | from_json", "this is not JSON: NaN is not a number"),
        ("('[' * 9999) | from_json", "this is not JSON"),
        ("'a: [' | from_yaml", "this is not YAML"),
        ("'a: &a [1]\nb: !!python/object:x {}' | from_yaml", "this is not YAML"),
        ("lookup | to_json", "to_json takes text, numbers, lists and maps"),
        ("1 | comment", "comment takes text"),
    ],
)
def test_mistakes(source: str, told: str) -> None:
    """A mistake says what was expected."""
    with pytest.raises(EvaluationError) as caught:
        evaluate(source)
    assert told in str(caught.value)
