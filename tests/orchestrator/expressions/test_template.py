"""Text with expressions in it."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator.expressions import EvaluationError, NeedFileError, Template
from orchestrator.expressions.template import MAX_EXPRESSIONS
from remote_runtime.errors import InputError, Position
from tests.texts import expect_text

from .fakes import render


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{ Data.port }}", 80),
        ("${ Data.port }", 80),
        ("p{{ Data.port }}", "p80"),
        ("{{ Data.port }}\n", "80\n"),
        ("{{ Data.on }} ", "true "),
        ("-{{ lookup('facts.list.1.null') }}-", "--"),
        ("a {{ '{{' }} ${HOME} {% x %} b", "a {{ ${HOME} {% x %} b"),
        ("x{{ {'a': [1]} }}", 'x{"a": [1]}'),
    ],
)
def test_a_text_is_rendered_and_a_whole_expression_keeps_its_type(text: str, value: Any) -> None:
    """One expression alone keeps its value's type; inside a text it becomes text."""
    assert render(text) == value


def test_a_value_of_a_host_is_never_a_template(tmp_path: Path) -> None:
    """A fact that looks like a template comes out as it is, and template() refuses it."""
    assert render("{{ Facts.evil }}") == "{{ 1 + 1 }}"
    assert render("say {{ Facts.evil }}") == "say {{ 1 + 1 }}"
    with pytest.raises(EvaluationError) as caught:
        render("{{ template(Facts.evil) }}", tmp_path)
    assert caught.value.kind == "template.tainted"


def test_a_relative_file_is_read_beside_the_manifest(tmp_path: Path) -> None:
    """file() and readFile() give the text with its final newline, unrendered."""
    (tmp_path / "motd").write_text("hi {{ Data.port }}\n")
    assert render("{{ file('motd') }}", tmp_path) == "hi {{ Data.port }}\n"
    assert render("{{ readFile('motd') }}", tmp_path) == "hi {{ Data.port }}\n"


def test_template_renders_a_file_beside_the_manifest_or_a_text_of_it(tmp_path: Path) -> None:
    """template() takes a file name, the text of such a file, or a text that is spelt out."""
    (tmp_path / "motd").write_text("hi {{ Data.port }}\n")
    assert render("{{ template('motd') }}", tmp_path) == "hi 80\n"
    assert render("{{ template(file('motd')) }}", tmp_path) == "hi 80\n"
    assert render("{{ template('port ${ Data.port }') }}", tmp_path) == "port 80"


def test_a_template_that_renders_itself_is_stopped(tmp_path: Path) -> None:
    """Nested template() ends with an error, not with the stack."""
    (tmp_path / "self").write_text("{{ template('self') }}")
    with pytest.raises(EvaluationError) as refused:
        render("{{ template('self') }}", tmp_path)
    expect_text(refused.value)


def test_a_broken_template_file_says_where(tmp_path: Path) -> None:
    """A mistake in a file beside the manifest is told with that file's line and column."""
    (tmp_path / "motd").write_text("one\ntwo {{ lokup('x') }}\n")
    with pytest.raises(EvaluationError, match="motd:2:8"):
        render("{{ template('motd') }}", tmp_path)


def test_a_path_that_a_host_decides_stays_in_the_directory(tmp_path: Path) -> None:
    """Only a path that the manifest spells out may lead out of its directory."""
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret").write_text("x")
    (inner / "link").symlink_to(tmp_path / "secret")
    assert render("{{ file('../secret') }}", inner) == "x"
    for path in ("../secret", "link"):
        with pytest.raises(EvaluationError) as refused:
            render("{{ file(Data.path) }}", inner, data={"path": path})
        expect_text(refused.value)


def test_an_absolute_file_is_asked_of_the_target() -> None:
    """A file of the target is signalled until its text is in the scope, then never rendered."""
    with pytest.raises(NeedFileError) as caught:
        render("{{ file('/etc/x') }}")
    assert caught.value.path == "/etc/x"
    assert render("a{{ file('/etc/x') }}", target_files={"/etc/x": "{{ 1 }}"}) == "a{{ 1 }}"
    with pytest.raises(EvaluationError):
        render("{{ template(file('/etc/x')) }}", target_files={"/etc/x": "{{ 1 }}"})


def test_every_mistake_of_a_text_is_reported_at_once() -> None:
    """Two broken expressions in one text are two problems."""
    with pytest.raises(InputError) as caught:
        Template.parse("{{ lokup('x') }} {{ 1 + }}", lambda piece, at: None)
    assert len(caught.value.problems) == 2


def test_too_many_expressions() -> None:
    """A text with more than the bound is refused with the place of the first one."""
    text = "x{{ 1 }}" * (MAX_EXPRESSIONS + 1)
    with pytest.raises(InputError) as refused:
        Template.parse(text, lambda _, offset: Position("site.yaml", 3, 1 + offset))
    (problem,) = refused.value.problems
    assert problem.where == Position("site.yaml", 3, 2)
    assert f"{MAX_EXPRESSIONS + 1:,} expressions" in problem.message
