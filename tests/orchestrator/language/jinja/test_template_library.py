"""Templates that include, import and extend others."""

from pathlib import Path

import pytest

from orchestrator.expressions import EvaluationError
from orchestrator.language.jinja import Library, library_of, render
from orchestrator.language.manifest_directory import Directory
from remote_runtime.errors import InputError
from tests.orchestrator.language.jet.fakes import host
from tests.orchestrator.templates.trees import fill
from tests.texts import expect_text

from .fakes import file_text, refused, text


def test_paths_are_relative_to_the_template_that_names_them(tmp_path: Path) -> None:
    """A slash in front stands for the manifest's directory."""
    files = {
        "a__main_j2": "{% extends '../b/base.j2' %}"
        "{% block body %}{% include 'p.j2' %}{% endblock %}",
        "a__p_j2": "{% from '/b/m.j2' import m with context %}{{ m(1) }}",
        "b__base_j2": "<{% block body %}{% endblock %}{% include 'q.j2' %}>",
        "b__m_j2": "{% macro m(x) %}[{{ x }}{{ Host.name }}]{% endmacro %}",
        "b__q_j2": "q",
    }
    assert file_text(tmp_path, "a/main.j2", **files) == "<[1web1]q>"


def test_includes_see_what_is_set_around_them(tmp_path: Path) -> None:
    """An include sees the variables of loops; one that is missing may be left out."""
    files = {
        "main_j2": "{% for x in Data.list %}{% include 'p.j2' %}{% endfor %}"
        "{% include 'nope.j2' ignore missing %}{% include ['nope.j2', 'q.j2'] %}",
        "p_j2": "{{ x }} ",
        "q_j2": "q",
    }
    assert file_text(tmp_path, "main.j2", **files) == "a b c q"


@pytest.mark.parametrize("path", ["../x.j2", "/../../x.j2", "link.j2", "nope.j2", "/etc/passwd"])
def test_no_include_leads_out_of_the_directory(path: str, tmp_path: Path) -> None:
    """Neither dots nor links nor absolute paths; told with the place before any host."""
    fill(tmp_path, {"x.j2": "secret", "site/": ""})
    (tmp_path / "site" / "link.j2").symlink_to(tmp_path / "x.j2")
    told = refused(f"a\n{{% include '{path}' %}}", tmp_path / "site")
    assert "t.j2:2:4: " in told
    assert "secret" not in told
    computed = "{% set p = '" + path + "' %}{% include p ~ '' %}"
    with pytest.raises(EvaluationError):
        text(computed, tmp_path / "site")


def test_beside_a_template_out_of_the_directory(tmp_path: Path) -> None:
    """A template whose path is written out may stand elsewhere, and include what is beside it."""
    fill(
        tmp_path, {"shared/a.j2": "a{% include 'b.j2' %}", "shared/b.j2": "b", "site/": "", "c": ""}
    )
    library = Library(Directory(tmp_path / "site"))
    assert render(library.load("../shared/a.j2"), host().names) == "ab"
    (tmp_path / "shared" / "a.j2").write_text("{% include '../c' %}")
    with pytest.raises(InputError) as refused:
        Library(Directory(tmp_path / "site")).load("../shared/a.j2")
    expect_text(refused.value)


def test_a_template_is_compiled_once(tmp_path: Path) -> None:
    """All hosts of a run share what a library made of a file."""
    fill(tmp_path, {"a.j2": "{% include 'b.j2' %}", "b.j2": "{{ Host.name }}"})
    directory = Directory(tmp_path)
    library = library_of(directory, False)
    assert library is library_of(directory, False)
    assert library.load("a.j2") is library.load("a.j2")
    assert [part.name for part in library.load("a.j2").reached] == ["a.j2", "b.j2"]


def test_every_mistake_of_all_files_is_told(tmp_path: Path) -> None:
    """What a template includes is checked with it, names as well as syntax."""
    fill(tmp_path, {"b.j2": "\n{{ 1 + }}", "c.j2": "{{ x | nope }}", "d.j2": "{{ dd }}"})
    told = refused("{% include 'b.j2' %}{% include 'c.j2' %}", tmp_path)
    assert "b.j2:2:8" in told
    expect_text(told)
    expect_text(refused("{% include 'd.j2' %}", tmp_path))


@pytest.mark.parametrize("tag", ["{{ Data.x }}\n", "{% set x = 1 %}\n"])
def test_more_tags_than_anybody_writes(tag: str, tmp_path: Path) -> None:
    """A file of a few megabytes would take gigabytes; it is refused before it is parsed."""
    fill(tmp_path, {"b.j2": tag * 20_001})
    told = refused("{% include 'b.j2' %}", tmp_path)
    expect_text(told)


def test_lenient_templates_give_nothing_for_what_is_missing() -> None:
    """In data, overrides and the order a missing path is empty."""
    assert text("{% if 1 %}<{{ Data.nope.x }}>{% endif %}", lenient=True) == "<>"


@pytest.mark.parametrize("path", ["a" * 5000, "a/" * 3000, "a" * 256])
@pytest.mark.parametrize("how", ["", " ignore missing"])
def test_a_path_that_is_too_long(path: str, how: str, tmp_path: Path) -> None:
    """A path that came from a host may be longer than any file's: a mistake with its place."""
    with pytest.raises(EvaluationError, match="is not in the manifest's directory") as caught:
        text("\n{% include Data.path" + how + " %}", tmp_path, data={"path": path})
    assert str(caught.value).endswith("(t.j2:2:4)")
    assert len(str(caught.value)) < 600


def test_a_mistake_in_an_included_file_is_told_with_the_stack(tmp_path: Path) -> None:
    """Before any host is contacted, as when it is rendered: syntax, names and missing files."""
    main = "\n{% include 'a.j2' %}"
    for text_of_b, words in (
        ("{% if x %}", "b.j2:1:9: unexpected end of the template"),
        ("\n{{ nope }}", "b.j2:2:4: 'nope' is not a name or function of this template, in"),
        ("{% include 'gone.j2' %}", "b.j2:1:4: there is no template gone.j2, in"),
        ("{{ 1 | nope }}", "b.j2:1:8: there is no filter 'nope', in"),
    ):
        fill(tmp_path, {"a.j2": "1\n2 {% include 'b.j2' %}", "b.j2": text_of_b})
        told = refused(main, tmp_path)
        assert words in told
        expect_text(told)


def test_a_name_that_an_imported_template_lacks(tmp_path: Path) -> None:
    """The message has no line number of the compiled template."""
    fill(tmp_path, {"m.j2": "{% macro a() %}{% endmacro %}"})
    with pytest.raises(EvaluationError) as refused:
        text("\n\n\n{% from 'm.j2' import nope %}{{ nope() }}", tmp_path)
    expect_text(refused.value)
