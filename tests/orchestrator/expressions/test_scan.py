"""Where the expressions of a text are."""

from pathlib import Path

import pytest

from orchestrator.expressions import EvaluationError, Expression
from orchestrator.expressions.scan import TemplateCall, UnclosedError, holds_expression, scan
from tests.orchestrator.templates.trees import fill

from .fakes import render


@pytest.mark.parametrize(
    "text",
    ["${NAME} $NAME ${}", "{% if x %}", "{# note #}", "a { b } c }}", "awk '{print $1}'", "$ {x}"],
)
def test_shell_and_markup_are_plain_text(text: str) -> None:
    """What only looks like a template is left alone."""
    assert scan(text) == []
    assert not holds_expression(text)


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("{{ a }}-{{b}}", [" a ", "b"]),
        ("${ a } ${b}", [" a "]),
        ("${\ta }", ["\ta "]),
        ("{{ '}}' }} {{ \"{{\" }}", [" '}}' ", ' "{{" ']),
        ("{{ {'a': {'b': 1}} }}", [" {'a': {'b': 1}} "]),
        ("{{ {'a': {'b': 1}}}}", [" {'a': {'b': 1}}"]),
        ("{{ 'it\\'s }}' }}", [" 'it\\'s }}' "]),
        ("${ {'a': '}'} }", [" {'a': '}'} "]),
    ],
)
def test_expressions_end_outside_their_literals(text: str, sources: list[str]) -> None:
    """Braces in string literals and in maps do not end an expression."""
    assert [found.source for found in scan(text)] == sources


@pytest.mark.parametrize("text", ["x {{ a }", "${ a", "{{ 'a }}", "{{ {'a': 1 }}"])
def test_an_unclosed_expression_is_an_error(text: str) -> None:
    """An expression without an end is refused, with the place where it begins."""
    with pytest.raises(UnclosedError) as caught:
        scan(text)
    assert caught.value.start == text.index("{{" if "{{" in text else "${")


LOOP = {"item": {"port": 1}, "index": 0}


@pytest.mark.parametrize("name", ["t.j2", "t.jet"])
def test_elements_and_keywords_are_names_in_each_language(name: str, tmp_path: Path) -> None:
    """A template sees the element of its foreach and the keywords of its call."""
    jinja = "{% if tls %}{{ item.port }} {{ index }} {{ tls }}{% endif %}"
    jet = "[[ if tls ]][[ item.port ]] [[ index ]] [[ tls ]][[ end ]]"
    fill(tmp_path, {"t.j2": jinja, "t.jet": jet})
    assert render(f"{{{{ template('{name}', tls=2) }}}}", tmp_path, loop=LOOP) == "1 0 2"


def test_jet_takes_keywords_beside_delimiters(tmp_path: Path) -> None:
    """The keywords stand behind the delimiters."""
    assert render("{{ jet('<< x >>', '<<', '>>', x=1) }}", tmp_path) == "1"


def test_a_text_of_the_manifest_is_a_whole_template() -> None:
    """Blocks run in a literal argument of template(), and are text in the property itself."""
    assert render("{{ template('{% for x in [1, 2] %}{{ x }};{% endfor %}') }}") == "1;2;"
    assert render("{% if %}{{ 1 }}") == "{% if %}1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${ Data.port }", "80"),
        ("{{ Data.on && Data.port > 1 ? 'yes' : 'no' }}", "yes"),
        ("{{ Data.items startsWith 'k' }}", "true"),
        ("{{ Data.on }}", "true"),
    ],
)
def test_what_choria_ccm_renders_is_rendered(text: str, expected: str, tmp_path: Path) -> None:
    """A file without blocks that Jinja2 cannot read is read as the text of a property."""
    (tmp_path / "t").write_text(text)
    assert render("{{ template('t') }}", tmp_path) == expected


def test_a_broken_text_is_told_as_a_template(tmp_path: Path) -> None:
    """A file with blocks is Jinja2 only."""
    (tmp_path / "t").write_text("{% if 1 %}{{ Data.on && 1 }}{% endif %}")
    with pytest.raises(EvaluationError, match="t:1:22"):
        render("{{ template('t') }}", tmp_path)


def test_a_keyword_cannot_stand_for_what_ccm_says(tmp_path: Path) -> None:
    """The names of every template keep their meaning."""
    (tmp_path / "t").write_text("{{ Facts }}")
    for name in ("Facts", "data", "lookup"):
        with pytest.raises(EvaluationError, match=f"'{name}' is reserved by ccm"):
            render(f"{{{{ template('t', {name}=1) }}}}", tmp_path)


def test_what_a_host_says_is_no_template(tmp_path: Path) -> None:
    """A computed text is refused, also with blocks only."""
    for evil in ("{% set x = 1 %}", "{# x #}", "{{ 1 }}", "a\nb"):
        with pytest.raises(EvaluationError) as caught:
            render("{{ template(Data.evil) }}", tmp_path, data={"evil": evil})
        assert caught.value.kind == "template.tainted"


def test_literal_calls_are_found() -> None:
    """Each literal call tells its function, its text and its keywords."""
    found = Expression.parse("template('a.j2', x=1) ~ jet('b') ~ template(Data.x)").template_calls()
    assert found == [TemplateCall("template", "a.j2", ("x",)), TemplateCall("jet", "b", ())]
    assert [call.is_jet for call in found] == [False, True]
    assert TemplateCall("template", "c.jet", ()).is_jet
    assert [TemplateCall("template", t, ()).is_file for t in ("a", "{{ x }}")] == [True, False]
    assert [TemplateCall("jet", t, ()).is_file for t in ("a", "[[ x ]]")] == [True, False]
