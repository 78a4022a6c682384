"""Tests of templates."""

import pytest

from orchestrator.expressions import EvaluationError
from tests.orchestrator.expressions.fakes import evaluate
from tests.texts import expect_text


@pytest.mark.parametrize(
    "source",
    [
        "'web1' is match('web')", "not ('aweb' is match('web'))", "'aweb' is search('WEB', true)",
        "'1.10' is version('1.9', '>')", "'1.0' is version('1.0.0', '==')",
        "'1.0rc1' is version('1.0', 'lt')", "'v2' is version('2')",
        "'1.0.1' is version('1.0', '>=')",
        "[] is subset([])", "not ([{'a': 1}] is subset([{'a': 2}]))", "[1, [2]] is superset([[2]])",
        "(['a1', 'b'] | select('search', '[0-9]') | list) == ['a1']",
    ],
)  # fmt: skip
def test_true_ones(source: str) -> None:
    """As Ansible's tests of these names."""
    assert evaluate(source) is True


def test_an_unknown_operator_is_refused() -> None:
    """The message has an example."""
    with pytest.raises(EvaluationError) as refused:
        evaluate("'1' is version('2', '~>')")
    expect_text(refused.value)
