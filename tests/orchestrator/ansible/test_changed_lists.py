"""Lists and maps that a template changes with methods such as ``append()``."""

from pathlib import Path

import pytest
from jinja2 import Environment

from tests.orchestrator.ansible.sites import check_valid, convert_tasks

_TASK = "- template: {src: t.j2, dest: '%s', owner: root, group: root, mode: '0644'}\n"
_TEMPLATE = """\
{% set seen = [] %}
{% set state = {'first': true} %}
{% for name in names %}
{%   if name not in seen %}
{%     set _ = seen.append(name) %}
{{ 'first' if state.first else 'later' }} {{ name }}
{%     do state.update({'first': false}) %}
{%   endif %}
{% endfor %}
{% set copied = names | list %}
{% set _ = copied.extend(seen) %}
{{ seen | length }} of {{ copied | length }} names
"""


def test_the_file_of_a_template_that_changes_a_list(tmp_path: Path) -> None:
    """What a loop adds is there after it, as in the original."""
    names = ["b", "a", "b"]
    result, _ = convert_tasks(
        tmp_path,
        _TASK % "/t",
        defaults__main=f"names: {names}\n",
        templates__t_DOT_j2=_TEMPLATE,
    )
    assert [one.outcome for one in result.records] == ["converted"]
    check_valid(tmp_path / "site")
    text = (tmp_path / "site/roles/role/templates/t.j2").read_text()
    assert "{%     set seen.value = seen.value + [name] %}" in text
    jinja = Environment(trim_blocks=True, extensions=["jinja2.ext.do"], autoescape=False)
    jinja.filters["combine"] = lambda one, other: {**one, **other}
    expected = jinja.from_string(_TEMPLATE).render(names=names)
    assert expected == "first b\nlater a\n2 of 5 names"
    assert jinja.from_string(text).render(Data={"names": names}) == expected


def test_a_list_that_the_template_does_not_make(tmp_path: Path) -> None:
    """A change of a variable of the project is not converted."""
    result, text = convert_tasks(
        tmp_path,
        _TASK % "/t",
        defaults__main="names: [b]\n",
        templates__t_DOT_j2="{% set _ = names.append('c') %}{{ names }}\n",
    )
    assert [one.outcome for one in result.records] == ["not converted"]
    assert "line 1: the method append(), which changes a value" in text


@pytest.mark.parametrize(
    "statements",
    [
        "{% do seen.append(x) if (x is defined) %}",
        "{% do seen.append(x).append(x) %}",
        "{% set other = seen %}{% do seen.append(x) %}{{ other | length }}",
        "{% set other = [seen] %}{% do seen.append(x) %}{{ other | length }}",
        "{% set all = [] %}{% do all.append(seen) %}{% do seen.append(x) %}{{ all | length }}",
        "{% set all = {'of': seen} %}{% do seen.append(x) %}{{ all | length }}",
    ],
)
def test_a_change_that_is_no_new_value(tmp_path: Path, statements: str) -> None:
    """Neither a change under a condition nor one that another variable shows is converted."""
    result, _ = convert_tasks(
        tmp_path,
        _TASK % "/t",
        defaults__main="x: 1\n",
        templates__t_DOT_j2="{% set seen = [] %}" + statements + "{{ seen | length }}\n",
    )
    (record,) = result.records
    assert record.outcome == "not converted"
    assert "which changes a value" in record.reasons[0]


def test_a_template_that_a_variable_names(tmp_path: Path) -> None:
    """It may have filters that only Ansible has, at any place."""
    result, text = convert_tasks(
        tmp_path,
        _TASK.replace("t.j2", "'{{ file }}'") % "/t",
        defaults__main="file: t.j2\nown: {}\nmore: {}\n",
        templates__t_DOT_j2="{% for k, v in (own | combine(more)).items() %}{{ k }}{% endfor %}\n",
    )
    assert [one.outcome for one in result.records] == ["converted"]
    assert "template('role/templates/' ~ Data.file)" in text
    check_valid(tmp_path / "site")


def test_a_template_that_a_variable_does_not_name(tmp_path: Path) -> None:
    """If it cannot be converted, the task is, with a mark."""
    result, text = convert_tasks(
        tmp_path,
        _TASK.replace("t.j2", "'{{ file }}'") % "/t",
        defaults__main="file: t.j2\n",
        templates__t_DOT_j2="x\n",
        templates__other_DOT_j2="{{ lookup('nothing', 'x') }}\n",
    )
    assert [one.outcome for one in result.records] == ["check"]
    assert "# CHECK: the variable must have another value: the template other.j2" in text
    check_valid(tmp_path / "site")


def test_a_copy_that_the_template_changes(tmp_path: Path) -> None:
    """A copy of a map is the map itself, which never changes."""
    result, _ = convert_tasks(
        tmp_path,
        _TASK % "/t",
        defaults__main="usual: {a: 1}\nown: {b: 2}\n",
        templates__t_DOT_j2="{% set all = usual.copy() %}{% set _ = all.update(own) %}\n"
        "{{ all | length }} keys\n",
    )
    assert [one.outcome for one in result.records] == ["converted"]
    text = (tmp_path / "site/roles/role/templates/t.j2").read_text()
    assert "{% set all = namespace(value=Data.usual) %}" in text
    assert "{% set all.value = all.value | combine(Data.own) %}" in text
    check_valid(tmp_path / "site")
