"""Backslashes of expressions in YAML files, conditions and template files."""

from pathlib import Path

from tests.orchestrator.ansible.sites import convert_tasks


def test_a_group_of_a_pattern_in_yaml(tmp_path: Path) -> None:
    """Ansible takes a backslash within braces in YAML as it is, so `\\1` names a group."""
    _, text = convert_tasks(
        tmp_path,
        r"""
        - set_fact:
            number: "{{ version | regex_replace('^v(\\d+).*$', '\\1') }}"
        - copy: {content: "{{ number }}", dest: /a, owner: a, group: a, mode: '0644'}
        """,
        defaults__main="version: v12.1\n",
    )
    assert r"regex_replace('^v(\\d+).*$', '\\1')" in text.replace("''", "'")
    assert "u0001" not in text


def test_a_backslash_in_a_template_file(tmp_path: Path) -> None:
    """In a template file it begins an escape, as in Jinja2."""
    convert_tasks(
        tmp_path,
        "- template: {src: a.j2, dest: /a, owner: a, group: a, mode: '0644'}\n",
        templates__a_DOT_j2="{{ lines | join('\\n') }}\n",
        defaults__main="lines: [a, b]\n",
    )
    template = next((tmp_path / "site").rglob("a.j2")).read_text()
    assert template == "{{ Data.lines | join('\\n') }}\n"
