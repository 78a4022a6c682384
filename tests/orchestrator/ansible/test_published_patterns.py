"""Patterns of published roles: versions in names, service facts, answers, destinations."""

from pathlib import Path

from tests.orchestrator.ansible.sites import check_valid, convert_tasks


def test_versions_behind_computed_names(tmp_path: Path) -> None:
    """The name and the version are parted, and a version may stand under a condition."""
    _, text = convert_tasks(
        tmp_path,
        """
        - apt: {name: "{{ pkg }}={{ ver }}"}
        - apt: {name: "bar{{ '=' ~ ver if ver != '' else '' }}"}
        - apt: {name: "baz{{ '=' + ver + '-1' if ver is defined }}"}
        - apt: {name: "{{ item.name }}={{ item.version }}"}
          loop: "{{ pkgs }}"
        """,
        defaults__main='pkg: foo\nver: "1.2"\npkgs: [{name: a, version: "1"}]\n',
    )
    assert '- "{{ Data.pkg }}":\n            ensure: "{{ Data.ver }}"' in text
    assert "ensure: \"{{ Data.ver if Data.ver != '' else 'present' }}\"" in text
    assert "- baz:\n            ensure: \"{{ Data.ver ~ '-1' if Data.ver is defined" in text
    assert 'foreach: Data.pkgs\n            ensure: "{{ item.version }}"' in text
    check_valid(tmp_path / "site")


def test_members_of_service_facts(tmp_path: Path) -> None:
    """Whether a service is there, runs or is enabled are look-ups."""
    _, text = convert_tasks(
        tmp_path,
        """
        - service_facts:
        - command: echo 1
          when: ansible_facts.services['firewalld.service'] is defined
        - command: echo 2
          when: ansible_facts['services']['cron.service'].state == 'running'
        - command: echo 3
          when: services['cron.service'] is not defined
        """,
    )
    assert "if: Asked.has_firewalld_service.exit_code == 0" in text
    assert "service_cron_service: {service: cron}" in text
    assert "('running' if Asked.service_cron_service.active else 'stopped') == 'running'" in text
    assert "if: Asked.has_cron_service.exit_code != 0" in text
    check_valid(tmp_path / "site")


def test_content_of_slurp_by_its_key(tmp_path: Path) -> None:
    """``x['content'] | b64decode`` is the text of the file, as ``x.content`` is."""
    _, text = convert_tasks(
        tmp_path,
        """
        - slurp: {src: /etc/x}
          register: x
        - command: "echo {{ x['content'] | b64decode | regex_findall('(a+)') | first }}"
        """,
    )
    assert "{{ Asked.x.content | regex_findall('(a+)') | first }}" in text
    check_valid(tmp_path / "site")


def test_a_command_that_its_own_task_tests(tmp_path: Path) -> None:
    """It runs at its turn and fails; where others read its answer, the difference is marked."""
    result, text = convert_tasks(
        tmp_path,
        """
        - command: dig +short a.example
          register: dig
          changed_when: false
          failed_when: dig.stdout == ''
        - command: nginx -v
          register: version
          changed_when: false
          failed_when: version.stdout == 'x'
        - command: echo {{ version.stdout }}
        """,
    )
    assert "out=$({ dig +short a.example; })" in text
    assert "Asked.dig" not in text
    assert result.records[1].outcome == "check"
    assert "the original fails if version.stdout == 'x'" in result.records[1].reasons[-1]
    check_valid(tmp_path / "site")


def test_names_of_files_in_a_directory(tmp_path: Path) -> None:
    """A directory as ``dest`` gets the file under its name, which a template keeps whole."""
    _, text = convert_tasks(
        tmp_path,
        """
        - template: {src: t.conf.j2, dest: /etc/a/, owner: root, group: root, mode: "0644"}
        - copy: {src: "{{ path }}", dest: /etc/b/, owner: root, group: root, mode: "0644"}
          when: path is defined and path
        - copy: {src: "{{ path | default('a/b') }}", dest: /etc/, owner: root, group: root}
        """,
        defaults__main='path: ""\n',
        templates__t_DOT_conf_DOT_j2="x\n",
    )
    assert "- /etc/a/t.conf.j2:" in text
    assert "foreach: \"['/etc/b/' ~ Data.path | basename] if " in text
    assert "- \"/etc/{{ (Data.path | default('a/b')) | basename }}\":" in text
    check_valid(tmp_path / "site")


def test_plugins_of_rabbitmq_that_are_not_named(tmp_path: Path) -> None:
    """Without ``new_only``, the original disables them, which is marked."""
    result, text = convert_tasks(
        tmp_path,
        """
        - rabbitmq_plugin: {names: a, state: enabled, new_only: "{{ new }}"}
        - rabbitmq_plugin: {names: b, state: enabled, new_only: true}
        """,
        defaults__main='new: "no"\n',
    )
    assert "rabbitmq-plugins enable a" in text
    assert "plugins that the task does not name stay enabled" in result.records[0].reasons
    assert "plugins that the task does not name stay enabled" not in result.records[1].reasons
