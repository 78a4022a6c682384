"""Look-ups that templates read and nobody declares: found wherever a template may name one."""

from pathlib import Path

import pytest

from tests.orchestrator.planning.planned import planner, refused

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
            "b.j2:2:5: the manifest declares no look-up 'jva' (did you mean java?)",
        ),
        (
            {"a.j2": "{% import 'b.j2' as m with context %}", "b.j2": "{{ Asked['jva'] }}"},
            "{{ template('a.j2') }}",
            "b.j2:1:4: the manifest declares no look-up 'jva'",
        ),
        ({}, '{{ template("{% if Asked.jva %}x{% endif %}") }}', "no look-up 'jva'"),
        (
            {"a.jet": '[[ include "b.jet" ]]', "b.jet": "[[ Asked.jva.stdout ]]"},
            "{{ jet('a.jet') }}",
            "b.jet:1:4: the manifest declares no look-up 'jva'",
        ),
        ({}, "{{ Asked?.jva?.stdout }}", "no look-up 'jva'"),
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
    assert "no look-up 'jva' (did you mean java?)" in found


def test_resources_that_a_template_writes(tmp_path: Path) -> None:
    """The template is looked into."""
    (tmp_path / "r.jet").write_text("[[ if Asked.jva.exit_code == 0 ]][[ end ]]")
    text = "ccm: {ask: {java: {command: x}}, resources_jet_file: r.jet}"
    assert "r.jet:1:7: the manifest declares no look-up 'jva'" in refused(tmp_path, text)


def test_what_is_no_code_is_left_alone(tmp_path: Path) -> None:
    """Plain text, comments and literal texts of a template may say what they like. Fails if
    planner() raises."""
    (tmp_path / "a.j2").write_text(
        "Asked.questions are answered\n"
        "{# {{ Asked.old }} #}{{ 'Asked.old' }}{{ Asked.java.stdout }}"
    )
    planner(tmp_path, resource(tmp_path, "exec: [{x: {command: \"{{ template('a.j2') }}\"}}]"))
