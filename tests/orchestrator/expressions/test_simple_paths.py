"""Expressions that are a mere path mean what they mean to Jinja2, and do without it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from orchestrator.expressions import RENDERERS, EvaluationError, Expression, Scope
from orchestrator.expressions.compiled_expression import Program
from orchestrator.expressions.environment_variables import Environ
from orchestrator.expressions.simple_paths import plain_program
from orchestrator.language.facts import Facts
from orchestrator.language.manifest_directory import Directory
from remote_runtime.errors import CcmError

DATA = {
    "port": 80,
    "none": None,
    "items": "the key, not the method",
    "web": {"if": True, "list": [1, 2], "name": "www", "_x": 1},
    "text": "x",
}
SOURCES = [
    "Data", "Data.port", "Data.none", "Data.items", "Data.web", "Data.web.if", "Data.web.list",
    "Data.web.nothing", "Data.nothing", "Data.nothing.more", "Data.none.more",
    "Data.text.upper", "Data.web.keys", "Data.web.list.append", "Data.port.real", "Data.web._x",
    "Facts.host.name", "Facts.slow", "Facts.slow.part", "Facts.nothing", "Environ.HOME",
    "Host.name", "Host.vars.role", "Data.__class__",
    "Host.groups", "lookup('data.port')", 'lookup("data.web.name")',
    "lookup('data.nothing')", "lookup('data.web.list.1')", "lookup('facts.slow.part')",
    "lookup('data.web.list.#')", "lookup('data')", "lookup('facts.host.name')", "lookup('')",
    "lookup('environ.HOME')", "lookup('elsewhere.x')",
]  # fmt: skip


@pytest.fixture
def scope(tmp_path: Path) -> Scope:
    return Scope(
        Facts({"host": {"name": "a"}}, {"slow": "too slow"}),
        DATA,
        Environ({"HOME": "/root"}),
        {"name": "web1", "address": "192.0.2.1", "groups": ["web"], "vars": {"role": "db"}},
        Directory(tmp_path),
        RENDERERS,
    )


def _outcome(program: Any, scope: Scope) -> Any:
    try:
        return program.run(scope)
    except (CcmError, ValueError) as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("source", SOURCES)
def test_means_what_it_means_to_jinja(source: str, lenient: bool, scope: Scope) -> None:
    """Value, error and what is read are the same with the plain program and with Jinja2's."""
    scope = scope._replace(lenient=lenient)
    full = Program(source, lenient, ())
    plain = plain_program(source, lambda: full)
    if full.problems:
        assert plain is None
        return
    if plain is not None:
        assert _outcome(plain, scope) == _outcome(full, scope)
        assert plain.data_paths() == full.data_paths()
        assert plain.files() == full.files()
        assert plain.constant() == full.constant()


@pytest.mark.parametrize(
    "source",
    [
        "Data.port + 1", "Data['port']", "Data.0", "Data.", "Data .port", "data.port",
        "Nothing.port", "Dataport", "Data.é", "lookup('a' 'b')", "lookup('data.x', 1)",
        "lookup('data.\\x41')",
        "lookup('data.x').y", "file('x')", "Data.port\n.more", "'Data'", "Data._private",
    ],
)  # fmt: skip
def test_leaves_the_rest_to_jinja(source: str) -> None:
    """Whatever is more than a path gets no plain program."""
    assert plain_program(source, lambda: Program(source, False, ())) is None


def test_most_sources_are_plain() -> None:
    """The paths that manifests are full of are answered without Jinja2."""
    for source in ("Data.web.port", "Host.name", "lookup('facts.host.info.os')"):
        assert plain_program(source, lambda: pytest.fail("asked Jinja2")) is not None


def test_a_name_that_is_given_beside_the_scope_wins(scope: Scope) -> None:
    """An expression with names of its own sees those, also where the scope has the same name."""
    expression = Expression.parse("Data.port", extra=("Data",))
    assert expression.evaluate(scope, {"Data": {"port": 1}}) == 1


def test_an_error_says_where(scope: Scope) -> None:
    """A path that leads nowhere is explained with the expression as it was written."""
    with pytest.raises(EvaluationError, match=r"Data\.web\.nothing: .*nothing"):
        Expression.parse("Data.web.nothing").evaluate(scope)


def test_does_not_load_jinja() -> None:
    """Rendering mere paths does not load Jinja2, which takes its time."""
    program = (
        "import sys; from orchestrator.expressions import Template;"
        "Template.parse('{{ Host.name }} {{ lookup(\"data.x\") }}', lambda *_: None);"
        "print('jinja2' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_an_expression_of_jinja_does_not_load_the_other_language() -> None:
    """The reader of expr-lang is loaded by the first text that Jinja2 cannot read."""
    program = (
        "import sys; from orchestrator.expressions import Expression;"
        "loaded = lambda: any('exprlang' in name for name in sys.modules);"
        "Expression.parse('Data.x + 1 if Data.y else 2|string'); print(loaded());"
        "Expression.parse('Data.x && true'); print(loaded())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\nTrue\n"
