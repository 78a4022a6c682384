"""Variables that the tasks of an earlier role or play set."""

from pathlib import Path

import pytest

from tests.orchestrator.ansible.sites import check_valid, convert
from tests.texts import expect_text

_ROLE_A = """
    - set_fact: {plain: from_a, made: "{{ base }}/x"}
    - set_fact: {late: one}
      when: base == '/srv'
    - command: cat /etc/hostname
      register: name
      changed_when: false
    - set_fact: {told: "{{ name.stdout }}"}
    - include_vars: extra.yml
    - include_vars: some.yml
      when: base == '/srv'
    - group: {name: app}
      register: made_group
    - set_fact: {number: "{{ made_group.gid }}"}
"""


def _site(tmp_path: Path, text: str, play: str = "hosts: all\n  roles: [a, b]") -> str:
    """A playbook with two roles; the second one has a task that reads variables."""
    _, site = convert(
        tmp_path,
        {
            "site.yml": f"- {play}\n",
            "roles/a/defaults/main.yml": "base: /srv\n",
            "roles/a/tasks/main.yml": _ROLE_A,
            "roles/a/vars/extra.yml": "extra: from_file\n",
            "roles/a/vars/some.yml": "some: from_file\n",
            "roles/b/defaults/main.yml": "own: 1\nplain_path: '/x/{{ plain }}'\n",
            "roles/b/tasks/main.yml": (
                "- copy: {dest: /etc/b, owner: root, group: root, mode: '0644', "
                f'content: "x {text}"}}\n'
            ),
        },
        source="site.yml",
    )
    check_valid(site)
    return (site / "roles/b.yaml").read_text()


def test_facts_of_an_earlier_role(tmp_path: Path) -> None:
    """A later role has the same facts if they only read variables of the project."""
    text = _site(tmp_path, "{{ plain | default('none') }} {{ made }}")
    assert "plain: from_a" in text
    assert 'made: "{{ Data.base }}/x"' in text
    assert "base: /srv" in text
    assert "NOT CONVERTED" not in text


def test_a_file_that_an_earlier_role_includes(tmp_path: Path) -> None:
    """A later role includes it, too, if it reads one of its variables."""
    assert '"vars:extra": {extra: from_file}' in _site(tmp_path, "{{ extra | default('none') }}")
    assert "vars:extra" not in _site(tmp_path / "other", "{{ own }}")


def test_a_default_reads_a_fact_of_an_earlier_role(tmp_path: Path) -> None:
    """The fact is there if only a default of the later role reads it."""
    assert "plain: from_a" in _site(tmp_path, "{{ plain_path }}")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{ name.stdout | default('none') }}", "it uses the result of 'command' in the role a"),
        ("{{ late | default('none') }}", "late: set_fact of the role a sets it"),
        ("{{ told | default('none') }}", "told: set_fact of the role a sets it"),
        ("{{ some | default('none') }}", "some: set_fact of the role a sets it"),
        ("{{ number | default('none') }}", "it uses number of 'set_fact', which is not converted"),
    ],
)
def test_what_a_later_role_cannot_read(tmp_path: Path, text: str, reason: str) -> None:
    """Results, facts from them and files included under a condition are not converted, in place of
    a default.
    """
    assert f"NOT CONVERTED: {reason}" in _site(tmp_path, text)


def test_facts_of_a_role_under_a_condition(tmp_path: Path) -> None:
    """A later role cannot know whether the earlier one has run."""
    play = "hosts: all\n  roles: [{role: a, when: base == '/srv'}, b]"
    text = _site(tmp_path, "{{ plain | default('none') }}", play)
    assert "NOT CONVERTED: plain: set_fact of the role a sets it" in text


def test_facts_of_other_hosts(tmp_path: Path) -> None:
    """A play does not have the facts of a play for other hosts."""
    play = "hosts: db\n  roles: [a]\n- hosts: web\n  roles: [b]"
    text = _site(tmp_path, "{{ plain | default('none') }}", play)
    assert "NOT CONVERTED: plain: set_fact of the role a sets it" in text


def test_a_default_that_an_earlier_role_overrides(tmp_path: Path) -> None:
    """A fact from a result overrides the default of a later role, which is marked."""
    _, site = convert(
        tmp_path,
        {
            "site.yml": "- hosts: all\n  roles: [a, b]\n",
            "roles/a/tasks/main.yml": _ROLE_A,
            "roles/b/defaults/main.yml": "told: none\n",
            "roles/b/tasks/main.yml": "- copy: {dest: /etc/b, content: 'x {{ told }}'}\n",
        },
        source="site.yml",
    )
    text = (site / "roles/b.yaml").read_text()
    assert "CHECK: told: set_fact of the role a sets it" in text


def test_facts_and_results_of_a_play(tmp_path: Path) -> None:
    """Roles read facts of the tasks before them, and the tasks after them read facts of roles."""
    _, site = convert(
        tmp_path,
        {
            "site.yml": """
            - hosts: all
              pre_tasks:
                - set_fact: {early: 1.5}
                - stat: {path: /etc/flag}
                  register: flag
              roles: [r]
              tasks:
                - copy: {dest: /etc/p, content: "x {{ fact | default('none') }}"}
            """,
            "roles/r/tasks/main.yml": """
            - set_fact: {fact: from_r}
            - copy: {dest: /etc/r, content: "x {{ early | default('none') }}"}
            - copy: {dest: /etc/s, content: "x"}
              when: flag.stat.exists | default(false)
            """,
        },
        source="site.yml",
    )
    text = (site / "roles/r.yaml").read_text()
    assert "early: 1.5" in text
    assert "NOT CONVERTED: it uses the result of 'stat' in a play" in text
    assert "fact: from_r" in (site / "site.yaml").read_text()
    check_valid(site)


def test_facts_of_an_included_role(tmp_path: Path) -> None:
    """Tasks after ``include_role`` read the facts of that role."""
    _, site = convert(
        tmp_path,
        {
            "roles/a/tasks/main.yml": "- set_fact: {fact: from_a}\n",
            "roles/b/tasks/main.yml": """
            - include_role: {name: a}
            - copy: {dest: /etc/b, content: "x {{ fact | default('none') }}"}
            """,
            "site.yml": "- hosts: all\n  roles: [b]\n",
        },
        source="site.yml",
    )
    assert "fact: from_a" in (site / "roles/b.yaml").read_text()


def test_results_outside_of_a_file_of_tasks(tmp_path: Path) -> None:
    """A file of tasks in a loop cannot read results of the role."""
    _, site = convert(
        tmp_path,
        {
            "roles/a/defaults/main.yml": "names: [x, y]\n",
            "roles/a/tasks/main.yml": """
            - stat: {path: /etc/flag}
              register: flag
            - include_tasks: one.yml
              loop: "{{ names }}"
            """,
            "roles/a/tasks/one.yml": """
            - copy: {dest: "/etc/{{ item }}", content: "x"}
              when: flag.stat.exists | default(false)
            """,
            "site.yml": "- hosts: all\n  roles: [a]\n",
        },
        source="site.yml",
    )
    text = (site / "roles/a-one.yaml").read_text()
    assert "NOT CONVERTED: it uses the result of 'stat', outside of this file of tasks" in text


def test_a_fact_of_the_host_that_an_earlier_role_sets(tmp_path: Path) -> None:
    """Readers of the fact in a later role are marked."""
    _, site = convert(
        tmp_path,
        {
            "site.yml": "- hosts: all\n  roles: [a, b]\n",
            "roles/a/tasks/main.yml": "- set_fact: {ansible_os_family: RedHat}\n  when: odd\n",
            "roles/a/defaults/main.yml": "odd: false\n",
            "roles/b/tasks/main.yml": """
            - copy: {dest: /etc/b, content: "x"}
              when: ansible_os_family == 'Debian'
            """,
        },
        source="site.yml",
    )
    text = (site / "roles/b.yaml").read_text()
    assert "CHECK: ansible_os_family: set_fact of the role a sets it" in text


def test_variables_of_a_dependency(tmp_path: Path) -> None:
    """A role, and other roles of the play, read the variables of its dependency."""
    _, site = convert(
        tmp_path,
        {
            "site.yml": "- hosts: all\n  roles: [app, other]\n",
            "roles/app/meta/main.yml": "dependencies: [common]\n",
            "roles/app/tasks/main.yml": '- copy: {dest: /etc/a, content: "x {{ place }}"}\n',
            "roles/common/defaults/main.yml": "place: /srv\n",
            "roles/common/vars/main.yml": "secret_word: s\n",
            "roles/common/tasks/main.yml": "- command: a\n",
            "roles/other/tasks/main.yml": (
                "- copy: {dest: /etc/b, content: \"x {{ secret_word | default('none') }}\"}\n"
            ),
        },
        source="site.yml",
    )
    assert "place: /srv" in (site / "roles/app.yaml").read_text()
    assert "secret_word: s" in (site / "roles/other.yaml").read_text()
    check_valid(site)


def test_files_of_variables_with_computed_names(tmp_path: Path) -> None:
    """Readers of their variables are not converted, in place of a default."""
    _, site = convert(
        tmp_path,
        {
            "site.yml": """
            - hosts: all
              vars_files: [vars/a.yml, "vars/{{ ansible_os_family }}.yml"]
              roles: [r]
            """,
            "vars/a.yml": "plain: 1\n",
            "vars/Debian.yml": "computed: 1\n",
            "roles/r/tasks/main.yml": """
            - copy: {dest: /etc/a, content: "x {{ plain }}"}
            - copy: {dest: /etc/b, content: "x {{ computed | default('none') }}"}
            """,
        },
        source="site.yml",
    )
    text = (site / "roles/r.yaml").read_text()
    assert "NOT CONVERTED: computed: vars_files of the play set it in Debian.yml" in text
    assert text.count("NOT CONVERTED") == 1


def test_a_list_from_a_filter(tmp_path: Path) -> None:
    """The list of a resource is a list, not a generator."""
    _, site = convert(
        tmp_path,
        {
            "roles/r/tasks/main.yml": (
                '- package: {name: "{{ one | default([]) | union(two) | unique }}"}\n'
            ),
            "roles/r/defaults/main.yml": "one: [a]\ntwo: [b]\n",
            "site.yml": "- hosts: all\n  roles: [r]\n",
        },
        source="site.yml",
    )
    assert "union(Data.two) | unique | list" in (site / "roles/r.yaml").read_text()
    check_valid(site)


def test_a_variable_of_a_play_that_its_tasks_change(tmp_path: Path) -> None:
    """Tasks and roles before ``set_fact`` read the earlier value."""
    _, site = convert(
        tmp_path,
        {
            "site.yml": """
            - hosts: all
              vars: {mode: old}
              roles: [web]
              tasks:
                - command: "echo {{ mode }}{{ zone }}"
                - set_fact: {mode: new, zone: two}
                - command: "echo {{ mode }}{{ zone }}"
            """,
            "hosts": "one",
            "group_vars/all.yml": "zone: one",
            "roles/web/tasks/main.yml": """
            - command: "echo {{ mode }}"
            """,
        },
    )
    text = (site / "site.yaml").read_text()
    assert "echo {{ Data.mode }}{{ Data.zone }}" in text
    assert "echo {{ Data.mode_set }}{{ Data.zone_set }}" in text
    assert "mode: old" in text
    assert "vars:facts" not in text
    check_valid(site)


def test_variables_that_a_task_reads_before_they_are_included(tmp_path: Path) -> None:
    """The task has the included value, unlike in the original, which is marked."""
    result, _ = convert(
        tmp_path,
        {
            "roles/web/defaults/main.yml": "{mode: old, zone: one}",
            "roles/web/vars/other.yml": "{mode: new, zone: two}",
            "roles/web/tasks/main.yml": """
            - command: "echo {{ mode }}"
            - include_vars: other.yml
            - command: "echo {{ mode }}{{ zone }}"
            """,
        },
        "roles/web",
    )
    assert [one.outcome for one in result.records] == ["converted", "check", "converted"]
    expect_text(" ".join(result.records[1].reasons))
