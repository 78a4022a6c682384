"""What is checked of templates before any host."""

from pathlib import Path

import pytest

from orchestrator.expressions import EvaluationError
from orchestrator.expressions.scan import TemplateCall
from orchestrator.expressions.template_files import check_call, texts_of_call
from orchestrator.language.manifest_directory import Directory
from remote_runtime.errors import InputError
from tests.orchestrator.templates.trees import fill


def _told(
    directory: Path, name: str, added: tuple[str, ...] = (), names: tuple[str, ...] = ()
) -> str:
    with pytest.raises(InputError) as caught:
        check_call(Directory(directory), TemplateCall("template", name, names), added)
    return str(caught.value)


def test_names_are_those_of_the_call_and_the_loop(tmp_path: Path) -> None:
    """A name that neither sets is told with the place in the file."""
    fill(
        tmp_path,
        {"t.j2": "{% if port %}{{ item }}{% endif %}", "t.jet": "[[ item ]]", "t": "{{ x }}"},
    )
    assert "t.j2:1:7: 'port' is not a name" in _told(tmp_path, "t.j2", ("item",))
    assert "t.j2:1:17: 'item' is not a name" in _told(tmp_path, "t.j2", names=("port",))
    assert "t.jet:1:4: 'item' is not set" in _told(tmp_path, "t.jet")
    assert "t:1:4: 'x' is not a name" in _told(tmp_path, "t")
    for name in ("t.j2", "t.jet", "t"):
        call = TemplateCall("template", name, ("port", "x"))
        check_call(Directory(tmp_path), call, ("item",))


def test_syntax_is_told_in_the_language_of_the_file(tmp_path: Path) -> None:
    """With blocks it is Jinja2, without it may be expr-lang as well."""
    fill(tmp_path, {"a": "{% if %}", "b": "{{ 1 + }}", "c": "{{ Data.x ?? 1 }}", "d": "${ 1 + }"})
    assert "a:1:7: Expected an expression" in _told(tmp_path, "a")
    assert "b:1:" in _told(tmp_path, "b")
    assert "d:1:" in _told(tmp_path, "d")
    check_call(Directory(tmp_path), TemplateCall("template", "c", ()), ())


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """It is told with the path."""
    for function in ("template", "jet"):
        with pytest.raises(EvaluationError, match="nope"):
            check_call(Directory(tmp_path), TemplateCall(function, "nope", ()), ())


def test_the_texts_of_a_call(tmp_path: Path) -> None:
    """What a template includes belongs to it."""
    fill(tmp_path, {"a.j2": "a{% include 'b.j2' %}", "b.j2": "b", "c": "{{ 1 }}", "d.jet": "d"})
    found = {
        name: list(texts_of_call(Directory(tmp_path), TemplateCall("template", name, ())))
        for name in ("a.j2", "c", "d.jet", "{{ x }}")
    }
    assert set(found["a.j2"]) == {"a{% include 'b.j2' %}", "b"}
    assert (found["c"], found["d.jet"], found["{{ x }}"]) == (["{{ 1 }}"], ["d"], ["{{ x }}"])


def test_templates_that_a_template_calls_are_checked(tmp_path: Path) -> None:
    """A literal call in a template is checked like one in the manifest, with its own names."""
    fill(
        tmp_path,
        {
            "a.j2": "{{ template('b.j2', port=1) }}{{ jet('c.jet') }}{{ template('a.j2') }}",
            "b.j2": "{{ port }}\n{{ nope }}",
            "c.jet": "[[ if ]]",
            "d.j2": "{% include 'e.j2' %}",
            "e.j2": "\n{{ template('gone.j2') }}{{ file('away') }}",
            "f.j2": "{% if Data.x %}{{ template('gone.j2') }}{{ file('away') }}{% endif %}",
        },
    )
    told = _told(tmp_path, "a.j2")
    assert "b.j2:2:4: 'nope' is not a name" in told
    assert "c.jet:1:" in told
    assert "port" not in told
    told = _told(tmp_path, "d.j2")
    assert "e.j2:2:12: cannot read" in told
    assert "gone.j2: No such file" in told
    assert "away: No such file" in told
    for name in ("f.j2", "d.j2"):
        call = TemplateCall("template", name, ())
        check_call(Directory(tmp_path), call, (), spares_missing=name == "d.j2")


def test_the_texts_of_a_call_hold_those_of_calls_in_it(tmp_path: Path) -> None:
    """A template that a template calls belongs to it, also where both call each other."""
    fill(tmp_path, {"a.j2": "a{{ template('b.j2') }}", "b.j2": "b{{ template('a.j2') }}"})
    texts = list(texts_of_call(Directory(tmp_path), TemplateCall("template", "a.j2", ())))
    assert texts == ["a{{ template('b.j2') }}", "b{{ template('a.j2') }}"]
