"""Names in ``notify`` that the original computes."""

from pathlib import Path

import pytest

from tests.orchestrator.ansible.sites import check_valid, convert_tasks
from tests.texts import expect_text

_HANDLERS = """
- name: restart chronyd
  service: {name: chrony, state: restarted}
- name: restart timemaster
  service: {name: timemaster, state: restarted}
"""


def test_a_name_with_two_possible_values(tmp_path: Path) -> None:
    """Each handler that the name may be runs if it is this one, and no other handler does."""
    other = "- name: restart other\n  command: other\n"
    result, text = convert_tasks(
        tmp_path,
        """
        - copy: {content: x, dest: /etc/a, owner: root, group: root, mode: "0644"}
          notify: restart {{ 'chronyd' if ntp_mode == 1 else 'timemaster' }}
        """,
        handlers__main=_HANDLERS + other,
        defaults__main="ntp_mode: 1\n",
    )
    assert [one.outcome for one in result.records] == ["converted"] * 3
    chosen = "('chronyd' if Data.ntp_mode == 1 else 'timemaster')"
    lines = [
        "command: systemctl restart chrony",
        "refresh_only: true",
        "control:",
        f"  if: {chosen} == 'chronyd'",
    ]
    assert "\n".join(" " * 12 + line for line in lines) in text
    assert f"if: {chosen} == 'timemaster'" in text
    assert "command: other" not in text
    check_valid(tmp_path / "site")


def test_a_name_that_two_tasks_compute_differently(tmp_path: Path) -> None:
    """Either task fires the handler, which is marked."""
    result, text = convert_tasks(
        tmp_path,
        """
        - copy: {content: x, dest: /etc/a, owner: root, group: root, mode: "0644"}
          notify: restart {{ daemon }}
        - copy: {content: x, dest: /etc/b, owner: root, group: root, mode: "0644"}
          notify: restart chronyd
        """,
        handlers__main=_HANDLERS,
        defaults__main="daemon: chronyd\n",
    )
    assert [one.outcome for one in result.records] == ["converted", "converted", "check"]
    assert 'subscribe: ["file#/etc/a", "file#/etc/b"]' in text
    assert "# CHECK: each task that may notify it fires it" in text
    check_valid(tmp_path / "site")


def test_a_name_as_the_handler_has_it(tmp_path: Path) -> None:
    """The same computed name in both places is the same handler."""
    result, text = convert_tasks(
        tmp_path,
        """
        - copy: {content: x, dest: /etc/a, owner: root, group: root, mode: "0644"}
          notify: restart {{ daemon }}
        """,
        handlers__main='- name: restart {{ daemon }}\n  command: "restart {{ daemon }}"\n',
        defaults__main="daemon: chronyd\n",
    )
    assert [one.outcome for one in result.records] == ["converted"] * 2
    assert 'subscribe: ["file#/etc/a"]' in text
    check_valid(tmp_path / "site")


@pytest.mark.timeout(60)
def test_a_name_of_many_parts(tmp_path: Path) -> None:
    """The ways in which a handler's name may consist of them are not all tried."""
    many = "x".join(f"{{{{ v{number} }}}}" for number in range(30))
    result, _ = convert_tasks(
        tmp_path,
        f"""
        - copy: {{content: x, dest: /etc/a, owner: root, group: root, mode: "0644"}}
          notify: "{many}y"
        """,
        handlers__main=f"- name: {'x' * 200}\n  service: {{name: chrony, state: restarted}}\n",
    )
    (record,) = result.records
    assert record.outcome == "check"
    assert "is not in the role or play" in record.reasons[0]


_RELOADS = """
- name: reload one
  command: reload one
- name: reload two
  command: reload two
"""


def test_names_of_the_elements_of_a_loop(tmp_path: Path) -> None:
    """The change of a literal element fires its handler; that of another list fires all."""
    result, text = convert_tasks(
        tmp_path,
        """
        - copy: {dest: "/a/{{ item }}", content: a, owner: a, group: a, mode: "0644"}
          loop: [one, two]
          notify: reload {{ item }}
        - copy: {dest: "/b/{{ item }}", content: b, owner: a, group: a, mode: "0644"}
          loop: "{{ names }}"
          notify: reload {{ item }}
        """,
        handlers__main=_RELOADS,
        defaults__main="names: [one, two]\n",
    )
    assert 'subscribe: ["file#/a/one", "file#b-item"]' in text
    assert 'subscribe: ["file#/a/two", "file#b-item"]' in text
    assert "if:" not in text
    expect_text(" ".join(result.records[1].reasons))
    check_valid(tmp_path / "site")


def test_names_in_tasks_that_a_loop_includes(tmp_path: Path) -> None:
    """A name contains the element of the loop, or the variable of the task."""
    _, text = convert_tasks(
        tmp_path,
        """
        - include_tasks: each.yml
          loop: [{name: one}, {name: two}]
          loop_control: {loop_var: thing}
        - copy: {dest: /b, content: b, owner: a, group: a, mode: "0644"}
          vars: {which: "{{ kind }}"}
          notify: reload {{ which }}
        """,
        tasks__each="""
        - copy: {dest: "/a/{{ thing.name }}", content: a, owner: a, group: a, mode: "0644"}
          notify: reload {{ thing.name }}
        """,
        handlers__main=_RELOADS,
        defaults__main="kind: two\n",
    )
    assert 'subscribe: ["file#/a/one"]' in text
    assert 'subscribe: ["file#/a/two", "file#/b"]' in text
    check_valid(tmp_path / "site")
