"""The newline that Ansible drops after a value that is not text."""

from pathlib import Path

import pytest

from tests.orchestrator.ansible.sites import check_valid, convert_tasks

_DEFAULTS = "number: 1\ntext: '80'\nlone: '{{ number }}'\nempty:\nlisted: []\n"
_MARK = "Ansible 2.19 and later write no newline after a value that is not text"
_COPY = 'copy: {{content: "{}", dest: /a, owner: a, group: a, mode: "0644"}}'
_TEMPLATE = "template: {src: a, dest: /a, owner: a, group: a, mode: '0644'}"

DROPPED = {
    "number": r"{{ number }}\n",
    "number of a variable": r"{{ lone }}\n",
    "number behind a comment": r"{# b #}{{ number }}\n",
    "unknown variable": r"{{ nowhere }}\n",
    "unknown variable with a text as default": r"{{ nowhere | default('80') }}\n",
    "element of a list": r"{{ listed[0] }}\n",
    "size": r"{{ found.stat.size }}\n",
    "code of a command": r"{{ asked.rc }}\n",
    "branch": r"{% if text %}{{ number }}{% else %}{{ text }}{% endif %}\n",
    "empty branch": r"{{ number }}{% if number > 1 %}, more{% endif %}\n",
}
KEPT = {
    "text": r"{{ text }}\n",
    "text by a filter": r"{{ nowhere | string }}\n",
    "text by a method": r"{{ nowhere.strip() }}\n",
    "text by a format": r"{{ '%s' % number }}\n",
    "output of a command": r"{{ asked.stdout }}\n",
    "fact": r"{{ ansible_hostname }}\n",
    "more than a number": r"{{ number }} of 3\n",
    "two numbers": r"{{ number }}{{ number }}\n",
    "blank in front": r" {{ number }}\n",
    "two newlines": r"{{ number }}\n\n",
    "branch of texts": r"{% if number > 1 %}{{ text }}{% else %}none{% endif %}\n",
}
_READ = (
    "- command: id -u www\n  register: asked\n  changed_when: false\n"
    "- stat: {path: /etc/fstab}\n  register: found\n"
)


@pytest.mark.parametrize("name", [*DROPPED, *KEPT])
def test_a_newline_after_one_expression(tmp_path: Path, name: str) -> None:
    """It is marked where the value is no text or unknown, and only there."""
    task = _COPY.format((DROPPED | KEPT)[name])
    result, text = convert_tasks(tmp_path, f"{_READ}- {task}\n", defaults__main=_DEFAULTS)
    assert result.records[-1].outcome != "not converted"
    assert (_MARK in text) == (name in DROPPED)
    check_valid(tmp_path / "site")


@pytest.mark.parametrize("name", ["number", "branch", "text", "more than a number"])
def test_a_newline_of_a_template(tmp_path: Path, name: str) -> None:
    """A template that is one expression and a newline has the same mark."""
    body = (DROPPED | KEPT)[name].replace(r"\n", "\n")
    _, text = convert_tasks(
        tmp_path, f"- {_TEMPLATE}\n", defaults__main=_DEFAULTS, templates__a=body
    )
    assert "template(" in text
    assert (_MARK in text) == (name in DROPPED)


def test_values_that_end_with_a_newline(tmp_path: Path) -> None:
    """A list stays a list behind a newline, a text keeps its newline, and an unknown value has one
    if it is a text.
    """
    _, text = convert_tasks(
        tmp_path,
        "- file: {path: '/x/{{ item }}', state: directory}\n  loop: '{{ all }}'\n",
        defaults__main="""
        base: [a]
        active: true
        more: |
          {{ ['b'] if active else [] }}
        name: |
          {{ 'x' | upper }}
        open: |
          {{ nowhere }}
        all: "{{ base + more + [name, open] }}"
        """,
    )
    assert "more: \"{{ ['b'] if Data.active else [] }}\"" in text
    assert "name: |\n    {{ 'x' | upper }}\n" in text
    assert r"Data.nowhere ~ ''\n'' if Data.nowhere is string else Data.nowhere" in text
    check_valid(tmp_path / "site")


def test_the_lookup_of_a_template_with_an_option(tmp_path: Path) -> None:
    """``convert_data`` has no effect: the answer is text."""
    result, text = convert_tasks(
        tmp_path,
        "- copy: {content: '{{ conf | to_json }}', dest: /a, owner: a, group: a, mode: '0644'}\n",
        defaults__main="conf: \"{{ lookup('template', 'c.j2', convert_data=False) | from_yaml }}\"",
        templates__c_DOT_j2="a: 1\n",
    )
    assert result.records[0].outcome == "converted"
    assert "template('role/templates/c.j2') | from_yaml" in text
    check_valid(tmp_path / "site")
