"""Conditions on results, changes, other hosts, elements that omit, and the environment."""

from pathlib import Path

import pytest

from tests.orchestrator.ansible.sites import check_valid, convert, convert_tasks

TESTED = {
    "until": (
        "until: r.stdout.find('ready') != -1\n  retries: 5\n  delay: 2",
        "grep -qF -- ready",
    ),
    "failed": (
        "failed_when: r.rc != 0 and 'exists' not in r.stderr",
        "[ $rc -ne 0 ] && ! { printf",
    ),
    "one of several": (
        "until: r.stdout in ['up', 'down']\n  retries: 5\n  delay: 2",
        '[ "$out" = up ] || [ "$out" = down ]',
    ),
    "number": ("failed_when: r.stdout | int > 3", '[ "$out" -gt 3 ]'),
    "list": ("failed_when: [r.rc > 1, r.stdout == 'a']", '[ $rc -gt 1 ] && [ "$out" = a ]'),
}


@pytest.mark.parametrize("name", TESTED)
def test_a_condition_on_the_result_of_a_command(tmp_path: Path, name: str) -> None:
    """``until`` and ``failed_when`` are tests of what the command has printed."""
    keywords, expected = TESTED[name]
    result, text = convert_tasks(
        tmp_path, f"- shell: check it\n  register: r\n  {keywords}\n", defaults__main="a: 1\n"
    )
    assert result.records[0].outcome == "converted"
    assert "out=$({ check it; }" in text
    assert expected in text.replace("\\\\", "\\").replace('\\"', '"')
    check_valid(tmp_path / "site")


def test_a_change_or_a_condition(tmp_path: Path) -> None:
    """``a or b.changed`` is a guard beside a subscription."""
    _, text = convert_tasks(
        tmp_path,
        """
        - copy: {content: x, dest: /etc/a, owner: root, group: root, mode: "0600"}
          register: conf
        - stat: {path: /srv/db}
          register: db
        - command: make it
          when: force or conf.changed or not db.stat.exists
        """,
        defaults__main="force: false\n",
    )
    assert "'x' if Data.force else ''" in text.replace("''", "'").replace("''", "''") or (
        "''x'' if Data.force else" in text
    )
    assert "! test -e /srv/db" in text
    assert 'subscribe: ["file#/etc/a"]' in text
    check_valid(tmp_path / "site")


def test_states_after_a_change(tmp_path: Path) -> None:
    """What is removed after a change is removed then only; what is set is kept so, and marked."""
    result, text = convert_tasks(
        tmp_path,
        """
        - package: {name: app}
          notify: [clean, configure]
        """,
        handlers__main="""
        - name: clean
          file: {path: /var/cache/app, state: absent}
        - name: configure
          copy: {content: x, dest: /etc/app, owner: root, group: root, mode: "0644"}
        """,
    )
    assert "command: rm -rf /var/cache/app\n            refresh_only: true" in text
    assert [one.outcome for one in result.records] == ["converted", "converted", "check"]
    check_valid(tmp_path / "site")


def test_a_handler_of_a_file(tmp_path: Path) -> None:
    """The tasks of a file that a handler includes follow the same changes."""
    _, text = convert_tasks(
        tmp_path,
        "- package: {name: app}\n  notify: again\n",
        handlers__main="- name: again\n  include_tasks: more.yml\n",
        handlers__more="- name: stop\n  command: app stop\n- command: app start\n",
    )
    assert text.count('subscribe: ["package#app"]') == 2
    check_valid(tmp_path / "site")


def test_delegation_to_one_host(tmp_path: Path) -> None:
    """What is done once on the first host of a group has a condition for it."""
    result, site = convert(
        tmp_path,
        {
            "hosts": "[db]\ndb1\n[web]\nweb1\n",
            "site.yml": "- hosts: all\n  tasks:\n    - command: migrate\n      run_once: true\n"
            "      delegate_to: \"{{ groups['db'][0] }}\"\n"
            "    - command: here\n      delegate_to: '{{ inventory_hostname }}'\n",
        },
    )
    assert "if: Host.name == Groups['db'][0]" in (site / "site.yaml").read_text()
    assert [one.outcome for one in result.records] == ["check", "converted"]
    check_valid(site, "-i", str(site / "hosts.yaml"))


def test_an_environment_that_a_variable_holds(tmp_path: Path) -> None:
    """A map of variables is passed on to commands; an empty one needs nothing."""
    result, text = convert_tasks(
        tmp_path,
        """
        - command: a
          environment: "{{ proxy }}"
        - package: {name: x}
          environment: "{{ nothing }}"
        """,
        defaults__main="proxy: {http_proxy: p}\nnothing: {}\n",
    )
    assert "for name, value in (Data.proxy).items()" in text
    assert result.records[1].outcome == "converted"
    check_valid(tmp_path / "site")


def test_elements_with_many_optional_properties(tmp_path: Path) -> None:
    """Beyond four properties, elements that have one are refused before the first change."""
    names = ("uid", "home", "shell", "comment", "group", "password")
    result, text = convert_tasks(
        tmp_path,
        "- user:\n    name: '{{ item.name }}'\n"
        + "".join(f"    {one}: '{{{{ item.{one} | default(omit) }}}}'\n" for one in names)
        + "  loop: '{{ people }}'\n",
        defaults__main="people: []\n",
    )
    assert result.records[0].outcome == "check"
    assert "selectattr('password', 'defined') | list) == []" in text
    check_valid(tmp_path / "site")


def test_a_tree_of_templates(tmp_path: Path) -> None:
    """``with_filetree`` is one resource for each file and directory."""
    _, text = convert_tasks(
        tmp_path,
        """
        - file: {path: "/{{ item.path }}", state: directory, owner: a, group: a, mode: "0755"}
          with_community.general.filetree: ../templates
          when: item.state == 'directory'
        - template: src="{{ item.src }}" dest="/{{ item.path }}" owner=a group=a mode=0644
          with_community.general.filetree: ../templates
          when: item.state == 'file'
        """,
        templates__etc__app="x\n",
    )
    assert "- /etc:" in text or "- /etc__app:" in text
    check_valid(tmp_path / "site")


def test_statements_in_a_value(tmp_path: Path) -> None:
    """A text with statements that an expression reads is the text of a template."""
    _, text = convert_tasks(
        tmp_path,
        """
        - command: use {{ item }}
          loop: "{{ keys | from_json }}"
          vars:
            keys: "{% if small %}{{ ['a'] | to_json }}{% else %}{{ ['b'] | to_json }}{% endif %}"
        """,
        defaults__main="small: true\n",
    )
    assert "from_json" in text
    check_valid(tmp_path / "site")


def test_what_counts_as_changed(tmp_path: Path) -> None:
    """A command that never counts as a change fires nothing; one that does so sometimes is marked
    where it fires.
    """
    result, text = convert_tasks(
        tmp_path,
        """
        - command: one
          register: one
          changed_when: one.rc == 2
          failed_when: one.rc not in [0, 2]
        - command: two
          when: one is changed
        - service: {name: a, state: started}
          register: three
          changed_when: false
        - command: four
          when: three is changed
        """,
    )
    assert [one.outcome for one in result.records][1] == "check"
    assert "CHECK: runs after each run of 'command', regardless of its changed_when" in text
    assert "- four:" not in text
    check_valid(tmp_path / "site")


def test_a_result_of_one_of_several_edits(tmp_path: Path) -> None:
    """The edits of a file are one resource: what waits for one of them is marked."""
    result, text = convert_tasks(
        tmp_path,
        """
        - lineinfile: {path: /a, line: x}
        - lineinfile: {path: /a, line: y}
          register: changed
        - service: {name: b, state: restarted}
          when: changed is changed
        - lineinfile: {path: /c, line: x}
        - lineinfile: {path: /c, line: y}
          register: unused
        """,
    )
    assert [one.outcome for one in result.records] == [*["check"] * 2, *["converted"] * 3]
    assert (
        "the original reacts to changes by some of these tasks; ccm reacts to changes "
        "by all of them"
    ) in text
    check_valid(tmp_path / "site")


def test_whether_something_is_set_at_all(tmp_path: Path) -> None:
    """`x | default(false)` holds for a path or an address, which `bool` would refuse."""
    _, text = convert_tasks(
        tmp_path,
        """
        - name: note it
          command: touch {{ log }}
          when: log | default(false)
        - set_fact: {kept: "{{ log }}"}
          when: log | default(false)
        """,
    )
    assert "if: true if Data.log | default(false) else false" in text
    assert "Data.log if (true if Data.log | default(false) else false) else" in text


def test_a_command_that_reads_and_fails(tmp_path: Path) -> None:
    """It ends the original: an assertion before the first change, and a mark after it."""
    result, text = convert_tasks(
        tmp_path,
        """
        - command: getenforce
          register: mode
          changed_when: false
          when: ansible_os_family == 'RedHat'
        - command: pidof a
          register: pids
          changed_when: false
          failed_when: pids.rc not in [0, 1]
        - shell: grep a /etc/b || true
          register: kept
          changed_when: false
        - command: b -v
          register: tolerated
          failed_when: false
        - file: {path: /srv/x, state: directory, owner: a, group: a, mode: "0755"}
          when: mode.stdout == 'Enforcing' or pids.stdout or kept.stdout or tolerated.rc
        - command: c -v
          register: later
          changed_when: false
        - command: d -v
          register: judged
          changed_when: false
          failed_when: judged.rc > 1
        - file: {path: "/srv/{{ later.stdout }}{{ judged.stdout }}", state: directory}
        """,
    )
    rhel = "not (Facts.host.info.platformFamily in ['rhel', 'fedora'])"
    assert f"that: {rhel} or Asked.mode.exit_code == 0\n" in text
    assert "message: \"'getenforce' fails\"" in text
    assert "# the original requests it only if ansible_os_family == 'RedHat'\n" in text
    assert "or Asked.pids.stdout.rstrip('\\r\\n') != '' or" in text
    assert "that: Asked.pids.exit_code in [0, 1]\n" in text
    assert text.count("- that:") == 2
    assert "the original fails if the command does; here, the answer is only read" in text
    assert "the original fails if judged.rc > 1; here, the answer is only read" in text
    outcomes = ["converted"] * 5 + ["check"] * 3
    assert [one.outcome for one in result.records] == outcomes
    check_valid(tmp_path / "site")


def test_a_rescue_without_a_failure(tmp_path: Path) -> None:
    """The original continues after a message, which is marked; ``fail`` ends it as ccm does."""
    block = """
        - block:
            - command: a -v
              register: one
              changed_when: false
          rescue:
            - {RESCUE}
        - file: {path: "/srv/{{ one.stdout }}", state: directory, owner: a, group: a, mode: "755"}
        """
    result, text = convert_tasks(tmp_path / "1", block.replace("{RESCUE}", "debug: {msg: no}"))
    assert "# CHECK: the original continues after a failure; here, a failure ends the run" in text
    assert "- that:" not in text
    assert [one.outcome for one in result.records] == ["check", "check", "converted"]
    result, text = convert_tasks(tmp_path / "2", block.replace("{RESCUE}", "fail: {msg: no}"))
    assert "# rescue: not needed: ccm ends the run after a failure" in text
    assert [one.outcome for one in result.records][1] == "converted"


def test_a_command_that_tests_and_changes(tmp_path: Path) -> None:
    """It is no lookup, although it begins with a test, or claims to change nothing."""
    result, text = convert_tasks(
        tmp_path,
        """
        - shell: test -f /swap && swapoff /swap || true
          register: off
          changed_when: off.stdout != ''
        - command: update-ca-certificates
          register: certificates
          changed_when: false
        - debug: {var: certificates.stdout}
        """,
    )
    assert "ask:" not in text
    assert 'test -f /swap && swapoff /swap || true"\n' in text
    assert "command: update-ca-certificates\n" in text
    assert [one.outcome for one in result.records] == ["converted"] * 3


def test_a_change_with_a_default(tmp_path: Path) -> None:
    """``x.changed | default(false) | bool`` is whether x changed."""
    _, text = convert_tasks(
        tmp_path,
        """
        - copy: {content: x, dest: /etc/a, owner: a, group: a, mode: "0644"}
          register: conf
        - command: systemctl restart a
          when: conf.changed | default(false) | bool
        """,
    )
    assert 'refresh_only: true\n            subscribe: ["file#/etc/a"]' in text
    check_valid(tmp_path / "site")


def test_bool_of_other_strings(tmp_path: Path) -> None:
    """The filter `bool` is false for a string that is not a boolean, as Ansible's is."""
    _, text = convert_tasks(
        tmp_path,
        """
        - command: echo 1
          when: level | bool
        - command: echo 2
          when: wanted | bool
        - command: echo 3
          when: unknown | default('') | bool
        """,
        defaults__main="level: strict\nwanted: true\n",
    )
    assert "if: Data.level | bool(false)" in text
    assert "if: Data.wanted | bool\n" in text
    assert "if: Data.unknown | default('') | bool(false)" in text
    check_valid(tmp_path / "site")


def test_edits_of_a_list_that_may_not_exist(tmp_path: Path) -> None:
    """The list of a loop is not read where the condition of its task is false."""
    _, text = convert_tasks(
        tmp_path,
        """
        - lineinfile: {path: /etc/k3s.env, line: "{{ item }}"}
          loop: "{{ envs }}"
          when: envs is defined
        - lineinfile: {path: /etc/k3s.env, line: "TOKEN={{ token }}"}
        - lineinfile: {path: /etc/other, line: "{{ item }}"}
          loop: "{{ others }}"
          when: [others is defined, item != 'x']
        """,
        defaults__main="token: abc\n",
    )
    assert "if Data.envs is defined and Data.envs | length > 0 else []) + [{''line''" in text
    assert "if: Data.others is defined and Data.list_lineinfile | length > 0" in text
    check_valid(tmp_path / "site")


def test_names_of_hosts_in_text(tmp_path: Path) -> None:
    """A member of a group or of a list of facts is a string; a list is written as Python does."""
    _, text = convert_tasks(
        tmp_path,
        """
        - copy: {dest: /a, content: "{{ groups['db'][0] }} {{ group_names[0] }}\\n", mode: "0644"}
        - copy: {dest: /b, content: "a {{ ansible_interfaces[0] }}\\n", mode: "0644"}
        - copy: {dest: /c, content: "a {{ groups['db'] }}\\n", mode: "0644"}
        """,
    )
    assert "{{ Groups.db[0] }} {{ Host.groups[0] }}\n" in text
    assert "a {{ Groups.db | string }}\n" in text


def test_a_condition_that_returns_text(tmp_path: Path) -> None:
    """A match counts as true, and none as false."""
    _, text = convert_tasks(
        tmp_path,
        """
        - file: {path: /a, state: absent}
          when: version | regex_search('^1')
        - file: {path: /b, state: absent}
          when: lookup('env', 'PROXY')
        """,
        defaults__main="version: 1.2.3\n",
    )
    assert "if: true if Data.version | regex_search('^1') else false" in text
    assert "if: true if Environ.PROXY | default('') else false" in text
    check_valid(tmp_path / "site")
