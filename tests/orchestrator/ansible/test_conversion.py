"""Keywords and statements: loops, conditions, results, handlers, facts, included files."""

import resource
from pathlib import Path

import pytest

from orchestrator.ansible import importer
from orchestrator.ansible.importer import import_project
from tests.orchestrator.ansible.sites import check_valid, convert_tasks, write


def test_conditions_of_elements_choose_from_the_list(tmp_path: Path) -> None:
    """A condition on an element stands in ``foreach``, as names are rendered before control."""
    _, text = convert_tasks(
        tmp_path,
        """
        - file: {path: "{{ item.root }}", state: directory, owner: root, group: root, mode: 0755}
          with_items: "{{ sites }}"
          when: item.root is defined
        - user: {name: "{{ item.name }}"}
          loop: "{{ sites }}"
          when: item.state | default('present') != 'absent'
        """,
        defaults__main="sites: [{name: a, root: /srv/a}, {name: b}]\n",
    )
    assert "Data.sites | selectattr('root', 'defined') | list" in text
    assert "foreach: Data.list_user" in text
    check_valid(tmp_path / "site")


def test_an_element_may_have_a_key_named_index(tmp_path: Path) -> None:
    """It is not the number of the element, nor is a file called so."""
    _, text = convert_tasks(
        tmp_path,
        """
        - copy: {content: "{{ item.index }}", dest: "{{ item.root }}/index.html", mode: "0644"}
          loop: "{{ sites }}"
          when: item.index is defined
        """,
        defaults__main="sites: [{root: /srv/a, index: x}, {name: b}]\n",
    )
    assert "foreach: Data.sites | selectattr('index', 'defined') | list\n" in text
    check_valid(tmp_path / "site")


def test_omitted_properties_of_elements(tmp_path: Path) -> None:
    """Elements with and without a key become two resources."""
    _, text = convert_tasks(
        tmp_path,
        "- user: {name: '{{ item.name }}', shell: '{{ item.shell | default(omit) }}'}\n"
        "  loop: '{{ people }}'\n",
        defaults__main="people: [{name: a, shell: /bin/sh}, {name: b}]\n",
    )
    assert "foreach: Data.people | selectattr('shell', 'defined') | list" in text
    assert "foreach: Data.people | rejectattr('shell', 'defined') | list" in text
    check_valid(tmp_path / "site")


def test_a_written_loop_over_one_file_is_one_edit(tmp_path: Path) -> None:
    """Lines of one file become one resource with several edits, those with a condition too."""
    _, text = convert_tasks(
        tmp_path,
        """
        - lineinfile: {path: /etc/a, regexp: "{{ item.r }}", line: "{{ item.l }}"}
          with_items: [{r: ^a, l: a 1}, {r: ^b, l: b 1}]
        - lineinfile: {path: /etc/b, line: x}
        - lineinfile: {path: /etc/b, line: z}
          when: extra
        """,
        defaults__main="extra: false\n",
    )
    assert '- {line: a 1, match: "^a"}' in text
    assert "([{'line': 'z'}] if Data.extra else [])" in text
    check_valid(tmp_path / "site")


def test_a_file_of_tasks_in_a_loop_is_applied(tmp_path: Path) -> None:
    """Each element of a variable applies a manifest of its own, which inherits what it reads."""
    _, text = convert_tasks(
        tmp_path,
        "- include_tasks: one.yml\n  loop: '{{ people }}'\n  loop_control: {loop_var: account}\n",
        tasks__one="""
        - user: {name: "{{ account.name }}", shell: "{{ shell }}"}
        - command: enable {{ account.name }}
        """,
        defaults__main="people: [{name: a}]\nshell: /bin/sh\n",
    )
    assert 'data: {account: "{{ item }}"}' in text
    assert "inherit_data: [shell]" in text
    check_valid(tmp_path / "site")


def test_changes_of_tasks_are_subscriptions(tmp_path: Path) -> None:
    """``when: x is changed`` runs the command after a change only."""
    result, text = convert_tasks(
        tmp_path,
        """
        - copy: {content: x, dest: /etc/a, owner: root, group: root, mode: 0600}
          register: conf
        - command: reload
          when: conf is changed
        - package: name=a
          when: conf.changed
        """,
    )
    assert 'refresh_only: true\n            subscribe: ["file#/etc/a"]' in text
    assert result.records[2].outcome == "check"
    assert "ccm ensures this on each push" in text


def test_stat_is_a_condition_on_the_host(tmp_path: Path) -> None:
    """``stat`` and commands that read become conditions at the turn of the resource."""
    _, text = convert_tasks(
        tmp_path,
        """
        - package: name=a
        - stat: path=/opt/x
          register: found
        - shell: a list | head
          register: listed
          changed_when: false
        - command: b
          when: not found.stat.exists
        - command: c
          when: "'x' not in listed.stdout"
        """,
    )
    assert "absent: /opt/x" in text
    assert "! { a list | head; } | grep -qF -- x" in text
    check_valid(tmp_path / "site")


def test_handlers_listen_and_flush(tmp_path: Path) -> None:
    """Handlers run where they are flushed, and by the topics that they listen to."""
    _, text = convert_tasks(
        tmp_path,
        """
        - copy: {content: x, dest: /etc/a, owner: root, group: root, mode: 0600}
          notify: web
        - meta: flush_handlers
        - command: after
        - copy: {content: y, dest: /etc/b, owner: root, group: root, mode: 0600}
          notify: rebuild
        """,
        handlers__main="""
        - name: rebuild
          command: build creates=/x
          listen: web
        """,
    )
    first, second = text.index("- rebuild:"), text.index("- rebuild (2):")
    assert first < text.index("- after:") < second
    assert "absent: /x" in text
    check_valid(tmp_path / "site")


def test_resources_of_one_name_exclude_each_other(tmp_path: Path) -> None:
    """A file that two tasks manage under opposite conditions; both notify the handler."""
    _, text = convert_tasks(
        tmp_path,
        """
        - copy: {content: x, dest: /etc/a, owner: root, group: root, mode: 0600}
          when: tls
          notify: restart
        - file: path=/etc/a state=absent
          when: not tls
          notify: restart
        """,
        handlers__main="- name: restart\n  service: name=a state=restarted\n",
        defaults__main="tls: false\n",
    )
    assert "foreach: \"['/etc/a'] if Data.tls else []\"" in text
    assert 'subscribe: ["file#task", "file#task-2"]' in text or text.count('"file#') == 2
    check_valid(tmp_path / "site")


def test_variables_by_the_family_of_the_host(tmp_path: Path) -> None:
    """``include_vars`` by a fact is an entry of the hierarchy, ``set_fact`` a value of data."""
    _, text = convert_tasks(
        tmp_path,
        """
        - include_vars: "{{ ansible_os_family }}.yml"
        - set_fact: {service: "{{ _service }}"}
          when: service is not defined
        - service: {name: "{{ service }}", state: started}
        - include_tasks: "setup-{{ ansible_os_family }}.yml"
        """,
        vars__Debian="_service: apache2\n",
        vars__RedHat="_service: httpd\n",
        **{"tasks__setup-Debian": "- apt: name=apache2\n"},
    )
    assert '"vars:{{ Facts.host.info.platformFamily }}"' in text
    assert '"vars:fedora": {_service: httpd}' in text
    assert 'service: "{{ Data._service }}"' in text
    assert "if: Facts.host.info.platformFamily == 'debian'" in text
    check_valid(tmp_path / "site")


def test_assertions(tmp_path: Path) -> None:
    """``assert`` and ``fail`` refuse the host before its first change."""
    _, text = convert_tasks(
        tmp_path,
        """
        - assert: {that: [port > 1024], fail_msg: too low}
        - fail: msg="no {{ kind }}"
          when: kind not in ['a', 'b']
        - package: name=a
        """,
        defaults__main="port: 8080\nkind: a\n",
    )
    assert "- that: Data.port > 1024" in text
    assert "- that: Data.kind in ['a', 'b']" in text
    check_valid(tmp_path / "site")


def test_a_final_newline_stays(tmp_path: Path) -> None:
    """The text around a template is kept to the byte."""
    _, text = convert_tasks(
        tmp_path,
        '- copy: {content: "{{ x }}\\n", dest: /a, owner: root, group: root, mode: 0600}\n',
        defaults__main="x: 1\n",
    )
    assert "content: |\n              {{ Data.x }}\n            owner" in text


def test_a_circle_of_variables_ends(tmp_path: Path) -> None:
    """Facts that are made of each other take no time."""
    result, text = convert_tasks(
        tmp_path,
        "".join('- set_fact: {a: "{{ a + b }}", b: "{{ b + a }}"}\n' for _ in range(9))
        + "- package: name=x\n",
    )
    assert result.records[0].outcome == "converted"
    assert 'a_set_9: "{{ Data.a_set_8 + Data.b_set_8 }}"' in text


def test_a_role_of_a_role(tmp_path: Path) -> None:
    """Dependencies and included roles are applied, with their parameters."""
    write(
        tmp_path / "project",
        {
            "site.yml": "- hosts: all\n  roles: [{role: a, vars: {x: 2}}]\n",
            "roles/a/tasks/main.yml": "- include_role: {name: c}\n  vars: {y: '{{ x }}'}\n",
            "roles/a/defaults/main.yml": "x: 1\n",
            "roles/a/meta/main.yml": "dependencies: [{role: b, z: 3}]\n",
            "roles/b/tasks/main.yml": "- command: b {{ z }}\n",
            "roles/c/tasks/main.yml": "- command: c {{ y }}\n",
            "roles/c/defaults/main.yml": "y: 0\n",
        },
    )
    import_project(str(tmp_path / "project"), str(tmp_path / "site"))
    text = (tmp_path / "site" / "roles" / "a.yaml").read_text()
    assert "- b.yaml:\n            data: {z: 3}" in text
    assert "{{ Data.x }}" in text
    check_valid(tmp_path / "site")


def test_a_fact_that_is_not_converted_is_not_read(tmp_path: Path) -> None:
    """A test of such a fact would be false without a word, so its tasks are kept, too."""
    result, _ = convert_tasks(
        tmp_path,
        """
        - set_fact: {any_of_them: "{{ lookup('pipe', 'x') }}"}
          loop: "{{ people }}"
          when: item == 'a'
        - package: name=x
          when: any_of_them is defined
        """,
        defaults__main="people: [a]\n",
    )
    assert [one.outcome for one in result.records] == ["not converted", "not converted"]


def test_vaulted_values_stay_vaulted(tmp_path: Path) -> None:
    """An encrypted value of a variable is encrypted in the manifest."""
    _, text = convert_tasks(
        tmp_path,
        "- copy: {content: '{{ token }}', dest: /a, owner: root, group: root, mode: 0600}\n",
        defaults__main="token: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  6138\n",
    )
    assert "token: !vault |\n    $ANSIBLE_VAULT;1.1;AES256\n    6138\n" in text


def test_a_property_that_a_variable_may_omit(tmp_path: Path) -> None:
    """Two resources exclude each other: with the property where the key is there, else without."""
    _, text = convert_tasks(
        tmp_path,
        "- user: {name: joe, uid: '{{ account.uid | default(omit) }}'}\n",
        defaults__main="account: {}\nother: '{{ account }}'\n",
    )
    assert "uid:" not in text
    _, text = convert_tasks(
        tmp_path / "more",
        "- include_tasks: one.yml\n  loop: '{{ people }}'\n  loop_control: {loop_var: account}\n",
        tasks__one="""
        - user: {name: "{{ account.name }}", uid: "{{ account.uid | default(omit) }}"}
        """,
        defaults__main="people: [{name: a}, {name: b, uid: 9}]\n",
    )
    child = (tmp_path / "more" / "site" / "roles" / "role-one.yaml").read_text()
    assert 'foreach: "[Data.account.name] if Data.account.uid is defined else []"' in child
    check_valid(tmp_path / "more" / "site")


def test_what_reads_an_early_answer_is_marked(tmp_path: Path) -> None:
    """A version that is asked before the package is there: the template that reads it, too."""
    tasks = """
        - package: name=haproxy
        - command: haproxy -v
          register: told
          changed_when: false
          failed_when: false
        - set_fact: {version: "{{ '1.5' if '1.5.' in told.stdout else '1.4' }}"}
        - template: {src: t.j2, dest: /etc/t, owner: root, group: root, mode: '0644'}
        - template: {src: u.j2, dest: /etc/u, owner: root, group: root, mode: '0644'}
    """
    result, text = convert_tasks(
        tmp_path, tasks, defaults__main="x: 'v{{ version }}'\n",
        templates__t_DOT_j2="{{ x }}\n", templates__u_DOT_j2="plain\n",
    )  # fmt: skip
    assert [one.outcome for one in result.records] == [
        "converted", "converted", "check", "check", "converted",
    ]  # fmt: skip
    assert "# CHECK: it reads x: Asked.told is answered before the first change" in text
    check_valid(tmp_path / "site")


def test_variables_of_files_under_a_condition_on_data(tmp_path: Path) -> None:
    """Files by facts are read, with a mark; a file under a condition becomes facts under it."""
    tasks = """
        - include_vars: "{{ ansible_os_family }}.yml"
          when: enabled | bool
        - include_vars: new.yml
          when: release == '2'
        - include_vars: "{{ ansible_distribution_version.split('.')[0] }}.yml"
          when: enabled | bool
        - copy: {content: "{{ a }}{{ b }}", dest: /etc/t, owner: root, group: root, mode: '0644'}
    """
    result, text = convert_tasks(
        tmp_path, tasks, defaults__main="enabled: true\nrelease: '2'\n",
        vars__Debian="a: 1\n", vars__new="b: 2\n", vars__12="c: 3\n",
    )  # fmt: skip
    assert "the original reads these variables only if enabled | bool" in text
    assert "b: \"{{ 2 if Data.release == '2' else '' }}\"" in text
    assert "not converted" not in {one.outcome for one in result.records}


def test_a_fact_that_is_kept_leaves_the_default(tmp_path: Path) -> None:
    """A task under a condition that is not converted: what reads its variable is marked."""
    tasks = """
        - command: find out
          delegate_to: localhost
          register: told
          when: version == 'latest'
        - set_fact: {version: "{{ told.stdout }}"}
          when: version == 'latest'
        - copy: {content: "{{ version }}", dest: /a, owner: root, group: root, mode: '0644'}
    """
    result, text = convert_tasks(tmp_path, tasks, defaults__main="version: '1'\n")
    assert [one.outcome for one in result.records] == ["not converted", "not converted", "check"]
    assert "version has its value from before" in text
    check_valid(tmp_path / "site")


def test_a_variable_without_a_counterpart_is_not_read(tmp_path: Path) -> None:
    """What reads it is kept with the reason, and the site is valid."""
    tasks = "- cron: {name: a, job: b, minute: '{{ minute }}'}\n- debug: {msg: x}\n"
    result, text = convert_tasks(tmp_path, tasks, defaults__main="minute: '{{ 59 | random }}'\n")
    assert result.records[0].outcome == "not converted"
    assert "NOT CONVERTED: the variable minute: random without a seed" in text
    check_valid(tmp_path / "site")


def test_a_random_number_of_the_host_is_the_one_of_ansible(tmp_path: Path) -> None:
    """With a seed, ccm finds the number that Ansible finds."""
    tasks = "- cron: {name: a, job: b, minute: '{{ minute }}'}\n"
    result, text = convert_tasks(
        tmp_path, tasks, defaults__main="minute: '{{ 59 | random(seed=inventory_hostname) }}'\n"
    )
    assert result.records[0].outcome == "converted"
    assert 'minute: "{{ 59 | random(seed=Host.name) }}"' in text
    check_valid(tmp_path / "site")


def test_a_disk_without_room(tmp_path: Path) -> None:
    """The error names the file, and nothing of the site remains, so the import can be repeated."""
    project, site = tmp_path / "project", tmp_path / "site"
    (project / "group_vars").mkdir(parents=True)
    (project / "group_vars" / "all.yml").write_text(f"long: {'x' * 9_000}\n")
    task = "{ansible.builtin.file: {path: /srv/a, state: directory}}"
    (project / "site.yml").write_text(f"- {{hosts: all, tasks: [{task}]}}\n")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            import_project(str(project), str(site))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(caught.value.filename).startswith(f"{site}/data/")
    assert list(site.iterdir()) == []
    import_project(str(project), str(site))


def test_a_difference_of_a_resource_that_is_not_written(tmp_path: Path) -> None:
    """The report has no difference of a second resource of a file, which does not exist."""
    tasks = (
        "- {copy: {content: x, dest: /b, owner: root, group: root, mode: preserve}}\n"
        "- {file: {path: /b, state: touch}}\n"
    )
    result, text = convert_tasks(tmp_path, tasks)
    reasons = result.records[1].reasons
    assert "file#/b is already managed above, in another way" in reasons
    assert not [one for one in reasons if "this resource" in one]
    assert "this resource" not in text


def test_a_file_that_somebody_else_writes_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed import removes only what it has written itself."""
    site = tmp_path / "site"
    task = "{ansible.builtin.file: {path: /srv/a, state: directory}}"
    (tmp_path / "site.yml").write_text(f"- {{hosts: all, tasks: [{task}]}}\n")

    def data_files(_: object) -> dict[str, str]:
        site.mkdir()
        (site / "site.yaml").write_text("theirs")
        return {}

    monkeypatch.setattr(importer, "data_files", data_files)
    with pytest.raises(FileExistsError):
        import_project(str(tmp_path / "site.yml"), str(site))
    assert (site / "site.yaml").read_text() == "theirs"
