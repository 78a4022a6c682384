"""Base64 and hashes, and the secrets in them."""

import hashlib
from pathlib import Path

import pytest

from orchestrator.expressions import EvaluationError
from orchestrator.expressions.environment_variables import Environ
from remote_runtime.reporting.masking import MASKED, Mask
from tests.orchestrator.expressions.fakes import evaluate
from tests.orchestrator.language.jinja.fakes import text


@pytest.mark.parametrize("name", ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b"])
def test_hashes(name: str) -> None:
    """Each algorithm gives what hashlib gives."""
    assert evaluate(f"'é' | hash('{name}')") == hashlib.new(name, "é".encode()).hexdigest()


@pytest.mark.parametrize("source", ["'x' | hash('crc')", "'*' | b64decode", "'/w==' | b64decode"])
def test_mistakes(source: str) -> None:
    """An unknown algorithm, and what is no text in Base64."""
    with pytest.raises(EvaluationError):
        evaluate(source)


@pytest.mark.parametrize(
    "how",
    [
        "b64encode",
        "hash",
        "hash('sha512')",
        "to_json",
        "to_yaml",
        "quote",
        "password_hash",
        "upper | lower",
    ],
)
def test_a_secret_stays_one(how: str) -> None:
    """What filters make of it is masked where it is shown, in expressions and templates."""
    for find in (
        lambda source, environ: evaluate(source, environ=environ),
        lambda source, environ: text(f"{{{{ {source} }}}}", environ=environ),
    ):
        environ = Environ({"DB_TOKEN": 'it\'s hunter2 "x"'})
        made = str(find(f"Environ.DB_TOKEN | {how}", environ))
        shown = Mask(environ.secrets_read).text(made)
        assert MASKED in shown
        assert "hunter2" not in shown


def test_a_hash_of_an_imported_macro_stays_a_secret(tmp_path: Path) -> None:
    """A file that is imported does not see the environment, and yet its hashes are masked."""
    (tmp_path / "m.j2").write_text("{% macro m(x) %}{{ x | hash }}{% endmacro %}")
    environ = Environ({"DB_TOKEN": "hunter2"})
    source = "{% import 'm.j2' as m %}{{ m.m(Environ.DB_TOKEN) }}"
    made = text(source, tmp_path, environ=environ)
    assert Mask(environ.secrets_read).text(made) == MASKED


def test_the_hash_of_what_is_no_secret_is_shown() -> None:
    """Only what holds a secret is one."""
    environ = Environ({"DB_TOKEN": "hunter2"})
    evaluate("[Environ.DB_TOKEN, 'x' | hash]", environ=environ)
    assert list(environ.secrets_read) == ["hunter2"]
