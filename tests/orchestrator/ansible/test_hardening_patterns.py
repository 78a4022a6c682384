"""Patterns of hardening roles: found paths, modes with s, versions, files that must exist."""

from pathlib import Path

from tests.orchestrator.ansible.sites import check_valid, convert_tasks


def test_found_directories_keep_their_owner(tmp_path: Path) -> None:
    """Directories that the host names exist, so only the named attributes change."""
    result, text = convert_tasks(
        tmp_path,
        """
        - find: {paths: /home, file_type: directory}
          register: homes
        - file: {path: "{{ item.path }}", state: directory, mode: "0700"}
          loop: "{{ homes.files }}"
        """,
    )
    assert [one.outcome for one in result.records] == ["converted", "converted"]
    assert 'command: "chmod 0700 {{ item.path | quote }}"\n' in text
    assert "owner: root" not in text
    check_valid(tmp_path / "site")


def test_modes_that_change_special_bits(tmp_path: Path) -> None:
    """``a-s`` and ``g+s`` change the set-user-ID and set-group-ID bits alone."""
    result, text = convert_tasks(
        tmp_path,
        """
        - file: {path: /usr/bin/a, mode: a-s, state: file}
        - file: {path: /srv/b, mode: g+s, state: directory, owner: a, group: a}
        """,
    )
    assert "command: chmod a-s /usr/bin/a\n" in text
    assert "find /usr/bin/a -maxdepth 0 ! -perm /u+s,g+s,o+s | grep -q ." in text
    assert 'mode: "2755"' in text
    assert "not converted" not in [one.outcome for one in result.records]
    check_valid(tmp_path / "site")


def test_the_version_of_a_package_by_name(tmp_path: Path) -> None:
    """``ansible_facts.packages['a'][0].version`` is a lookup of the package."""
    _, text = convert_tasks(
        tmp_path,
        """
        - package_facts: {manager: auto}
        - command: echo 1
          when: ansible_facts.packages['libpam-modules'][0].version is version('1.4', '>=')
        """,
    )
    assert "package_libpam_modules: {package: libpam-modules}" in text
    assert "'version': Asked.package_libpam_modules.version}][0].version is version" in text
    check_valid(tmp_path / "site")


def test_a_command_that_reads_a_file_if_it_exists(tmp_path: Path) -> None:
    """``removes`` skips the command, which succeeds then; ``$1`` of awk is no variable."""
    result, text = convert_tasks(
        tmp_path,
        """
        - command: awk '{print $1}' /etc/login.defs
          args: {removes: /etc/login.defs}
          register: words
          changed_when: false
        - file: {path: "/srv/{{ words.stdout }}", state: directory, owner: a, group: a, mode: "755"}
        """,
    )
    assert [one.outcome for one in result.records] == ["converted", "converted"]
    assert "if test -e /etc/login.defs; then awk" in text
    check_valid(tmp_path / "site")


def test_a_look_up_that_reads_another_one(tmp_path: Path) -> None:
    """ccm refuses this in the lookup itself; through data, it asks in two rounds."""
    result, text = convert_tasks(
        tmp_path,
        """
        - command: cat /etc/a
          register: first
          changed_when: false
        - command: head -n {{ first.stdout }} /etc/b
          register: second
          changed_when: false
        - set_fact: {most: "{{ first.stdout | int - 1 }}"}
        - command: head -n {{ most }} /etc/b
          register: third
          changed_when: false
        - file: {path: "/srv/{{ second.stdout }}", state: directory}
        - command: echo {{ third.stdout }}
        """,
    )
    assert "NOT CONVERTED: a lookup that reads the answer of another one" in text
    assert 'third: {command: "head -n {{ Data.most }} /etc/b"}' in text
    outcomes = [one.outcome for one in result.records]
    assert outcomes == ["converted", "not converted", "converted"] * 2
    check_valid(tmp_path / "site")


def test_results_of_filters_are_lists(tmp_path: Path) -> None:
    """``map`` and ``unique`` give lists in Ansible, which have a length and a sum."""
    _, text = convert_tasks(
        tmp_path,
        """
        - assert: {that: "users | map(attribute='n') | unique | length == users | length"}
        - command: echo {{ (['a'] + users | map(attribute='n')) | join(' ') }}
          when: not more | d()
        """,
        defaults__main="users: [{n: x}, {n: y}]\nmore: []\n",
    )
    assert "map(attribute='n') | unique | list | length == Data.users | length" in text
    assert "(['a'] + Data.users | map(attribute='n') | list) | join(' ')" in text
    assert "if: not (true if Data.more | d else false)" in text
    check_valid(tmp_path / "site")


def test_the_line_of_a_kernel_parameter(tmp_path: Path) -> None:
    """ccm writes it with blanks, which the comment says."""
    result, text = convert_tasks(tmp_path, "- sysctl: {name: vm.swappiness, value: 1}\n")
    assert "# the file has the line `name = value`; the original writes it without spaces" in text
    assert result.records[0].outcome == "converted"
    check_valid(tmp_path / "site")
