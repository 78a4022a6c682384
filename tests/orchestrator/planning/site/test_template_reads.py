"""Data that whole templates read and nothing sets, in branches that no host takes as well."""

from pathlib import Path

import pytest

from tests.orchestrator.planning.planned import planner

SITE = """\
data: {port: 1, users: [a]}
ccm: {resources: [{exec: [{x: {command: "{{ template('a.j2') }}"}}]}]}
"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x\n {{ Data.prot }}", "b.j2:2:2: Data.prot is used here"),
        ("{% if Facts.x %}{{ Data.prot + 1 }}{% endif %}", "b.j2:1:17: Data.prot"),
        ("{% for u in Data.usrs %}{{ u }}{% endfor %}", "did you mean Data.users?"),
        ("{% set p = Data.prot %}", "did you mean Data.port?"),
        ("{{ lookup('data.prot') }}", "did you mean Data.port?"),
    ],
)
def test_what_a_template_reads_and_nothing_sets(tmp_path: Path, text: str, told: str) -> None:
    """It is a warning with the place in the template that reads it, and the nearest key."""
    (tmp_path / "a.j2").write_text("{% include 'b.j2' %}")
    (tmp_path / "b.j2").write_text(text)
    (found,) = map(str, planner(tmp_path, SITE).data_warnings())
    assert told in found


@pytest.mark.parametrize(
    "text",
    [
        "{{ Data.port }}{% for u in Data.users %}{{ u }}{% endfor %}",
        "{{ Data.tls | default('') }}",
        "{% if Data.tls is defined %}{{ Data.tls.key }}{% endif %}",
        "{# {{ Data.prot }} #}Data.prot",
        "{% for u in Data.more if Data.more %}{{ u }}{% endfor %}",
        "{{ Data.items() | list }}",
        "{%+ raw -%}{{ Data.prot }}{%+ endraw %}",
        "{% raw %}{{ .Data.data.password }}{{ Data.prot }}{% endraw %}",
    ],
)
def test_what_is_right_or_optional(tmp_path: Path, text: str) -> None:
    """Data that is there, that a template tests, and what is no code."""
    (tmp_path / "a.j2").write_text(text)
    assert planner(tmp_path, SITE).data_warnings() == []
