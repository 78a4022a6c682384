"""What both languages have means the same to both readers, and what Jinja2 reads stays Jinja2's."""

import random
from collections import Counter
from functools import partial
from typing import Any

import pytest
from jinja2 import TemplateError

from orchestrator.expressions import Expression
from orchestrator.expressions.compiled_expression import Program
from orchestrator.expressions.scope import FUNCTIONS
from orchestrator.language.builtin_names import VARIABLES
from orchestrator.language.errors import EvaluationError
from orchestrator.language.expression_checks import Vocabulary, static_problems
from orchestrator.language.exprlang.compiler import read
from orchestrator.language.sandbox import sandbox
from remote_runtime.errors import InputError
from tests.orchestrator.expressions.fakes import scope

VOCABULARY = Vocabulary(
    sandbox(False), (*VARIABLES, *FUNCTIONS, "range", "dict"), (), lambda call: []
)
DATA = {"n": 3, "f": 1.5, "t": "ab", "on": True, "list": [3, 1, 2], "map": {"a": 1}, "nil": None}
VALUES = [
    "Data.n", "Data.f", "Data.t", "Data.on", "Data.list", "Data.map", "Data.nil", "Data.nope",
    "Data.list[0]", "Data.list[-1]", "Data.list[1:]", "Data.map.a", "Data['t']", "Data.t.upper()",
    "lookup('data.n')", "lookup('data.nope', 7)", "1", "2.5", "0", "'x'", '"y"', "true", "none",
    "[1, 'a']", "{'a': 2}", "(1, 2)", "1_0", "0x1f", "Data.list.0", "range(3)",
]  # fmt: skip
BINARY = [
    "+", "-", "*", "/", "%", "**", "~", "==", "!=", "<", ">", "<=", ">=", "in", "not in", "and",
    "or",
]  # fmt: skip
FILTERS = [
    "upper",
    "length",
    "default('d')",
    "truncate(3)",
    "sort",
    "list",
    "string",
    "first",
    "abs",
]
TESTS = ["defined", "none", "not none", "string", "number", "divisibleby 2", "sameas(1)"]


def _made(chance: random.Random, depth: int) -> str:
    """An expression that Jinja2 can read."""
    if depth == 0:
        return chance.choice(VALUES)
    kind = chance.random()
    inner = _made(chance, depth - 1)
    if kind < 0.5:
        return f"{inner} {chance.choice(BINARY)} {_made(chance, depth - 1)}"
    if kind < 0.6:
        return f"({inner})"
    if kind < 0.7:
        return f"{inner}|{chance.choice(FILTERS)}"
    if kind < 0.76:
        return f"{inner} is {chance.choice(TESTS)}"
    if kind < 0.82:
        return f"not {inner}"
    if kind < 0.88:
        return f"-{inner}"
    if kind < 0.94:
        return f"{inner} if {_made(chance, depth - 1)} else {_made(chance, depth - 1)}"
    return f"[{inner}, {_made(chance, depth - 1)}]"


def _outcome(run: Any) -> Any:
    try:
        value = run()
        return type(value).__name__, str(value)  # what is missing raises here
    except (TemplateError, EvaluationError, ArithmeticError, TypeError, ValueError) as error:
        return type(error).__name__


def _parsed(source: str) -> Any:
    """Jinja2's own reading, or None."""
    engine = VOCABULARY.engine
    try:
        tree = engine.parse_expression(source)
    except TemplateError:
        return None
    # behind another operator "not" is a mere name to Jinja2
    return None if static_problems([tree], VOCABULARY) else engine.compile_tree(tree)


@pytest.mark.parametrize("seed", range(8))
def test_an_operator_means_the_same_wherever_it_stands(seed: int) -> None:
    """The reader of both languages gives a text of Jinja2 the value that Jinja2 gives it."""
    chance = random.Random(seed)
    compared = 0
    for _ in range(150):
        source = _made(chance, chance.randint(1, 3))
        jinja = _parsed(source)
        if jinja is None:
            continue
        compiled, problems = read(source, VOCABULARY)
        assert compiled is not None, (source, problems)
        names = [scope(data=DATA).names(frozenset({"data.n", "data.nope"})) for _ in range(2)]
        theirs = _outcome(partial(jinja, names[0]))
        assert _outcome(partial(compiled.evaluate, names[1])) == theirs, source
        compared += 1
    assert compared > 100


@pytest.mark.parametrize("seed", range(4))
def test_what_jinja_reads_is_never_read_as_expr_lang(seed: int) -> None:
    """A text that Jinja2 can read has Jinja2's own tree, whatever it is in expr-lang."""
    chance = random.Random(100 + seed)
    sources = [_made(chance, chance.randint(1, 3)) for _ in range(200)]
    read_by_jinja = [source for source in sources if _parsed(source) is not None]
    assert len(read_by_jinja) > 100
    for source in read_by_jinja:
        assert Program(source, False, ())._exprlang is None, source


@pytest.mark.parametrize("seed", range(4))
def test_no_text_ends_in_anything_but_a_value_or_an_error_for_people(seed: int) -> None:
    """Words and signs in any order are an expression, or refused, or an error at evaluation."""
    chance = random.Random(200 + seed)
    words = [
        *VALUES, *BINARY, "&&", "||", "!", "?", ":", "??", "?.", "..", "|", "(", ")", "[", "]", "{",
        "}", ",", ".", "#", "#acc", "let x =", ";", "x", "filter(", "map(", "len(", "reduce(", "^",
        "matches", "contains", "'('", "`a`", "is", "if", "else", "upper", "=", "//", "1..3",
        "now()",
    ]  # fmt: skip
    ended = Counter[str]()
    for _ in range(1500):
        source = " ".join(chance.choices(words, k=chance.randint(1, 9)))
        try:
            Expression.parse(source).evaluate(scope(data=DATA))
            ended["value"] += 1
        except (InputError, EvaluationError) as error:
            ended[type(error).__name__] += 1
    assert set(ended) == {"value", "InputError", "EvaluationError"}


def test_one_text_is_parsed_once() -> None:
    """The same expression in many resources is one program."""
    for source in ("Data.n + 1", "Data.on && true", "Data.n"):
        first, second = Expression.parse(source), Expression.parse(f" {source} ")
        assert first._program is second._program
