"""Patterns of published roles: versions in names, service facts, answers, destinations."""

from pathlib import Path

from tests.orchestrator.ansible.sites import check_valid, convert_tasks
from tests.texts import expect_text


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
    """Whether a service is there, runs or is enabled are lookups."""
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


def test_status_of_a_service_by_its_bare_name(tmp_path: Path) -> None:
    """``services[UNIT]`` is what ``ansible_facts.services[UNIT]`` is; only known values count."""
    _, text = convert_tasks(
        tmp_path,
        """
        - service_facts:
        - service: {name: systemd-timesyncd.service, state: stopped}
          when:
            - "'systemd-timesyncd.service' in services"
            - services["systemd-timesyncd.service"]["status"] != "not-found"
        - command: echo 1
          when: services['cron.service'].status == 'enabled'
        - command: echo 2
          when: services['cron.service'].status == 'masked'
        """,
    )
    has = "Asked.has_systemd_timesyncd_service.exit_code == 0"
    assert f"if: {has} and {has}" in text
    assert "('enabled' if Asked.service_cron_service.enabled else 'disabled') == 'enabled'" in text
    assert "NOT CONVERTED: whether the status of the service cron.service is masked" in text
    assert "Data.services" not in text
    check_valid(tmp_path / "site")


def test_two_look_ups_of_one_name(tmp_path: Path) -> None:
    """A package and a service of the same name are looked up under two names."""
    _, text = convert_tasks(
        tmp_path,
        """
        - service_facts:
        - package_facts:
        - command: echo 1
          when: "'docker' in ansible_facts.packages"
        - command: echo 2
          when: "'docker' in services"
        - command: echo 3
          when: "'docker' in packages"
        """,
    )
    conditions = [line.strip() for line in text.splitlines() if "if: Asked" in line]
    names = ["has_docker", "has_docker_2", "has_docker"]
    assert conditions == [f"if: Asked.{name}.exit_code == 0" for name in names]
    assert "has_docker_2: {command: systemctl cat docker}" in text
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
    expect_text(result.records[1].reasons[-1])
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
    expect_text(result.records[0].reasons)
    assert "plugins that the task does not name stay enabled" not in result.records[1].reasons


def test_computed_keys_of_ini_files(tmp_path: Path) -> None:
    """Sections and keys of a variable become edits; booleans are written as Ansible writes them."""
    _, text = convert_tasks(
        tmp_path,
        """
        - ini_file: {path: /etc/a, section: "{{ item.s }}", option: "{{ item.o }}",
                     value: "{{ item.v }}"}
          loop: "{{ ini }}"
        - ini_file: {path: "/etc/{{ item.o }}", section: "{{ item.s }}", option: "{{ item.o }}",
                     value: "{{ item.v }}", mode: "0644"}
          loop: "{{ ini }}"
        - ini_file: {path: /etc/b, section: "{{ name }}", option: "k_{{ name }}", value: v}
        - ini_file: {path: /etc/b, section: x, option: "k_{{ name }}", state: absent}
        """,
        defaults__main="name: s\nini: [{s: a, o: b, v: 1}, {s: c, o: d, v: true}]\n",
    )
    value = "item.v | string | capitalize if item.v is boolean else item.v"
    edit = "{''settings'': {item.s: {item.o: " + value + "}}} | to_json"
    assert edit in text
    assert "foreach: Data.ini\n            edits: \"{{ [{'settings': {item.s: {item.o: " in text
    assert "{'settings': {Data.name: {'k_' ~ Data.name: 'v'}}}" in text
    assert "{'settings': {'x': {'k_' ~ Data.name: ''}}, 'ensure': 'absent'}" in text
    check_valid(tmp_path / "site")


def test_swap_in_fstab(tmp_path: Path) -> None:
    """Lines without a mount point go by an edit, and a pattern with [^#] is marked."""
    result, text = convert_tasks(
        tmp_path,
        r"""
        - mount: {name: "{{ item }}", fstype: swap, state: absent}
          loop: [swap, none]
        - replace: {path: /etc/fstab, regexp: '^([^#].*\sswap\s.*)$', replace: '# \1'}
        """,
    )
    assert r"match: '^\s*[^#\s]\S*\s+swap\s+\S+\s+\S+\s+\S+\s+\S+\s*$', ensure: absent" in text
    assert r"replace: '# \g<1>'" in text
    assert result.records[1].outcome == "check"
    check_valid(tmp_path / "site")


def test_a_failure_that_is_the_default(tmp_path: Path) -> None:
    """``failed_when: x is failed`` says nothing, and ``--help`` only reads."""
    _, text = convert_tasks(
        tmp_path,
        """
        - modprobe: {name: wireguard}
          register: loaded
          failed_when: loaded is failure
        - command: wg --help
          register: words
        - command: echo y
          when: words.stdout is search('syncconf:')
        """,
    )
    assert "- wireguard:" in text
    assert "words: {command: wg --help}" in text
    check_valid(tmp_path / "site")


def test_a_variable_with_a_name_and_a_version(tmp_path: Path) -> None:
    """A package whose variable holds NAME=VERSION is parted when it is rendered."""
    _, text = convert_tasks(
        tmp_path,
        """
        - set_fact: {full: "{{ name }}={{ version }}"}
          when: version is defined
        - set_fact: {full: "{{ name }}"}
          when: version is not defined
        - apt: {name: "{{ full }}"}
        """,
        defaults__main="name: foo\nversion: '1.2'\n",
    )
    assert "- \"{{ Data.full_set_2.split('=')[0] }}\":" in text
    assert "ensure: \"{{ (Data.full_set_2 ~ '=present').split('=')[1] }}\"" in text
    check_valid(tmp_path / "site")


def test_empty_variables_of_the_environment(tmp_path: Path) -> None:
    """A variable that may be empty is left out where it is, as ccm has no empty ones."""
    result, text = convert_tasks(
        tmp_path,
        """
        - command: tool list
          register: found
          changed_when: false
          environment: {CONF: /etc/x, FILE: "{{ file | default('') }}"}
        - command: tool add
          environment: {CONF: /etc/x, FILE: "{{ file | default('') }}", NONE: ""}
        - command: echo {{ found.stdout }}
        """,
    )
    assert result.records[0].outcome == "check"
    expect_text(result.records[0].reasons)
    assert "command: tool list\n      environment: [CONF=/etc/x]" in text
    assert "[''CONF=/etc/x''] + (template(" in text
    assert "if value | string != " in text
    check_valid(tmp_path / "site")


def test_contents_that_are_numbers_or_booleans(tmp_path: Path) -> None:
    """They are written as Ansible writes them; lists and maps, which become JSON, are refused."""
    result, text = convert_tasks(
        tmp_path,
        """
        - copy: {content: "{{ port }}", dest: /etc/a, owner: root, group: root, mode: "0644"}
        - copy: {content: "{{ flag }}", dest: /etc/b, owner: root, group: root, mode: "0644"}
        - copy: {content: "{{ map }}", dest: /etc/c, owner: root, group: root, mode: "0644"}
        """,
        defaults__main="port: 80\nflag: true\nmap: {a: 1}\n",
    )
    assert 'content: "{{ Data.port }}"' in text
    assert "content: \"{{ 'True' if Data.flag else 'False' }}\"" in text
    assert result.records[2].outcome == "not converted"
    check_valid(tmp_path / "site")


def test_groups_that_a_list_and_words_give_together(tmp_path: Path) -> None:
    """A joined list beside other words is parted again when it is rendered."""
    _, text = convert_tasks(
        tmp_path,
        """
        - user: {name: app, groups: "adm,{{ more | join(',') }}", append: true}
        """,
        defaults__main="more: [a, b]\n",
    )
    assert "groups: \"{{ ('adm,' ~ Data.more | join(',')).split(',')" in text
    check_valid(tmp_path / "site")


def test_a_variable_that_may_name_a_directory(tmp_path: Path) -> None:
    """Ansible would put the file into it, which only the host can tell; it is marked."""
    result, _ = convert_tasks(
        tmp_path,
        """
        - template: {src: t.j2, dest: "{{ folder }}", owner: root, group: root, mode: "0644"}
        - template: {src: t.j2, dest: "{{ file }}", owner: root, group: root, mode: "0644"}
        """,
        defaults__main="folder: /etc/samba\nfile: /etc/samba/smb.conf\n",
        templates__t_DOT_j2="x\n",
    )
    expect_text(result.records[0].reasons)
    assert result.records[1].outcome == "converted"


def test_loops_over_conditional_lists(tmp_path: Path) -> None:
    """``for x in (a if b else c)`` keeps its parentheses in templates, lists and assertions."""
    _, text = convert_tasks(
        tmp_path,
        """
        - template: {src: a.j2, dest: /etc/a, owner: root, group: root, mode: "0644"}
        - file: {path: "/srv/{{ item.n }}", state: directory, owner: a, group: a, mode: "0755"}
          loop: "{{ [first] if one != '' else others }}"
          when: item.state == 'present'
        - assert: {that: "item.n != ''"}
          loop: "{{ [first] if one != '' else others }}"
        """,
        defaults__main="one: ''\nmany: [b]\nfirst: {n: a, state: present}\nothers: []\n",
        templates__a_DOT_j2="{% for x in ([one] if one else many) %}{{ x }}\n{% endfor %}\n",
    )
    template = (tmp_path / "site" / "roles" / "role" / "templates" / "a.j2").read_text()
    assert "{% for x in ([Data.one] if Data.one else Data.many) %}" in template
    lists = "for item in ([Data.first] if Data.one != '' else Data.others) if"
    assert text.replace("''", "'").replace("''", "'").count(lists.replace("''", "'")) == 2
    check_valid(tmp_path / "site")


def test_a_reboot_under_a_condition(tmp_path: Path) -> None:
    """Without a change that triggers it, the host reboots on each push, as the original does."""
    result, text = convert_tasks(
        tmp_path,
        """
        - stat: {path: /run/reboot-required}
          register: needed
        - reboot:
          when: needed.stat.exists
        """,
    )
    assert [one.outcome for one in result.records] == ["converted", "converted"]
    assert 'onlyif: "true"\n            control:\n              exists: /run/reboot-req' in text
    check_valid(tmp_path / "site")


def test_elements_by_their_number(tmp_path: Path) -> None:
    """A loop that reads only the number of the element is a loop, not one file."""
    _, text = convert_tasks(
        tmp_path,
        """
        - copy: {content: "{{ auth.x }}", dest: "/a/{{ auth.n }}", owner: a, group: a, mode: "600"}
          loop: "{{ all_auth | map(attribute='n') }}"
          loop_control: {index_var: at}
          vars: {auth: "{{ all_auth[at] }}"}
        """,
        defaults__main="all_auth: [{n: a, x: b}]\n",
    )
    assert "foreach: Data.all_auth | map(attribute='n')" in text
    check_valid(tmp_path / "site")


def test_conditions_with_braces(tmp_path: Path) -> None:
    """A condition whose expression has braces is a value of data."""
    _, text = convert_tasks(
        tmp_path,
        """
        - find: {paths: /srv/in, patterns: "*.conf"}
          register: found
        - file: {path: /srv/out, state: directory, owner: a, group: a, mode: "0755"}
          when: found.files | length > 0
        """,
    )
    assert "if: Data.is_" in text
    check_valid(tmp_path / "site")


def test_a_file_that_is_removed_and_made(tmp_path: Path) -> None:
    """A command removes it at its place; under opposite conditions, it stays one file."""
    result, text = convert_tasks(
        tmp_path,
        """
        - file: {path: "{{ d }}", state: absent}
          when: old != ''
        - file: {path: "{{ d }}", state: directory, owner: a, group: a, mode: "0755"}
        - copy: {content: x, dest: /tmp/x.sql, owner: a, group: a, mode: "0600"}
        - command: psql -f /tmp/x.sql
        - file: {path: /tmp/x.sql, state: absent}
        - file: {path: /etc/m, state: absent}
          when: old == ''
        - copy: {content: x, dest: /etc/m, owner: a, group: a, mode: "0600"}
          when: old != ''
        """,
        defaults__main="d: /srv/d\nold: ''\n",
    )
    assert {one.outcome for one in result.records} == {"converted"}
    assert text.index("command: 'rm -rf \"{{ Data.d }}\"'") < text.index("ensure: directory")
    assert text.index("psql -f") < text.index("command: 'rm -rf \"/tmp/x.sql\"'")
    assert text.count("rm -rf") == 2
    check_valid(tmp_path / "site")


def test_small_differences_of_published_roles(tmp_path: Path) -> None:
    """A handler that waits, a source of the role by a variable, systemd itself, and versions."""
    result, text = convert_tasks(
        tmp_path,
        """
        - copy:
            src: "{{ pages | ternary('on', 'off') }}"
            dest: /etc/pages
            owner: a
            group: a
            mode: "0644"
          notify: wait
        - systemd: {daemon_reexec: true}
          when: not ansible_check_mode
        - package: {name: "foo={{ version }}"}
        """,
        defaults__main='pages: true\nversion: "1.2"\n',
        files__on="1\n",
        files__off="0\n",
        handlers__main="- {name: wait, wait_for: {port: 80}}\n",
    )
    assert [one.outcome for one in result.records] == ["converted"] * 3 + ["check"]
    assert "source: \"role/files/{{ Data.pages | ternary('on', 'off') }}\"" in text
    assert (tmp_path / "site" / "roles" / "role" / "files" / "off").read_text() == "0\n"
    assert "command: systemctl daemon-reexec\n\n" in text
    assert '- foo:\n            ensure: "{{ Data.version }}"' in text
    assert "# CHECK: ccm waits on each push; the original waits only after a change" in text
    check_valid(tmp_path / "site")


def test_a_fact_under_its_own_absence_and_more(tmp_path: Path) -> None:
    """``x is not defined and y`` does not make the value read itself."""
    _, text = convert_tasks(
        tmp_path,
        """
        - set_fact: {version: "{{ own_version }}"}
          when: version is not defined and ansible_os_family == 'Debian'
        - set_fact: {kept: other}
          when: kept is not defined and ansible_os_family == 'Debian'
        - command: echo {{ version }} {{ kept }}
        """,
        defaults__main='own_version: "8"\nkept: mine\n',
    )
    value = "\"{{ Data.own_version if Facts.host.info.platformFamily == 'debian' else '' }}\""
    assert f"version: {value}\n" in text
    assert "{{ 'other' if Data.kept is not defined and" in text
    check_valid(tmp_path / "site")


def test_sums_of_strings_as_names(tmp_path: Path) -> None:
    """The parts of ``'php' + version + '-json'`` are no names of packages of their own."""
    result, text = convert_tasks(
        tmp_path,
        """
        - set_fact: {extension: "{{ 'php' + version + '-json' }}"}
        - package: {name: "{{ extension }}"}
        """,
        defaults__main='version: "8"\n',
    )
    assert [one.outcome for one in result.records] == ["converted", "converted"]
    assert '- "{{ Data.extension }}":' in text
    check_valid(tmp_path / "site")


def test_numbers_as_versions_and_homes_in_variables(tmp_path: Path) -> None:
    """A number is compared as text, and ``~/`` of a variable is the home of root."""
    result, text = convert_tasks(
        tmp_path,
        """
        - file: {path: "{{ place }}/a", state: directory, owner: root, group: root, mode: "0755"}
          when: release is version('7.0', '>')
        """,
        defaults__main="release: 7.4\nplace: ~/.a\n",
    )
    assert "if: Data.release | string is version('7.0', '>')" in text
    assert "- \"{{ Data.place | regex_replace('^~/', '/root/') }}/a\":" in text
    assert "this assumes that root's home directory is /root" in result.records[0].reasons
    check_valid(tmp_path / "site")


def test_a_directory_above_under_several_conditions(tmp_path: Path) -> None:
    """It is made once, where any of the tasks runs."""
    _, text = convert_tasks(
        tmp_path,
        """
        - lineinfile: {path: /etc/sysconfig/a, line: x, create: true}
          when: a
        - command: "true"
        - lineinfile: {path: /etc/sysconfig/b, line: x, create: true}
          when: b
        """,
        defaults__main="a: true\nb: true\n",
    )
    assert text.count("- make /etc/sysconfig:") == 1
    assert (
        "affects: [/etc/sysconfig]\n            control:\n              if: Data.a or Data.b"
        in text
    )
    check_valid(tmp_path / "site")


def test_facts_that_are_set_if_nothing_sets_them(tmp_path: Path) -> None:
    """The first one whose condition is true wins, and nothing reads itself."""
    result, text = convert_tasks(
        tmp_path,
        """
        - set_fact: {one: a}
          when: one is not defined and ansible_os_family == 'RedHat'
        - set_fact: {one: b}
          when: one is not defined
        - set_fact: {two: c}
          when: two is not defined or two is none
        - command: echo {{ one }} {{ two }}
        """,
    )
    value = "{{ 'a' if Facts.host.info.platformFamily in ['rhel', 'fedora'] else 'b' }}"
    assert f'one: "{value}"\n' in text
    assert "two: c\n" in text
    assert {one.outcome for one in result.records} == {"converted"}
    check_valid(tmp_path / "site")


def test_first_found_below_the_role(tmp_path: Path) -> None:
    """``paths: role_path`` with ``files: vars/…`` are the variables of the role."""
    result, text = convert_tasks(
        tmp_path,
        """
        - include_vars: "{{ item }}"
          with_first_found:
            - files:
                - vars/{{ ansible_os_family }}-{{ ansible_distribution_major_version }}.yml
                - vars/{{ ansible_facts.os_family }}.yml
              paths:
                - "{{ role_path }}"
        - package: {name: "{{ daemon }}"}
        """,
        **{"vars__Debian-12": "daemon: mariadb\n", "vars__Debian": "daemon: mysql\n"},
    )
    assert [one.outcome for one in result.records] == ["converted", "converted"]
    assert "daemon: mariadb" in text
    assert '- "{{ Data.daemon }}"' in text
    check_valid(tmp_path / "site")


def test_edits_of_a_file_that_a_variable_names(tmp_path: Path) -> None:
    """A file that one task names by a variable, and another one by its path, is edited once."""
    _, text = convert_tasks(
        tmp_path,
        """
        - lineinfile: {path: "{{ sudoers }}", regexp: "^a", line: a 1}
        - lineinfile: {path: /etc/sudoers, regexp: "^b", line: b 2}
        """,
        defaults__main="sudoers: /etc/sudoers\n",
    )
    assert text.count("edits:") == 1
    assert text.index("a 1") < text.index("b 2")
    assert "/etc/sudoers:" not in text.split("ccm:")[1]
    check_valid(tmp_path / "site")


def test_template_named_by_the_variables_of_systems(tmp_path: Path) -> None:
    """A template whose name a variable gives is one of the role, also if another one is missing."""
    _, text = convert_tasks(
        tmp_path,
        """
        - include_vars: "{{ ansible_os_family }}.yml"
        - template: {src: "{{ conf | basename }}.j2", dest: "{{ conf }}", mode: "0644"}
        """,
        vars__Debian="conf: /etc/chrony/chrony.conf\n",
        vars__RedHat="conf: /etc/other.conf\n",
        **{"templates__chrony_DOT_conf_DOT_j2": "{% for item in 'a' %}{{ item }}{% endfor %}\n"},
    )
    assert (tmp_path / "site/roles/role/templates/chrony.conf.j2").is_file()
    assert "template('role/templates/' ~ Data.conf | basename ~ '.j2')" in text
    assert "starts at this manifest" not in text
    check_valid(tmp_path / "site")


def test_copy_of_a_directory_that_a_variable_names(tmp_path: Path) -> None:
    """The content of a directory whose name is a variable is not converted."""
    _, text = convert_tasks(
        tmp_path,
        """
        - copy: {src: "{{ filters }}", dest: /etc/a/filter.d/, mode: "0644"}
          when: filters | length > 0
        """,
        defaults__main="filters: files/filter.d/\n",
    )
    assert "NOT CONVERTED: src is the content of a directory that a variable names" in text
    check_valid(tmp_path / "site")


def test_macros_of_a_template_with_a_computed_name(tmp_path: Path) -> None:
    """A file of macros among the possible templates keeps them: it is not wrapped."""
    convert_tasks(
        tmp_path,
        """
        - template: {src: "{{ main | default('main.j2') }}", dest: /a}
        """,
        templates__main_DOT_j2="{% from 'macros.j2' import m %}{{ m(1) }}\n",
        templates__macros_DOT_j2="{% macro m(x) %}{{ x }}{% endmacro %}\n",
    )
    text = (tmp_path / "site/roles/role/templates/macros.j2").read_text()
    assert text.startswith("{% macro m(x) %}")


def test_statements_with_a_parenthesis(tmp_path: Path) -> None:
    """It may follow the keyword without a space; a call with arguments is not converted."""
    result, _ = convert_tasks(
        tmp_path,
        """
        - template: {src: a.j2, dest: /a}
        - template: {src: b.j2, dest: /b}
        """,
        templates__a_DOT_j2="{% if(flag) %}a{% elif(other) %}b{% endif %}x\n",
        templates__b_DOT_j2="{% macro m() %}{% endmacro %}{% call(x) m() %}{{ x }}{% endcall %}x\n",
        defaults__main="{flag: true, other: false}\n",
    )
    text = (tmp_path / "site/roles/role/templates/a.j2").read_text()
    assert text == "{% if Data.flag %}a{% elif Data.other %}b{% endif %}x\n"
    assert result.records[1].outcome == "not converted"
