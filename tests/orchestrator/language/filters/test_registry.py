"""What is looked at before and after each filter."""

import pytest

from orchestrator.expressions import EvaluationError, FactsUnavailableError
from orchestrator.language.filters import FILTERS
from tests.orchestrator.expressions.fakes import evaluate
from tests.orchestrator.language.jinja.fakes import failure, text

LISTS = ("union", "intersect", "difference", "symmetric_difference", "zip", "product", "extract")
CALLS = {
    **dict.fromkeys(("regex_replace", "regex_search", "regex_findall"), "('a')"),
    **dict.fromkeys(LISTS, "([])"),
    "combine": "({})",
    "ternary": "(1, 2)",
}
BIG = "('x' * 9000000)"


@pytest.mark.parametrize("name", sorted(FILTERS))
def test_a_missing_value_is_an_error(name: str) -> None:
    """But for those that answer for it."""
    if name == "d":
        assert evaluate("Data.nope | d(1)") == 1
    else:
        needed = {
            "regex_replace": "('a')",
            "combine": "({})",
            "ternary": "(1, 2)",
            "extract": "([])",
        }
        needed.update(dict.fromkeys(["regex_search", "regex_findall"], "('a')"))
        call = needed.get(name, "([])" if name in ("union", "intersect", "difference") else "")
        call = call or ("([])" if name in ("symmetric_difference", "zip", "product") else "")
        with pytest.raises(EvaluationError, match="nope"):
            evaluate(f"Data.nope | {name}{call}")


def test_a_fact_that_is_not_known_stays_so() -> None:
    """A filter of what a preview does not know tells just that."""
    for source in ("Facts.cpu | to_json", "Facts | to_yaml", "Facts | dict2items"):
        with pytest.raises(FactsUnavailableError):
            evaluate(source)


@pytest.mark.parametrize(
    "source",
    [
        f"[{BIG}, {BIG}] | to_json",
        f"[{BIG}, {BIG}] | to_nice_yaml",
        f"{BIG} | regex_replace('x', 'yy')",
        f"{BIG} | regex_replace('x', '\\\\0\\\\0\\\\0') ",
        f"{BIG} | b64encode | b64encode | b64encode",
        "[range(9999) | list, range(9999) | list] | product(range(9999) | list)",
        "range(9999) | product(range(9999))",
        f"[{BIG}, 1] | product([1, 2, 3])",
        "('x\n' * 4000000) | comment(decoration='xxxxxxxxx')",
        "'a\nb' | comment(prefix_count=10 ** 9)",
        "[1] | to_nice_json(indent=10 ** 9)",
        "[[1]] | to_nice_yaml(indent=99)",
        '("\'" * 9000000) | quote',
    ],
)
def test_results_are_bounded(source: str) -> None:
    """No filter makes more than an expression may."""
    with pytest.raises(EvaluationError) as caught:
        evaluate(source)
    told = str(caught.value)
    assert any(words in told for words in ("at most", "too large", "indents by", "below"))


@pytest.mark.parametrize(
    "source",
    [
        "{% set a = range(9999) | list %}{% set b = [a, a, a, a] %}{% set c = [b, b, b, b] %}"
        "{{ [c, c, c, c, c, c, c, c] | to_nice_yaml }}",
        "{% set a = range(9999) | list %}{% for i in range(9999) %}{% set x = a | to_yaml %}"
        "{% endfor %}",
        "{% set a = 'x' * 99999 %}{% for i in range(9999) %}{% set x = a | regex_findall('x') %}"
        "{% endfor %}",
        "{% for i in range(9999) %}{% set x = 'a' | password_hash %}{% endfor %}",
    ],
)
def test_what_filters_cost_in_a_loop_is_counted(source: str) -> None:
    """Shared lists count each time, and each call counts by what it is given."""
    assert "at most" in failure(source) or "steps" in failure(source)


def test_filters_take_what_other_filters_give_one_by_one() -> None:
    """A generator is a list to them."""
    assert text("{{ ['a', 'b'] | map('upper') | to_json }}") == '["A", "B"]'
    assert text("{{ ['a1', 'b'] | map('regex_replace', '[0-9]', '') | join }}") == "ab"
