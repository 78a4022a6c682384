"""What templates may read of the environment, and what of it is masked."""

import json

import pytest

from orchestrator.expressions import EvaluationError
from orchestrator.expressions.environment_variables import Environ

from .fakes import evaluate

VARIABLES = {
    "HOME": "/home/me",
    "DB_PASSWORD": "hunter2-hunter2",
    "LICENCE": "listed-by-name",
    "PIN_OF_DOOR": "listed-by-glob",
    "SHORT_TOKEN": "abc",
    "CCM_SSH_PASSWORD": "of-ccm-itself",
    "CCM_SECRET_ENV": "licence, PIN_*",
}


@pytest.mark.parametrize(
    "source",
    [
        "Environ.CCM_SSH_PASSWORD",
        "lookup('environ.CCM_SSH_PASSWORD')",
        "Environ['CCM_SSH_PASSWORD']",
    ],
)
def test_what_is_of_ccm_itself_is_out_of_reach(source: str) -> None:
    """No template reads a variable that begins with CCM_, alone or with all others."""
    environ = Environ(VARIABLES)
    with pytest.raises(EvaluationError) as caught:
        evaluate(source, environ=environ)
    assert "CCM_" in str(caught.value)
    for whole in ("Environ", "lookup('environ')", "Environ | tojson", "Environ.items() | list"):
        assert "of-ccm-itself" not in json.dumps(evaluate(whole, environ=environ))


@pytest.mark.parametrize(
    "source",
    [
        "Environ.{}", "Environ['{}']", "Environ.get('{}')", "lookup('environ.{}')",
        "'{}' in Environ and Environ['{}']", "lookup('environ.{}|@this')",
        "Environ.values() | list", "Environ.items() | list", "Environ", "dict(Environ)",
        "Environ | tojson", "lookup('environ')", "Environ | dictsort",
        "Environ | string", "Environ ~ ''", "'%s' % Environ", "'{0}'.format([Environ])",
        "template('{{ Environ | trim }}')",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["DB_PASSWORD", "LICENCE", "PIN_OF_DOOR"])
def test_a_secret_is_heard_however_it_is_read(source: str, name: str) -> None:
    """A name that says so, or one that CCM_SECRET_ENV lists, makes its value a secret once read."""
    environ = Environ(VARIABLES)
    evaluate("Environ.HOME", environ=environ)
    assert environ.secrets_read == {}
    evaluate(source.replace("{}", name), environ=environ)
    assert VARIABLES[name] in environ.secrets_read
    assert not {"/home/me", "abc"} & set(environ.secrets_read)


@pytest.mark.parametrize(
    "source", ["Environ.{}", "Environ['{}']", "([Environ]|map(attribute='{}')|first) ~ ''"]
)
@pytest.mark.parametrize(
    "name", ["reporting_to", "public", "secrets_read", "report_named", "copy", "_secret"]
)
def test_templates_have_no_other_way_to_it(source: str, name: str) -> None:
    """What is the environment's own is nothing that a template can name."""
    assert hasattr(Environ({}), name)
    with pytest.raises(EvaluationError) as caught:
        evaluate(source.replace("{}", name), environ=Environ(VARIABLES))
    assert f"there is no key {name!r}" in str(caught.value)


@pytest.mark.parametrize(
    "function", ["lookup", "registrations", "kvGet", "file", "template", "jet"]
)
def test_a_function_as_text_tells_nothing(function: str) -> None:
    """Who writes a function in the place of its value learns no facts, data or environment."""
    text = evaluate(f"{function} ~ [{function}]", environ=Environ(VARIABLES))
    assert not [known for known in (*VARIABLES.values(), "linux", "192.0.2.1") if known in text]


def test_hosts_are_told_apart() -> None:
    """What the templates of one host read is no secret of another, which need not know it."""
    environ = Environ(VARIABLES)
    mine: dict[str, None] = {}
    others: dict[str, None] = {}
    evaluate("Environ.DB_PASSWORD", environ=environ.reporting_to(mine))
    evaluate("Environ.HOME", environ=environ.reporting_to(others))
    assert list(mine) == ["hunter2-hunter2"]
    assert others == {}


def test_a_text_that_is_rendered_later() -> None:
    """The secrets that a text names are heard of beforehand."""
    environ = Environ(VARIABLES)
    environ.report_named("{{ file('/etc/x') ~ lookup('environ.DB_PASSWORD') }}")
    assert list(environ.secrets_read) == ["hunter2-hunter2"]
