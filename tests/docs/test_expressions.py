"""Each row of the tables on expressions and on expr-lang is true."""

from typing import Any

import pytest

from docs import expressions
from docs.expressions import DIFFERENCES, JINJA, OPERATORS
from orchestrator.expressions import EvaluationError, Expression
from orchestrator.language.exprlang.builtins import FUNCTIONS, REFUSED
from orchestrator.language.exprlang.now_function import METHODS
from orchestrator.language.exprlang.parser import PRECEDENCE
from remote_runtime.errors import InputError
from tests.docs.pages import DOCS
from tests.orchestrator.expressions.fakes import evaluate

PAGE = (DOCS / "reference" / "other-languages" / "expr-lang.md").read_text(encoding="utf-8")


def value(source: str) -> tuple[Any, type]:
    found = evaluate(source, data={"web": {"port": 80}})
    return found, type(found)


@pytest.mark.parametrize("row", JINJA + OPERATORS, ids=lambda row: row.signs[0])
def test_every_example_of_an_operator_has_its_result(row: expressions.Operator) -> None:
    """The example gives the result that stands beside it, and holds one of the signs."""
    assert value(row.example) == value(row.result)
    assert any(sign in row.example for sign in row.signs)


@pytest.mark.parametrize("row", DIFFERENCES, ids=lambda row: row.expression)
def test_every_difference_is_as_documented(row: expressions.Difference) -> None:
    """Where the languages differ, ccm gives what the page says."""
    if row.here:
        assert value(row.expression) == value(row.here)
    else:
        with pytest.raises((EvaluationError, InputError)):
            evaluate(row.expression)


def test_every_operator_that_is_read_is_documented() -> None:
    """No operator is left out of the table but // which is refused."""
    documented = {sign for row in OPERATORS for sign in row.signs}
    assert set(PRECEDENCE) - documented == {"//"}


@pytest.mark.parametrize("word", REFUSED)
def test_every_refused_function_says_what_to_write_instead(word: str) -> None:
    """What the last table lists is refused before any host, with the hint of the table."""
    with pytest.raises(InputError) as caught:
        Expression.parse(f"{word}('a') && true")
    (problem,) = caught.value.problems
    assert f"{word}() is not supported here" in problem.message
    assert problem.hint == REFUSED[word] != ""
    assert word not in FUNCTIONS


@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_now_is_documented_and_there(method: str) -> None:
    """The page names each method, and each can be called."""
    assert f"`{method}(" in PAGE
    assert value(f"now().{method}({chr(39) + chr(39) if method == 'Format' else ''}) != nil")[0]


@pytest.mark.parametrize("text", ["42", "0x2A", "0o52", "0b101010"])
def test_every_form_of_a_number_is_read(text: str) -> None:
    """The forms of whole numbers that the page lists are the same number."""
    assert f"`{text}`" in PAGE
    assert value(f"[{text}, len(``)]") == ([42, 0], list)
