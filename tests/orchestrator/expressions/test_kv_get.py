"""``kvGet()`` in expressions and templates."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator.expressions import EvaluationError
from orchestrator.registration.key_value import KeyValueLookup
from tests.orchestrator.expressions.fakes import evaluate
from tests.orchestrator.registration.test_key_value import Fake

FAKE = Fake({"motd": b"{{ 1 + 1 }}", "port": b"80", "web1": b"one"})


def got(source: str, **more: Any) -> Any:
    return evaluate(source, buckets=KeyValueLookup(lambda: FAKE), **more)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("kvGet('CCM', 'port')", "80"),
        ("kvGet('CCM', 'port') | int + 1", 81),
        ("kvGet('CCM', 'motd')", "{{ 1 + 1 }}"),
        ("kvGet('CCM', Host.name)", "one"),
        ("kvGet('CCM', 'no', 'else')", "else"),
        ("kvGet('CCM', 'no', nil) ?? 'x'", "x"),
        ("template(\"{{ kvGet('CCM', 'motd') }}!\")", "{{ 1 + 1 }}!"),
        ('jet(\'[[ kvGet("CCM", "port") ]]\')', "80"),
    ],
)
def test_values(source: str, value: object) -> None:
    """They are texts in every language, and never a template."""
    assert got(source) == value


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("kvGet('CCM', 'no')", "the bucket CCM has no key 'no'"),
        ("kvGet(Host.name, 'a')", "only a literal one is read"),
        ("kvGet('C' ~ 'CM', 'port')", "only a literal one is read"),
        ("kvGet('CCM', 'a>')", "takes the names of a bucket and a key"),
        ("kvGet('CCM', 1)", "takes the names of a bucket and a key"),
        ("template(kvGet('CCM', 'motd'))", "never computed text"),
    ],
)
def test_mistakes(source: str, words: str) -> None:
    """A key that is not there, a bucket that a host might choose, a value as a template."""
    with pytest.raises(EvaluationError, match=words.replace("(", r"\(")):
        got(source)


def test_a_template_beside_the_manifest(tmp_path: Path) -> None:
    """It has the function, too; in data a missing key is empty."""
    (tmp_path / "x.j2").write_text("{% set x = kvGet('CCM', 'port') %}{{ x }}")
    assert got("template('x.j2')", directory=tmp_path) == "80"
    assert got("kvGet('CCM', 'no')", lenient=True) == ""
