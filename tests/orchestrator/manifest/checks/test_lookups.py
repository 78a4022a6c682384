"""Lookups that templates read and nobody declares: found wherever a template may name one."""

from pathlib import Path

import pytest

from tests.orchestrator.planning.planned import FakeHost, plan, planner, refused
from tests.texts import expect_text

HEAD = "ccm:\n  ask: {java: {command: x}}\n  resources:\n"


def resource(directory: Path, text: str) -> str:
    """A manifest with one resource."""
    return f"{HEAD}    - {text}\n"


@pytest.mark.parametrize(
    ("files", "content", "told"),
    [
        (
            {"a.j2": "{% include 'b.j2' %}", "b.j2": "\n {{ Asked.jva.stdout }}"},
            "{{ template('a.j2') }}",
            "b.j2:2:5: the manifest declares no lookup 'jva' (did you mean java?)",
        ),
        (
            {"a.j2": "{% import 'b.j2' as m with context %}", "b.j2": "{{ Asked['jva'] }}"},
            "{{ template('a.j2') }}",
            "b.j2:1:4: the manifest declares no lookup 'jva'",
        ),
        ({}, '{{ template("{% if Asked.jva %}x{% endif %}") }}', "no lookup 'jva'"),
        (
            {"a.jet": '[[ include "b.jet" ]]', "b.jet": "[[ Asked.jva.stdout ]]"},
            "{{ jet('a.jet') }}",
            "b.jet:1:4: the manifest declares no lookup 'jva'",
        ),
        ({}, "{{ Asked?.jva?.stdout }}", "no lookup 'jva'"),
    ],
)
def test_a_template_that_another_one_names(
    tmp_path: Path, files: dict[str, str], content: str, told: str
) -> None:
    """It is looked into as the first one is, with the position there."""
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    text = f"exec: [{{x: {{command: {content!r}}}}}]"
    if "'" in content:
        escaped = content.replace("\\", "\\\\").replace('"', '\\"')
        text = f'exec: [{{x: {{command: "{escaped}"}}}}]'
    assert told in refused(tmp_path, resource(tmp_path, text))


@pytest.mark.parametrize(
    ("engine", "text"),
    [
        ("jinja", "{{ Asked.jva.stdout }}"),
        ("jet", "[[ Asked.jva.stdout ]]"),
        ("go", "{{ .Asked.jva.stdout }}"),
    ],
)
def test_a_directory_of_templates(tmp_path: Path, engine: str, text: str) -> None:
    """Each file of a scaffold is looked into, in every language."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.conf").write_text("x\n" + text)
    scaffold = f"scaffold: [{{/srv/x: {{source: tree, engine: {engine}}}}}]"
    found = refused(tmp_path, resource(tmp_path, scaffold))
    assert "tree/a.conf:2:" in found
    expect_text(found)


@pytest.mark.parametrize(
    ("engine", "text"),
    [
        ("jet", "{% raw %}[[ Asked.jva.stdout ]]{% endraw %}"),
        ("go", "{% raw %}{{ .Asked.jva.stdout }}{% endraw %}"),
        ("go", "{# {{ .Asked.jva.stdout }} #}"),
        ("jinja", "/* {{ Asked.jva.stdout }} */"),
    ],
)
def test_comments_of_other_languages(tmp_path: Path, engine: str, text: str) -> None:
    """They are plain text, and what is code in them runs."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.conf").write_text(text)
    scaffold = f"scaffold: [{{/srv/x: {{source: tree, engine: {engine}}}}}]"
    expect_text(refused(tmp_path, resource(tmp_path, scaffold)))


@pytest.mark.parametrize(
    ("engine", "text"),
    [
        ("jinja", "{%+ raw -%}{{ Asked.jva.stdout }}{%+ endraw %}"),
        ("jinja", "{# {{ Asked.jva.stdout }} #}"),
        ("jet", "[* [[ Asked.jva.stdout ]] *]{% Asked.jva %}"),
        ("go", "{{/* .Asked.jva.stdout */}}"),
    ],
)
def test_comments_of_each_language(tmp_path: Path, engine: str, text: str) -> None:
    """They read nothing."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.conf").write_text(text)
    scaffold = f"scaffold: [{{/srv/x: {{source: tree, engine: {engine}}}}}]"
    made = plan(tmp_path, resource(tmp_path, scaffold))
    assert [item.name for item in made.items] == ["/srv/x"]


def test_resources_that_a_template_writes(tmp_path: Path) -> None:
    """The template is looked into."""
    (tmp_path / "r.jet").write_text("[[ if Asked.jva.exit_code == 0 ]][[ end ]]")
    text = "ccm: {ask: {java: {command: x}}, resources_jet_file: r.jet}"
    expect_text(refused(tmp_path, text))


def test_what_is_no_code_is_left_alone(tmp_path: Path) -> None:
    """Plain text, comments and literal texts of a template may say what they like."""
    (tmp_path / "a.j2").write_text(
        "Asked.questions are answered\n"
        "{# {{ Asked.old }} #}{{ 'Asked.old' }}{{ Asked.java.stdout }}"
    )
    text = resource(tmp_path, "exec: [{x: {command: \"{{ template('a.j2') }}\"}}]")
    assert planner(tmp_path, text).examine(FakeHost()).problems == ()


ASKED = """\
data: {path: /etc}
ccm:
  ask: {java: {command: x}, conf: {stat: "{{ Data.path }}/x"}, nginx: {package: nginx}}
  resources:
    - exec:
        - a: {command: "echo {{ READ }}"}
"""


@pytest.mark.parametrize(
    ("read", "told"),
    [
        ("Asked.java.stdot", "6:30: the answer to command has no value 'stdot' (did you mean"),
        ("Asked['conf']['mod']", "the answer to stat has no value 'mod' (did you mean mode?)"),
        ("Asked.nginx?.versoin", "the answer to package has no value 'versoin' (did you mean"),
        ("template('{% if Asked.conf.exsits %}{% endif %}')", "has no value 'exsits'"),
    ],
)
def test_a_value_that_no_answer_has(tmp_path: Path, read: str, told: str) -> None:
    """A misspelled value of an answer is told before any host is contacted."""
    assert told in refused(tmp_path, ASKED.replace("READ", read))


@pytest.mark.parametrize(
    "read",
    ["Asked.java.stdout.splitlines()", "Asked.conf.get('x')", "Asked.java", "'Asked.java.nope'"],
)
def test_values_that_answers_have(tmp_path: Path, read: str) -> None:
    """Methods, whole answers and texts are left alone."""
    found = planner(tmp_path, ASKED.replace("READ", read)).examine(FakeHost())
    assert found.problems == ()


def test_a_question_that_cannot_be_rendered(tmp_path: Path) -> None:
    """With an inventory it is told before any host is contacted; one that needs facts waits."""
    text = ASKED.replace("READ", "Asked.java.stdout")
    (problem,) = (
        planner(tmp_path, text.replace("Data.path", "Data.pth")).examine(FakeHost()).problems
    )
    expect_text(str(problem))
    found = planner(tmp_path, text.replace("Data.path", "Facts.host.info.os")).examine(FakeHost())
    assert (found.problems, found.unknown) == ((), {"ask.unasked": 1})
