"""How templates print values, and options of Jinja in strings."""

from pathlib import Path

import pytest

from tests.orchestrator.ansible.sites import check_valid, convert_tasks
from tests.texts import expect_text

_FILE = "owner: a, group: a, mode: '0644'"


def _template(tmp_path: Path, body: str, tasks: str = "", defaults: str = "") -> str:
    """The converted text of a template of a role."""
    convert_tasks(
        tmp_path,
        f"{tasks}- template: {{src: t.j2, dest: /t, {_FILE}}}\n",
        defaults__main=defaults,
        templates__t_DOT_j2=body,
    )
    check_valid(tmp_path / "site")
    return (tmp_path / "site/roles/role/templates/t.j2").read_text()


def test_booleans_in_macros(tmp_path: Path) -> None:
    """An argument of a macro may be a boolean, which Ansible prints as True."""
    text = _template(
        tmp_path, "{% macro m(v) %}{{ v }}{% endmacro %}{{ m(on) }}\n", defaults="on: true\n"
    )
    assert "{{ v | string | capitalize if v is boolean else v }}" in text


def test_booleans_of_a_loop(tmp_path: Path) -> None:
    """Ansible prints them as True, too."""
    text = _template(tmp_path, "{% for a in [1, 2] %}{{ loop.first }}{% endfor %}\n")
    assert "{{ 'True' if loop.first else 'False' }}" in text


def test_an_element_that_is_null(tmp_path: Path) -> None:
    """It is an empty text, also in the list of edits."""
    _, text = convert_tasks(
        tmp_path,
        """
        - lineinfile: {path: /etc/a, line: "{{ item.key }}={{ item.value }}"}
          loop: "{{ options | dict2items }}"
        """,
        defaults__main="options: {a: b, c: ~}\n",
    )
    assert "if item.value is none else item.value" in text
    check_valid(tmp_path / "site")


def test_booleans_in_pairs(tmp_path: Path) -> None:
    """So may a member of a list in a list."""
    text = _template(
        tmp_path,
        "{% for a, b in pairs %}{{ a }}{{ b }}{% endfor %}\n",
        defaults="pairs: [[x, true], [y, 1]]\n",
    )
    assert "{{ a }}{{ b | string | capitalize if b is boolean else b }}" in text


def test_a_fact_that_may_be_unset(tmp_path: Path) -> None:
    """A template tests whether the fact is none in place of whether it is defined."""
    text = _template(
        tmp_path,
        "{% if speed is defined %}{{ speed }}{% endif %}{{ speed | default('slow') }}\n",
        tasks="- set_fact: {speed: fast}\n  when: big\n",
        defaults="big: false\n",
    )
    assert "{% if speed is not none %}" in text
    assert "{{ speed if speed is not none else 'slow' }}" in text


def test_a_fact_of_the_host_that_a_task_replaces(tmp_path: Path) -> None:
    """Until the condition is true, the fact keeps its value."""
    _, text = convert_tasks(
        tmp_path,
        f"""
        - set_fact: {{ansible_os_family: RedHat}}
          when: ansible_distribution in others | default(['UnionTech'])
        - copy: {{dest: /a, content: "x", {_FILE}}}
          when: ansible_os_family == 'Debian'
        """,
    )
    assert "else Data.ansible_os_family }}" in text
    assert "if: Data.ansible_os_family_set == 'Debian'" in text
    assert "ansible_os_family: \"{{ {'debian': 'Debian'" in text
    check_valid(tmp_path / "site")


def test_options_of_jinja_in_a_string(tmp_path: Path) -> None:
    """The header line of a string is not part of the file."""
    _, text = convert_tasks(
        tmp_path,
        f"""
        - copy:
            dest: /a
            {_FILE.replace(", ", chr(10) + " " * 12)}
            content: |
              #jinja2: lstrip_blocks: True
              {{{{ names | join(',') }}}}
        """,
        defaults__main="names: [a, b]\n",
    )
    assert 'template("#jinja2: lstrip_blocks: True\\n{{ Data.names' in text


def test_conditions_on_computed_values(tmp_path: Path) -> None:
    """A name in a condition is true, also if it is no boolean. So is a list of hosts."""
    _, text = convert_tasks(
        tmp_path,
        """
        - package: {name: "{{ tool }}"}
          when: tool
          vars:
            tool: "{% if ansible_pkg_mgr == 'apt' %}python3-apt{% else %}{% endif %}"
        - assert: {that: groups.get('etcd') or not strict}
        - command: "true"
          when: role_prefix ~ 'x'
        """,
        defaults__main="strict: false\nrole_prefix: a\n",
    )
    assert "| bool(template(" in text
    assert "(true if Groups.get('etcd') else false) or not Data.strict" in text
    assert "bool(Data.role_prefix ~ 'x' != '')" in text


def test_a_computed_backup_of_an_edit(tmp_path: Path) -> None:
    """ccm keeps none, whatever the variable is."""
    result, text = convert_tasks(
        tmp_path,
        """
        - stat: {path: /etc/r}
          register: found
        - lineinfile: {path: /etc/r, line: x, backup: "{{ not found.stat.islnk }}"}
        """,
    )
    assert result.records[1].outcome == "check"
    assert "CHECK: no backup of the file is kept" in text


def test_a_part_of_a_list(tmp_path: Path) -> None:
    """A filter that returns a generator in ccm has parts, as in Ansible."""
    _, text = convert_tasks(
        tmp_path,
        """
        - command: "x {{ (names | flatten | unique)[:2] | join(' ') }} {{ (names | unique)[0] }}"
        """,
        defaults__main="names: [a, b]\n",
    )
    assert "(Data.names | flatten | unique | list)[:2]" in text
    assert "(Data.names | unique | list)[0]" in text
    check_valid(tmp_path / "site")


def test_lists_and_maps_in_text(tmp_path: Path) -> None:
    """Ansible writes them in the syntax of Python."""
    text = _template(
        tmp_path,
        "{{ names | unique }} {{ names }} {{ options | combine({'c': 1}) }} {{ name.split(',') }}",
        defaults="names: [a, b]\noptions: {a: b}\nname: a,b\n",
    )
    assert "{{ Data.names | unique | list | string }} {{ Data.names | string }}" in text
    assert "{{ Data.options | combine({'c': 1}) | string }}" in text
    assert "{{ Data.name.split(',') | string }}" in text


def test_statements_in_a_loop_over_one_file(tmp_path: Path) -> None:
    """A block with statements cannot read the element, which the site would refuse."""
    _, text = convert_tasks(
        tmp_path,
        """
        - blockinfile:
            path: /etc/a
            marker: "# {mark} {{ item }}"
            block: "{% for one in [1, 2] %}{{ item }}{{ one }}{% endfor %}"
          loop: "{{ names }}"
        """,
        defaults__main="names: [a, b]\n",
    )
    assert "NOT CONVERTED: a loop over one file with statements that read the element" in text
    check_valid(tmp_path / "site")


def _line(tmp_path: Path, expression: str, defaults: str) -> str:
    """The converted expression from a template."""
    text = _template(tmp_path, f"v={{{{ {expression} }}}}\n", defaults=defaults)
    return text.removeprefix("v={{ ").removesuffix(" }}\n")


@pytest.mark.parametrize(
    ("expression", "converted"),
    [
        ("names[:2]", "Data.names[:2] | string"),
        ("word | list", "Data.word | list | string"),
        ("json | from_json", "Data.json | from_json | string"),
        ("json | from_json | from_yaml", "Data.json | from_json | string"),
        ("'a.b' | splitext", "'a.b' | splitext | string"),
        ("dict(a=1)", "dict(a=1) | string"),
        ("lookup('items', names)", "[Data.names] | flatten(levels=1) | join(',')"),
        ("lookup('list', names)", "Data.names"),
        ("word.startswith('w')", "'True' if Data.word.startswith('w') else 'False'"),
        (
            "(json | from_json).a",
            "(Data.json | from_json).a | string | capitalize "
            "if (Data.json | from_json).a is boolean else (Data.json | from_json).a",
        ),
        ("flag | quote", "('True' if Data.flag else 'False') | quote"),
        ("'a' ~ flag", "'a' ~ ('True' if Data.flag else 'False')"),
        ("'%s-%s' | format(flag, word)", "('True' if Data.flag else 'False') ~ '-' ~ Data.word"),
        ("'%dM' | format(size * 0.5)", "(Data.size * 0.5) | int ~ 'M'"),
        (
            "unknown | default(true)",
            "Data.unknown | default(true) | string | capitalize "
            "if Data.unknown | default(true) is boolean else Data.unknown | default(true)",
        ),
        ("'a' if flag", "'a' if Data.flag else ''"),
    ],
)
def test_values_in_text(tmp_path: Path, expression: str, converted: str) -> None:
    """Ansible prints lists, maps and booleans as Python does; ccm prints them as JSON."""
    defaults = "{names: [a, b, c], word: w, json: '{}', flag: true, size: 5}\n"
    assert _line(tmp_path, expression, defaults) == converted


def test_a_sum_of_lists_in_a_variable(tmp_path: Path) -> None:
    """The definition of a variable is one operand of what prints it."""
    _, text = convert_tasks(
        tmp_path,
        f"- copy: {{dest: /a, content: 'v={{{{ all }}}}', {_FILE}}}\n"
        "  vars: {all: \"{{ names + ['x'] }}\"}\n",
        defaults__main="names: [a]\n",
    )
    assert "{{ (Data.names + ['x']) | string }}" in text


def test_null_in_a_joined_value(tmp_path: Path) -> None:
    """Ansible prints null as None behind ``~``."""
    _, text = convert_tasks(
        tmp_path,
        f"- copy: {{dest: /a, content: \"{{{{ 'a' ~ nothing ~ flag }}}}\", {_FILE}}}\n",
        defaults__main="{nothing: ~, flag: true}\n",
    )
    assert "a{{ Data.nothing | string }}{{ 'True' if Data.flag else 'False' }}" in text


def test_json_with_other_letters(tmp_path: Path) -> None:
    """Ansible escapes letters that are not ASCII; ccm writes them."""
    result, _ = convert_tasks(
        tmp_path,
        f"- copy: {{dest: /a, content: 'v={{{{ name | to_json }}}}', {_FILE}}}\n",
        defaults__main="name: Grüße\n",
    )
    expect_text(" ".join(result.records[0].reasons))


def test_rounds_of_a_password(tmp_path: Path) -> None:
    """Ansible takes the rounds of passlib if none are given."""
    result, _ = convert_tasks(
        tmp_path,
        "- user: {name: a, password: \"{{ word | password_hash('sha512', 'salt') }}\"}\n",
        defaults__main="word: secret\n",
    )
    expect_text(" ".join(result.records[0].reasons))


def test_booleans_of_variables_within_elements(tmp_path: Path) -> None:
    """A member that reads a boolean variable is printed as Python does, too."""
    text = _template(
        tmp_path,
        "{% for one in rows %}{{ one.value }}{% endfor %}{{ rows[0].value }}\n",
        defaults='debug: true\nrows: [{value: "{{ debug }}"}, {value: "{{ rows[0].value }}"}]\n',
    )
    printed = "{{{{ {0} | string | capitalize if {0} is boolean else {0} }}}}"
    assert printed.format("one.value") + "{% endfor %}" in text
    assert printed.format("Data.rows[0].value") in text


def test_booleans_of_the_lookup_dict(tmp_path: Path) -> None:
    """Its elements are the pairs of the map, of which a condition may test each value."""
    _, text = convert_tasks(
        tmp_path,
        f"""
        - copy: {{dest: "/a/{{{{ item.key }}}}", content: "{{{{ item.value }}}}", {_FILE}}}
          loop: "{{{{ lookup('dict', options) }}}}"
          when: item.value
        """,
        defaults__main="options: {path: /a, flag: true, size: 5}\n",
    )
    printed = "{{ item.value | string | capitalize if item.value is boolean else item.value }}"
    assert f'content: "{printed}"' in text
    assert "if true if item.value else false %}" in text


def test_booleans_of_variables_within_literal_elements(tmp_path: Path) -> None:
    """An element of a literal list, or a member of a fact, may read a boolean variable."""
    _, text = convert_tasks(
        tmp_path,
        """
        - lineinfile: {path: /a, line: "{{ item.key }}={{ item.value }}"}
          with_items: [{key: a, value: "{{ flag }}"}, {key: b, value: 1}]
        - set_fact: {made: {inner: "{{ rows[0] }}"}}
        - command: echo {{ made.inner.on_boot }}
        """,
        defaults__main="flag: true\nrows: [{on_boot: true}]\n",
    )
    assert "a={{ Data.flag | string | capitalize if Data.flag is boolean" in text
    assert "echo {{ Data.made.inner.on_boot | string | capitalize if" in text
    check_valid(tmp_path / "site")
