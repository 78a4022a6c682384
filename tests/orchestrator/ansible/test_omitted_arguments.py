"""Arguments that the original omits: under a condition, and for elements without a key."""

from pathlib import Path

from tests.orchestrator.ansible.sites import check_valid, convert_tasks
from tests.texts import expect_text

_PEOPLE = """
people:
- {name: a, uid: 5, comment: A, shell: /bin/sh, home: /a, group: g}
- {name: b, shell: /bin/sh}
- {name: c}
"""


def test_a_condition_that_omits_an_argument(tmp_path: Path) -> None:
    """There is a resource with the argument and one without it."""
    result, text = convert_tasks(
        tmp_path,
        """
        - file:
            path: /srv/a
            state: directory
            owner: "{{ owner if fixed else omit }}"
            group: "{{ (fixed | bool) | ternary('staff', omit) }}"
            mode: "0755"
        """,
        defaults__main="fixed: true\nowner: www\n",
    )
    assert [one.outcome for one in result.records] == ["check"]
    both = "foreach: \"['/srv/a'] if Data.fixed and Data.fixed | bool else []\""
    rest = ["ensure: directory", 'owner: "{{ Data.owner }}"', "group: staff"]
    assert "\n            ".join([both, *rest]) in text
    neither = "foreach: \"['/srv/a'] if not Data.fixed and not Data.fixed | bool else []\""
    rest = ["ensure: directory", "owner: root", "group: root"]
    assert "\n            ".join([neither, *rest]) in text
    check_valid(tmp_path / "site")


def test_a_condition_on_the_element(tmp_path: Path) -> None:
    """It filters the list of each resource."""
    _, text = convert_tasks(
        tmp_path,
        """
        - user:
            name: "{{ item.name }}"
            shell: "{{ item.shell if item.shell is defined else omit }}"
            comment: "{{ omit if item.name == 'root' else 'a user' }}"
          loop: "{{ people }}"
        """,
        defaults__main="people: [{name: a, shell: /bin/sh}, {name: root}]\n",
    )
    assert text.count("if item.name == ''root'' %}") == 2
    assert text.count("comment: a user") == 2
    assert text.count('shell: "{{ item.shell }}"') == 2
    check_valid(tmp_path / "site")


def test_elements_with_many_keys(tmp_path: Path) -> None:
    """Combinations of keys that the project has get a resource, and others are refused."""
    keys = ("uid", "comment", "shell", "home", "group")
    arguments = "".join(f'    {one}: "{{{{ item.{one} | default(omit) }}}}"\n' for one in keys)
    result, text = convert_tasks(
        tmp_path,
        f'- user:\n    name: "{{{{ item.name }}}}"\n{arguments}'
        '    system: "{{ item.system | default(omit) }}"\n'
        '    append: "{{ item.append | default(omit) }}"\n  loop: "{{ people }}"\n',
        defaults__main=_PEOPLE,
    )
    assert [one.outcome for one in result.records] == ["check"]
    assert text.count("foreach: Data.people |") == 3
    assert ") and item.system is not defined) %}" in text
    expect_text(result.records[0].reasons)
    check_valid(tmp_path / "site")


def test_what_no_element_has(tmp_path: Path) -> None:
    """A condition that asks for a key that no element has omits the argument, with a note."""
    _, text = convert_tasks(
        tmp_path,
        """
        - user:
            name: "{{ item.name }}"
            group: "{{ item.group if item.group is defined and item.group != 'x' else omit }}"
            shell: "{{ shell if shell else omit }}"
          loop: "{{ people }}"
        """,
        defaults__main="people: [{name: a}]\nshell: ''\n",
    )
    assert "# a condition of group is false, because no element has group" in text
    assert text.count('- "{{ item.name }}":') == 2
    assert text.count('shell: "{{ Data.shell }}"') == 1
    check_valid(tmp_path / "site")


def test_users_without_keys(tmp_path: Path) -> None:
    """An empty list of keys has no resource."""
    result, text = convert_tasks(
        tmp_path,
        """
        - authorized_key:
            user: "{{ item.name }}"
            key: "{{ item.keys_of | default([]) | join('\\n') }}"
            exclusive: true
          loop: "{{ people }}"
        - authorized_key: {user: root, key: "{{ root_key | default('') }}"}
        """,
        defaults__main="people: [{name: a, keys_of: [ssh-rsa AAAA]}, {name: b}]\n",
    )
    assert [one.outcome for one in result.records] == ["check", "converted"]
    assert "for item in Data.people if (item.keys_of | default([]) | join(" in text
    assert "(Data.root_key | default('')) not in ['', []] else []" in text
    check_valid(tmp_path / "site")


def test_many_keys_of_an_element_of_a_task_file(tmp_path: Path) -> None:
    """The manifest that is applied for each element has the same resources and assertion."""
    keys = ("uid", "comment", "shell", "home", "group")
    arguments = "".join(f'    {one}: "{{{{ user.{one} | default(omit) }}}}"\n' for one in keys)
    result, _ = convert_tasks(
        tmp_path,
        """
        - include_tasks: user.yml
          loop: "{{ people }}"
          loop_control: {loop_var: user}
        """,
        tasks__user=f'- user:\n    name: "{{{{ user.name }}}}"\n{arguments}'
        "    update_password: \"{{ user.update_password | default('always') }}\"\n",
        defaults__main=_PEOPLE,
    )
    assert {one.outcome for one in result.records} == {"converted", "check"}
    text = (tmp_path / "site/roles/role-user.yaml").read_text()
    assert text.count('foreach: "[Data.user.name] if ') == 3
    assert text.count("(Data.user.uid is not defined and ") == 2
    check_valid(tmp_path / "site")


def test_a_combination_that_no_element_has_at_all(tmp_path: Path) -> None:
    """Elements with two keys are refused if no element of the project has both."""
    result, text = convert_tasks(
        tmp_path,
        """
        - user:
            name: "{{ item.name }}"
            uid: "{{ item.uid | default(omit) }}"
            comment: "{{ item.comment | default(omit) }}"
            shell: "{{ item.shell | default(omit) }}"
          loop: "{{ people }}"
        """,
        defaults__main="""
        people:
        - {name: a, uid: 5, shell: /bin/sh}
        - {name: b, uid: 6}
        - {name: c, comment: C, shell: /bin/sh}
        - {name: d, comment: D}
        - {name: e, shell: /bin/sh}
        - {name: f}
        """,
    )
    assert [one.outcome for one in result.records] == ["check"]
    assert "item.uid is defined and item.comment is defined" not in text
    assert "has no resource for an element with such keys" in text
    check_valid(tmp_path / "site")
