"""Results of tasks that their arguments determine, and of commands that only read."""

import json
import os
import re
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from remote_runtime.errors import InputError
from tests.orchestrator.ansible.sites import check_valid, convert_tasks


def test_paths_and_accounts_of_results(tmp_path: Path) -> None:
    """The home and the group of a user, and the destination of a file, are what the task says."""
    result, text = convert_tasks(
        tmp_path,
        """
        - user: {name: "{{ login }}", system: true}
          register: account
        - file:
            path: "{{ account.home }}/conf"
            state: directory
            owner: "{{ account.name }}"
            group: "{{ account.group }}"
            mode: "0755"
        - copy: {content: x, dest: "/srv/{{ login }}.conf", owner: a, group: a, mode: "0644"}
          register: written
        - command: "check {{ written.dest }}"
        """,
        defaults__main="login: app\n",
    )
    outcomes = ["converted", "check", "converted", "converted"]
    assert [one.outcome for one in result.records] == outcomes
    assert "- \"{{ '/home/' ~ Data.login }}/conf\":" in text
    assert "# CHECK: this assumes that the group of 'user' has the user's name" in text
    assert "check {{ '/srv/' ~ Data.login ~ '.conf' }}" in text
    check_valid(tmp_path / "site")


def test_the_defaults_of_new_users(tmp_path: Path) -> None:
    """``useradd -D`` without more words only reads them."""
    result, text = convert_tasks(
        tmp_path,
        """
        - shell: useradd -D | grep INACTIVE={{ days }} | cut -f2 -d=
          register: settings
          changed_when: false
        - command: useradd -D -f {{ days }}
          when: settings.stdout | length == 0
        """,
        defaults__main="days: 30\n",
    )
    assert "not converted" not in {one.outcome for one in result.records}
    assert "useradd -D | grep INACTIVE={{ Data.days }} | cut -f2 -d=" in text
    check_valid(tmp_path / "site")


def test_found_files_of_a_loop(tmp_path: Path) -> None:
    """The results of `find` in a loop are lists of files: of literal paths, and of a variable."""
    _, text = convert_tasks(
        tmp_path,
        """
        - find: {paths: "{{ item }}", patterns: "*.conf"}
          loop: [/etc/a, /etc/b]
          register: found
        - file: {path: "{{ item.1.path }}", state: absent}
          with_subelements: ["{{ found.results }}", files]
        - find: {paths: "{{ item }}", recurse: true}
          loop: "{{ dirs }}"
          register: many
        - file: {path: "{{ item.path }}", mode: go-w}
          with_items: "{{ many.results | map(attribute='files') | list }}"
        """,
        defaults__main="dirs: [/opt/a]\n",
    )
    assert "NOT CONVERTED" not in text
    assert "find /etc/a -mindepth 1" in text
    assert "find /etc/b -mindepth 1" in text
    assert "{% for each in one.files %}" in text
    assert """{{ [Data.dirs | flatten] | flatten | join(''" "'') }}" -mindepth 1""" in text
    assert "| map(attribute=''files'') | list] | flatten(levels=2) }}" in text
    assert 'command: "chmod go-w {{ item.path | quote }}"' in text
    check_valid(tmp_path / "site")


def test_names_that_contain_a_line(tmp_path: Path) -> None:
    """A user cannot have `find` list the path of somebody else, by a directory with a newline."""
    searched = tmp_path / "searched"
    (searched / "x\n" / "etc").mkdir(parents=True)
    for path in ("a", "x\n/etc/passwd"):
        (searched / path).touch()
    _, text = convert_tasks(
        tmp_path,
        f"""
        - find: {{paths: {searched}, recurse: true}}
          register: old
        - file: {{path: "{{{{ item.path }}}}", state: absent}}
          loop: "{{{{ old.files }}}}"
        """,
    )
    argv = shlex.split(yaml.safe_load(text)["ccm"]["ask"]["old"]["command"])
    as_on_a_host = {**os.environ, "LC_ALL": "C"}
    printed = subprocess.run(argv, check=True, capture_output=True, text=True, env=as_on_a_host)
    assert printed.stdout.splitlines() == [f"{searched}/a"]


def test_results_of_find_by_element(tmp_path: Path) -> None:
    """A search for each element of a variable is not converted if a task uses the element."""
    _, text = convert_tasks(
        tmp_path,
        """
        - find: {paths: "{{ item }}"}
          loop: "{{ dirs }}"
          register: many
        - copy: {content: "{{ item.item }}", dest: "/x/{{ item.matched }}", mode: "0644"}
          loop: "{{ many.results }}"
        """,
        defaults__main="dirs: [/opt/a]\n",
    )
    assert "NOT CONVERTED: the results of find for each element of a list" in text


def test_lookups_after_a_task_that_is_not_converted(tmp_path: Path) -> None:
    """A result that the original reads after a task that may change the host is marked."""
    _, text = convert_tasks(
        tmp_path,
        """
        - community.general.nmcli: {conn_name: web, state: present}
        - command: wg genkey
          register: key
          changed_when: false
          no_log: true
        - slurp: {src: /etc/key}
          register: old
          no_log: true
        - copy: {content: "{{ key.stdout }}{{ old.content | b64decode }}", dest: /x, mode: "0600"}
        """,
    )
    assert "CHECK: the original fails if the command does" in text
    assert "CHECK: Asked.key is answered before the first change" in text
    assert "key: {command: wg genkey, sensitive: true}" in text
    assert "old: {file: /etc/key, sensitive: true}" in text
    check_valid(tmp_path / "site")


def test_names_that_a_shell_would_run(tmp_path: Path) -> None:
    """What a user of the host may choose is one word of a command; a command in which it would not
    be is not converted."""
    result, text = convert_tasks(
        tmp_path,
        """
        - find: {paths: /srv, file_type: directory}
          register: old
        - file: {path: "{{ item.path }}", state: directory, recurse: true, owner: a, mode: "0755"}
          loop: "{{ old.files }}"
        - unarchive: {src: "{{ item.path }}", dest: /opt, remote_src: true}
          loop: "{{ old.files }}"
        - sefcontext: {target: "{{ item.path }}", setype: x_t}
          loop: "{{ old.files }}"
        - set_fact: {newest: "{{ old.files[0].path }}"}
        - unarchive: {src: "{{ newest }}", dest: /opt, remote_src: true}
        - shell: {cmd: pack, creates: "{{ item.path }}/*.gz"}
          loop: "{{ old.files }}"
        - shell: {cmd: pack, removes: "{{ item.path }}/x"}
          loop: "{{ old.files }}"
        - command: "gzip {{ item.path }}"
          loop: "{{ old.files }}"
        """,
    )
    assert text.count("NOT CONVERTED: a command with text that only the host has") == 5
    assert "chown -R a {{ item.path | quote }} && chmod -R 0755 {{ item.path | quote }}" in text
    assert 'onlyif: "find {{ item.path | quote }} ! -user a' in text
    assert result.records[-1].outcome != "not converted"
    check_valid(tmp_path / "site")


def test_texts_that_would_be_searched_for_long(tmp_path: Path) -> None:
    """The time for a text of a role grows with its length, and not with the square of it."""
    begun = time.process_time()
    result, text = convert_tasks(
        tmp_path,
        f"""
        - command: "{"{{" * 400_000}"
        - command: "a{" " * 400_000}b"
        - command: |
            a   \\
              b

              c
        """,
    )
    assert time.process_time() - begun < 20
    converted = [one.outcome != "not converted" for one in result.records]
    assert converted == [False, True, True]
    assert "command: a b c" in text


def test_templates_that_would_be_tried_in_many_ways(tmp_path: Path) -> None:
    """Each ``{{ }}`` is one template, and none is read as other text or as several."""
    begun = time.process_time()
    many = "{{ a }}" * 40
    result, _ = convert_tasks(
        tmp_path,
        f"""
        - apt_repository: {{repo: "deb [{many}"}}
        - apt_repository: {{repo: "deb [arch={{{{ a }}}}] http://x/{many} stable main"}}
        - apt: {{name: "{many}"}}
        - apt: {{name: "x={many}!"}}
        - command: "{"{{ a " * 200_000}}}}}"
        - assert: {{that: "a", fail_msg: "{{{{{" " * 100_000}"}}
        """,
        defaults__main="a: b\n",
    )
    assert time.process_time() - begun < 20
    assert result.records[1].outcome != "not converted"


@pytest.mark.parametrize(
    "task",
    [
        *({module: "a" * 3_000} for module in ("include_tasks", "include_vars", "script")),
        {"import_role": {"name": "a" * 3_000}},
        {"copy": {"src": "a" * 3_000, "dest": "/x"}},
        {"copy": {"src": "{{ item }}", "dest": "/x"}, "with_fileglob": "a" * 3_000},
        {"copy": {"src": "{{ item }}", "dest": "/x"}, "with_fileglob": ""},
        {"copy": {"src": "{{ item.src }}", "dest": "/x"}, "with_filetree": "a" * 3_000},
        {"script": "it's"},
    ],
)
def test_names_that_no_file_has(tmp_path: Path, task: dict[str, Any]) -> None:
    """Such a task is not converted, and the others are."""
    result, _ = convert_tasks(
        tmp_path, json.dumps([task, {"file": {"path": "/x", "state": "directory"}}])
    )
    assert result.records[-1].outcome != "not converted"


@pytest.mark.parametrize(
    "task",
    [
        {"group": {"name": "g", "gid": "1" * 6_000}},
        {"sysctl": {"name": "a.b", "value": "1" * 6_000}},
        {"sysctl": {"name": "a.b", "value": "²"}},
        {"pause": {"minutes": "²"}},
        {"assert": {"that": "1" * 6_000}},
        {"assert": {"that": "0x" + "f" * 6_000}},
        {"apt": {"name": "a," * 500_000}},
    ],
)
def test_numbers_and_lists_that_are_too_large(tmp_path: Path, task: dict[str, Any]) -> None:
    """They do not end the import, and the other tasks are converted in time."""
    begun = time.process_time()
    other = {"file": {"path": "/x", "state": "directory"}}
    result, _ = convert_tasks(tmp_path, json.dumps([task, other]))
    assert result.records[-1].outcome != "not converted"
    assert time.process_time() - begun < 20


def test_more_resources_than_a_manifest_has(tmp_path: Path) -> None:
    """The tasks behind them stay as comments."""
    tasks = [{"apt": {"name": f"a{n}"}} for n in range(3_010)]
    result, _ = convert_tasks(tmp_path, json.dumps(tasks))
    assert [one.outcome == "not converted" for one in result.records].count(True) == 10


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_text_that_no_file_has(tmp_path: Path, text: str) -> None:
    """The error names its line."""
    with pytest.raises(InputError, match=r"main.yml:1: a string contains a character that"):
        convert_tasks(tmp_path, json.dumps([{"command": text}]))


def test_a_result_that_nothing_reads(tmp_path: Path) -> None:
    """A command that only reads needs no resource if nothing reads its result."""
    _, text = convert_tasks(
        tmp_path,
        """
        - shell: 'grep -s Hash /var/{{ item }} || true'
          loop: "{{ zones }}"
          register: hashes
          changed_when: false
        - command: cat /etc/needed
          register: needed
          changed_when: false
        """,
        defaults__main="zones: [a]\n",
    )
    assert "grep" not in text
    assert "- that: Asked.needed.exit_code == 0" in text
    check_valid(tmp_path / "site")


def test_two_results_with_the_same_name(tmp_path: Path) -> None:
    """Each reader, and each fact, has the answer of the task before it."""
    _, text = convert_tasks(
        tmp_path,
        """
        - command: cat /etc/first
          register: result
          changed_when: false
        - set_fact: {one: "{{ result.stdout }}"}
        - command: "echo {{ result.stdout }} {{ one }}"
        - command: cat /etc/second
          register: result
          changed_when: false
        - set_fact: {two: "{{ result.stdout }}"}
        - command: "echo {{ result.stdout }} {{ two }}"
        - slurp: {path: /etc/third}
          register: result
        - command: "echo {{ result.content | b64decode }}"
        """,
    )
    assert "result: {command: cat /etc/first}" in text
    assert "result_2: {command: cat /etc/second}" in text
    assert re.search(r"echo \{\{ Asked.result.stdout\S* \}\} \{\{ Data.one", text)
    assert re.search(r"one: .\{\{ Asked.result.stdout", text)
    assert re.search(r"echo \{\{ Asked.result_2.stdout\S* \}\} \{\{ Data.two", text)
    assert re.search(r"two: .\{\{ Asked.result_2.stdout", text)
    assert "echo {{ Asked.result_3.content }}" in text
    check_valid(tmp_path / "site")
