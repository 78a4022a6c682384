"""One rendering, and how its errors are placed."""

from pathlib import Path

import pytest

from orchestrator.expressions import EvaluationError, FactsUnavailableError, NeedFileError
from orchestrator.language.jinja import Library, render
from orchestrator.language.manifest_directory import Directory
from tests.orchestrator.language.jet.fakes import host
from tests.orchestrator.templates.trees import fill
from tests.texts import expect_text

from .fakes import failure, file_text, text


def test_an_error_is_told_with_the_stack_of_includes(tmp_path: Path) -> None:
    """The innermost template with line and column, then those that led there."""
    files = {
        "main_j2": "\n{% for x in Data.list %}\n  {% include 'p.j2' %}\n{% endfor %}",
        "p_j2": "{% from 'm.j2' import m %}\n {{ m(Data) }}",
        "m_j2": "{% macro m(d) %}\n\n  {{ 1 }} {{ d.nam }}{% endmacro %}",
    }
    with pytest.raises(EvaluationError) as caught:
        file_text(tmp_path, "main.j2", **files)
    assert str(caught.value.where) == "m.j2:3:14"
    told = "there is no key 'nam' (did you mean name?), in a template used at p.j2:2:5, main.j2:3:6"
    assert caught.value.message == told
    assert caught.value.kind == "template.undefined"


@pytest.mark.parametrize(
    ("template", "told"),
    [
        (
            "a\n b {{ Data.name ~ Data.nope }}",
            "did you mean none?) (t.j2:2:7)",
        ),
        ("{% if Data.nope.x %}{% endif %}", "(t.j2:1:4)"),
        ("{{ 'inf' | float | int }}", "cannot convert float infinity to integer (t.j2:1:12)"),
        ("{{ [-('1e999' | float)] }}", "it contains a number that is not finite (t.j2:1:4)"),
        ("{{ Data.name.foo() }}", "(t.j2:1:4)"),
        ("{% set x %}{{ 1 / 0 }}{% endset %}", "division by zero (t.j2:1:15)"),
        ("\n{{ lookup('data.nope') }}", "no such path, did you mean data.none? (t.j2:2:4)"),
        ("{{ nope }}", "'nope' is undefined (t.j2:1:4)"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "nested too deeply (t.j2:1:19)"),
    ],
)
def test_an_error_of_a_host(template: str, told: str) -> None:
    """What shows only with facts and data has file, line and column as well."""
    assert told in failure(template)


def test_an_import_without_context_says_what_to_write(tmp_path: Path) -> None:
    """The names of a host are seen by an import with context only."""
    files = {
        "main_j2": "{% from 'm.j2' import m %}{{ m() }}",
        "m_j2": "{% macro m() %}{{ Data.name }}{% endmacro %}",
    }
    with pytest.raises(EvaluationError) as refused:
        file_text(tmp_path, "main.j2", **files)
    expect_text(refused.value)


def test_facts_and_files_that_are_not_there_keep_their_meaning() -> None:
    """A fact that was not gathered and a file of the target are told as everywhere."""
    with pytest.raises(FactsUnavailableError) as caught:
        text("\n{% if Facts.cpu %}{% endif %}")
    assert str(caught.value.where) == "t.j2:2:4"
    with pytest.raises(NeedFileError):
        text("{% if 1 %}{{ file('/etc/x') }}{% endif %}")
    assert text("{{ file('/x') }}", target_files={"/x": "{{ 1 }}"}) == "{{ 1 }}"


def test_managed_names_the_source() -> None:
    """managed() is the line for the head of a file."""
    assert text("# {{ managed() }}") == "# managed by ccm, do not edit (t.j2)"


def test_hosts_do_not_see_each_other(tmp_path: Path) -> None:
    """What one rendering set is gone in the next."""
    template = (
        "{% set n = namespace(x=0) %}{% set n.x = n.x + 1 %}{{ n.x }}{{ x is defined }}"
        "{% set x = 1 %}"
    )
    assert text(template) == text(template) == "1false"
    module = (
        "{% set n = namespace(x='') %}"
        "{% macro m(y) %}{% set n.x = n.x ~ y %}{{ n.x }}{% endmacro %}"
    )
    fill(tmp_path, {"m.j2": module, "t.j2": "{% from 'm.j2' import m %}{{ m(Host.name) }}"})
    library = Library(Directory(tmp_path))
    told = [
        render(library.load("t.j2"), host(host={"name": name}).names) for name in ("web1", "web2")
    ]
    assert told == ["web1", "web2"]
