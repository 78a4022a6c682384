"""Facts, answers and files: what follows a change of a variable, loops over answers, names."""

from pathlib import Path

import pytest

from tests.orchestrator.ansible.sites import check_valid, convert, convert_tasks


def test_a_fact_of_its_own_earlier_value(tmp_path: Path) -> None:
    """What comes before reads the old value, what follows the new one, templates included."""
    result, text = convert_tasks(
        tmp_path,
        """
        - command: before {{ packages_list | join(' ') }}
        - set_fact: {packages_list: "{{ packages_list + ['b'] }}"}
        - command: after {{ packages_list | join(' ') }} {{ shown }}
        - template: {src: t.j2, dest: /t, owner: root, group: root, mode: "0644"}
        """,
        defaults__main="packages_list: [a]\nshown: 'all {{ packages_list | first }}'\n",
        templates__t_DOT_j2="{{ packages_list | join }}\n",
    )
    assert [one.outcome for one in result.records] == ["converted"] * 4
    assert "command: \"before {{ Data.packages_list | join(' ') }}\"" in text
    assert "packages_list_set: \"{{ Data.packages_list + ['b'] }}\"" in text
    assert "after {{ Data.packages_list_set | join(' ') }} {{ Data.shown_set }}" in text
    assert 'shown_set: "all {{ Data.packages_list_set | first }}"' in text
    assert "template('role/templates/t.j2', packages_list=Data.packages_list_set)" in text
    check_valid(tmp_path / "site")


def test_a_template_before_and_after_a_fact(tmp_path: Path) -> None:
    """One file of a template cannot read two values of a name: it is written twice."""
    task = "- template: {src: t.j2, dest: /t%d, owner: root, group: root, mode: '0644'}\n"
    result, text = convert_tasks(
        tmp_path,
        task % 1 + "- set_fact: {a: '{{ a + 1 }}'}\n" + task % 2,
        defaults__main="a: 1\n",
        templates__t_DOT_j2="a: {{ a }}\n",
    )
    assert [one.outcome for one in result.records] == ["converted"] * 3
    assert "template('role/templates/t.j2')" in text
    assert "template('role/templates/t-2.j2', a=Data.a_set)" in text
    check_valid(tmp_path / "site")


def test_facts_of_loops(tmp_path: Path) -> None:
    """The last element for which the condition holds; lists and maps that grow."""
    result, text = convert_tasks(
        tmp_path,
        """
        - set_fact: {chosen: "{{ item.path }}"}
          loop: "{{ disks }}"
          when: item.big
        - set_fact: {paths: "{{ paths | default([]) + [item.path] }}"}
          loop: "{{ disks }}"
        - set_fact: {sizes: "{{ sizes | default({}) | combine({item.path: item.big}) }}"}
          with_items: "{{ disks }}"
        - command: use {{ chosen }} {{ paths | join(',') }} {{ sizes | length }}
          when: chosen is defined
        """,
        defaults__main="disks: [{path: /a, big: true}, {path: /b, big: false}]\n",
    )
    assert [one.outcome for one in result.records] == ["converted"] * 4
    assert "for item in Data.disks if item.big" in text
    assert "| last | default(none)" in text
    assert "[] + (template(" in text
    assert "items2dict)" in text
    assert "if: Data.chosen_set is not none" in text
    check_valid(tmp_path / "site")


def test_results_of_a_loop_of_stat(tmp_path: Path) -> None:
    """A loop over results is a loop over the elements, each tested on the host."""
    result, text = convert_tasks(
        tmp_path,
        """
        - stat: {path: "{{ item }}"}
          loop: [/etc/shadow, /etc/gshadow]
          register: found
        - file: {path: "{{ item.item }}", owner: root, group: root, mode: "0600"}
          loop: "{{ found.results }}"
          when: item.stat.exists
        - stat: {path: "{{ item }}/x"}
          loop: "{{ places }}"
          register: more
        - command: use {{ item.item }}
          with_items: "{{ more.results }}"
          when: not item.stat.exists
        - command: both
          when: found.results | map(attribute='stat.exists') | list is all
        """,
        defaults__main="places: [/a, /b]\n",
    )
    assert "not converted" not in [one.outcome for one in result.records][:4]
    assert "exists: /etc/gshadow" in text or "Asked.found_2.exists" in text
    assert "chmod 0600 /etc/gshadow" in text
    assert 'absent: "{{ item }}/x"' in text
    check_valid(tmp_path / "site")


def test_a_page_is_asked_by_the_host(tmp_path: Path) -> None:
    """Releases that the controller looks up are an answer of the host, and marked."""
    result, text = convert_tasks(
        tmp_path,
        """
        - uri: {url: "https://api.example/{{ name }}/latest", return_content: true}
          register: release
          delegate_to: localhost
          become: false
          run_once: true
        - set_fact: {version: "{{ release.json.tag_name[1:] }}"}
        - set_fact: {sum: "{{ item.split(' ')[0] }}"}
          loop: "{{ lookup('url', 'https://e.example/' ~ name ~ '/sums', wantlist=True) }}"
          when: name in item
        - command: use {{ version }} {{ sum }}
        """,
        defaults__main="name: a\nversion: '1'\n",
    )
    outcomes = [one.outcome for one in result.records]
    assert outcomes == ["check", "converted", "check", "check"]
    assert '--location "https://api.example/{{ Data.name }}/latest"' in text
    assert "(Asked.release.stdout | from_json).tag_name[1:]" in text
    assert "Asked.url.stdout.splitlines() if Data.name in item" in text
    check_valid(tmp_path / "site")


def test_files_that_the_controller_fetches(tmp_path: Path) -> None:
    """Each host fetches for itself what the controller of the original passes on; marked."""
    result, text = convert_tasks(
        tmp_path,
        """
        - unarchive: src=https://e.example/a.tgz dest=/tmp remote_src=yes creates=/tmp/a
          delegate_to: localhost
          run_once: true
          become: false
        - copy: src=/tmp/a/prog dest=/usr/local/bin/prog owner=root group=root mode=0755
        """,
    )
    assert [one.outcome for one in result.records] == ["check", "check"]
    assert "source: /tmp/a/prog" in text
    check_valid(tmp_path / "site")


def test_files_whose_names_are_values(tmp_path: Path) -> None:
    """Each file has the condition that the name has its value; other values are refused."""
    result, text = convert_tasks(
        tmp_path,
        "- include_tasks: 'by_{{ method }}.yml'\n- include_vars: 'v_{{ method }}.yml'\n"
        "- command: use {{ place }}\n",
        tasks__by_one="- command: one\n",
        tasks__by_two="- command: two\n",
        vars__v_one="place: /one\n",
        vars__v_two="place: /two\n",
    )
    assert "not converted" not in [one.outcome for one in result.records]
    assert "if: \"'by_' ~ Data.method ~ '.yml' == 'by_one.yml'\"" in text
    assert "in ['by_one.yml', 'by_two.yml']" in text
    check_valid(tmp_path / "site")


def test_the_directory_of_the_role(tmp_path: Path) -> None:
    """Paths below ``role_path`` are those of the role, also in elements of a loop."""
    result, _ = convert_tasks(
        tmp_path,
        """
        - include_tasks: "{{ role_path }}/tasks/deep/more.yml"
        - template: src="{{ role_path }}/templates/t.j2" dest=/t owner=a group=a mode=0644
        - template: {src: "{{ item.src }}", dest: /u, owner: a, group: a, mode: "0644"}
          with_items: [{src: "{{ role_path }}/templates/t.j2"}]
        """,
        tasks__deep__more="",
        templates__t_DOT_j2="x\n",
    )
    assert result.records[-1].outcome == "converted"


def test_the_host_ends_early(tmp_path: Path) -> None:
    """``meta: end_host`` is a condition of what follows."""
    result, text = convert_tasks(
        tmp_path,
        "- command: a\n- meta: end_host\n  when: not enabled\n- command: b\n",
        defaults__main="enabled: true\n",
    )
    assert text.count("if: not (not Data.enabled)") + text.count("if: Data.enabled") == 1
    assert result.records[1].outcome == "check"
    check_valid(tmp_path / "site")


def test_assertions_about_elements_and_answers(tmp_path: Path) -> None:
    """``fail`` in a loop, and conditions on what is there before the first change."""
    result, text = convert_tasks(
        tmp_path,
        """
        - fail: {msg: bad}
          with_items: "{{ names }}"
          when: item == 'x'
        - stat: {path: /etc/a}
          register: there
        - assert: {that: there.stat.exists}
        - fail: {msg: no}
          when: not there.stat.exists
        """,
        defaults__main="names: [a]\n",
    )
    assert [one.outcome for one in result.records] == ["converted"] * 4
    assert "for item in Data.names if not" in text
    assert "that: Asked.there.exists" in text
    check_valid(tmp_path / "site")


def test_one_host_of_many(tmp_path: Path) -> None:
    """``run_once`` is a condition on the host, and marked."""
    result, text = convert_tasks(tmp_path, "- command: migrate\n  run_once: true\n")
    assert result.records[0].outcome == "check"
    assert "if: Host.name == Groups.all[0]" in text
    check_valid(tmp_path / "site")


def test_facts_that_commands_answer(tmp_path: Path) -> None:
    """Facts that ccm lacks are lookups, times and addresses of interfaces among them."""
    _, text = convert_tasks(
        tmp_path,
        """
        - command: a {{ ansible_python_version }} {{ ansible_date_time.date }}
        - command: b {{ ansible_eth0.ipv4.address }} {{ ansible_facts['machine_id'] }}
        - command: c {{ ansible_user }}
        """,
    )
    assert "Asked.python.stdout.strip()" in text
    assert 'time_date: {command: "date +%Y-%m-%d"}' in text or "date +%Y-%m-%d" in text
    assert "selectattr('interface', 'equalto', 'eth0')" in text
    assert "the user that logs in for the push" in text
    check_valid(tmp_path / "site")


def test_filters_that_ccm_lacks(tmp_path: Path) -> None:
    """Plain forms are written with other filters."""
    result, text = convert_tasks(
        tmp_path,
        """
        - command: "a {{ v | version_compare('1', '>=') }} {{ v | regex_replace('x') }}"
        - command: "b {{ all | json_query('[?on==`true`].name') | join }} {{ '%-7s' | format(v) }}"
        - command: "c {{ '{}-{}'.format(v, v) }}"
        - command: "d {{ lookup('vars', 'prefix_' ~ v) }}"
        """,
        defaults__main="v: '1'\nall: []\nprefix_1: a\nprefix_2: b\n",
    )
    assert [one.outcome for one in result.records] == ["converted"] * 4
    assert "is version('1', '>=')" in text
    assert "Data['prefix_' ~ Data.v]" in text
    check_valid(tmp_path / "site")


def test_plays_that_end_and_list_of_vars(tmp_path: Path) -> None:
    """Variables that are a list of maps count as one map."""
    _, site = convert(
        tmp_path,
        {
            "site.yml": "- hosts: all\n  tasks:\n    - block:\n        - command: a {{ x }}\n"
            "      vars: [{x: 1}, {y: 2}]\n"
        },
    )
    assert "command: a 1" in (site / "site.yaml").read_text()


def test_a_role_gets_the_new_value_of_a_fact(tmp_path: Path) -> None:
    """A variable of the play that a task sets again reaches the roles that follow."""
    _, site = convert(
        tmp_path,
        {
            "site.yml": "- hosts: all\n  vars: {places: [a]}\n  pre_tasks:\n"
            "    - set_fact: {places: \"{{ places + ['b'] }}\"}\n  roles: [one]\n",
            "roles/one/tasks/main.yml": "- command: use {{ places | join }}\n",
        },
    )
    text = (site / "site.yaml").read_text()
    assert 'places: "{{ Data.places_set }}"' in text
    assert "inherit_data" not in text
    check_valid(site)


def test_nothing_is_asked_that_nothing_reads(tmp_path: Path) -> None:
    """A lookup whose readers are not converted is not in the manifest."""
    _, text = convert_tasks(
        tmp_path,
        "- command: uptime\n  register: r\n  changed_when: false\n  ignore_errors: true\n"
        "- command: a\n  delegate_to: other\n  when: \"'x' in r.stdout_lines[0]\"\n",
    )
    assert "ask:" not in text


@pytest.mark.parametrize(
    ("original", "expected"),
    [
        (
            "ansible_default_ipv4.address | default('::1')",
            "Facts.network.default_ipv4 | default('::1', true)",
        ),
        (
            "ansible_facts['default_ipv4']['address'] | d(bind)",
            "Facts.network.default_ipv4 | default(Data.bind, true)",
        ),
        (
            "hostvars['a'].ansible_default_ipv4.address | default('x')",
            "Hosts['a'].facts.network.default_ipv4 | default('x', true)",
        ),
        (
            "ansible_default_ipv4.gateway | default('x')",
            "Asked.gateway.stdout.strip() | default('x', true)",
        ),
        ("'a' if ansible_default_ipv4.address is defined else 'b'",
         "'a' if Facts.network.default_ipv4 != '' else 'b'"),
        ("'a' if ansible_default_ipv4.gateway is undefined else 'b'",
         "'a' if Asked.gateway.stdout.strip() | default('', true) == '' else 'b'"),
    ],
)  # fmt: skip
def test_a_host_without_a_default_route(tmp_path: Path, original: str, expected: str) -> None:
    """Ansible has no such fact then; ccm has an empty text, which a default replaces."""
    task = "- copy: {content: @, dest: /a, owner: a, group: a, mode: '0644'}\n"
    task = task.replace("@", '"{{ ' + original + ' }}"')
    result, text = convert_tasks(tmp_path, task, defaults__main="bind: x\n")
    routed = "acts.network" in expected
    assert [one.outcome for one in result.records] == ["check" if routed else "converted"]
    assert ("can differ with policy routing" in text) is routed
    assert 'content: "{{ ' + expected + ' }}"' in text
    check_valid(tmp_path / "site")


def test_a_default_that_reads_a_doubtful_fact(tmp_path: Path) -> None:
    """What reads the variable is marked, templates included; the rest is not."""
    result, text = convert_tasks(
        tmp_path,
        """
        - copy: {content: "{{ bind }}", dest: /a, owner: a, group: a, mode: "0644"}
        - template: {src: t.j2, dest: /t, owner: root, group: root, mode: "0644"}
        - copy: {content: x, dest: /b, owner: a, group: a, mode: "0644"}
        """,
        defaults__main="bind: '{{ ansible_default_ipv4.address }}'\n",
        templates__t_DOT_j2="{{ ansible_default_ipv4.address }}\n",
    )
    assert [one.outcome for one in result.records] == ["check", "check", "converted"]
    assert "it reads bind: ccm uses the address of the default route" in text


def test_virtual_machines(tmp_path: Path) -> None:
    """The words of Ansible are compared and printed; kinds that ccm does not tell are marked."""
    result, text = convert_tasks(
        tmp_path,
        """
        - command: a
          when: ansible_virtualization_type == 'VMware'
        - command: b
          when: ansible_virtualization_role in ['host', 'NA']
        - command: c
          when: ansible_virtualization_type not in ['container', 'systemd-nspawn', 'docker']
        - copy: {content: "{{ ansible_facts.virtualization_role }}", dest: /a, mode: "0644"}
        """,
    )
    assert "if: Facts.host.info.virtualizationSystem == 'vmware'" in text
    assert "if: Facts.host.info.virtualizationRole in ['host', '']" in text
    assert "virtualizationSystem not in ['systemd-nspawn', 'rkt', 'docker']" in text
    assert "{'guest': 'guest', 'host': 'host', '': 'NA'}.get(" in text
    assert [one.outcome for one in result.records][:2] == ["check", "converted"]
    check_valid(tmp_path / "site")


def test_a_fact_that_may_stay_unset(tmp_path: Path) -> None:
    """Its default holds where no condition of the fact did."""
    _, text = convert_tasks(
        tmp_path,
        """
        - set_fact: {tool: "app={{ version }}"}
          when: version | length > 0
        - command: install {{ tool | default('app') }}
        """,
        defaults__main="version: ''\n",
    )
    assert "tool_set is not none else 'app'" in text.replace("''", "'")


def test_hosts_without_a_file_of_variables(tmp_path: Path) -> None:
    """A host is refused where the original finds no file, not where it skips or never looks."""
    _, text = convert_tasks(
        tmp_path,
        """
        - include_vars: "{{ item }}"
          with_first_found:
            - files: ["{{ ansible_os_family }}.yml"]
              skip: true
        - include_vars: "{{ ansible_distribution }}-{{ ansible_distribution_major_version }}.yml"
          when: ansible_os_family == 'RedHat'
        """,
        **{"vars__Debian": "a: 1\n", "vars__Rocky-9": "b: 1\n"},
    )
    assert text.count("- that:") == 1
    assert "that: not (Facts.host.info.platformFamily in ['rhel', 'fedora']) or " in text


def test_fact_in_place_of_an_empty_default(tmp_path: Path) -> None:
    """A default that is empty until ``set_fact`` replaces it has the value of the fact."""
    result, text = convert_tasks(
        tmp_path,
        """
        - include_vars: "{{ ansible_os_family }}.yml"
        - set_fact: {php_version: "{{ __php_version }}"}
          when: php_version == "" and ansible_os_family == "Debian"
        - set_fact: {php_packages: "{{ __php_packages }}"}
          when: php_packages is not defined
        - package: {name: "{{ php_packages }}"}
        """,
        defaults__main="php_version: ''\n",
        vars__Debian="__php_version: '8.2'\n__php_packages: ['php{{ php_version }}-cli']\n",
        vars__RedHat="__php_version: ''\n__php_packages: [php]\n",
    )
    assert [one.outcome for one in result.records] == ["converted"] * 4
    debian = "Facts.host.info.platformFamily == 'debian'"
    assert f"php_version: \"{{{{ Data.__php_version if {debian} else '' }}}}\"" in text
    check_valid(tmp_path / "site")


def test_fact_in_place_of_a_default_that_a_task_reads(tmp_path: Path) -> None:
    """A task before it reads the empty value, so the fact has a separate name."""
    _, text = convert_tasks(
        tmp_path,
        """
        - copy: {content: "{{ version }}", dest: /before, owner: a, group: a, mode: "0644"}
        - set_fact: {version: "1"}
          when: version == ""
        - copy: {content: "{{ version }}", dest: /after, owner: a, group: a, mode: "0644"}
        """,
        defaults__main="version: ''\n",
    )
    assert 'content: "{{ Data.version }}"' in text
    assert 'content: "{{ Data.version_set }}"' in text
    check_valid(tmp_path / "site")


def test_part_of_the_output_of_a_program_that_a_task_installs(tmp_path: Path) -> None:
    """On a new host, the part is not there; the mark says what to set instead."""
    _, text = convert_tasks(
        tmp_path,
        """
        - apt: {name: apache2}
        - command: apache2 -v
          changed_when: false
          register: seen
        - set_fact: {version: "{{ seen.stdout.split()[2] }}"}
        - copy: {content: "{{ version }}", dest: /a, owner: a, group: a, mode: "0644"}
        """,
    )
    assert "the push fails before its first change: set version in the data of such hosts" in text
    check_valid(tmp_path / "site")


def test_a_fact_that_reads_another_after_it_changed(tmp_path: Path) -> None:
    """Its value and its condition read the name that the other has by then."""
    result, text = convert_tasks(
        tmp_path,
        """
        - set_fact: {mode: 1}
          when: servers | length == 0
        - set_fact: {mode: 2}
          when: mode is not defined
        - set_fact: {provider: "{{ os_provider }}{{ mode }}"}
          when: mode != 2 and provider == ''
        - command: use {{ provider }}
        """,
        defaults__main="servers: []\nprovider: ''\nos_provider: chrony\n",
    )
    assert [one.outcome for one in result.records] == ["converted"] * 4
    assert "Data.mode }}" not in text
    assert "Data.mode " not in text.replace("Data.mode |", "")
    assert "Data.os_provider ~ Data.mode_set_2 if Data.mode_set_2 != 2 else ''" in text
    check_valid(tmp_path / "site")


def test_a_fact_that_only_a_later_task_sets(tmp_path: Path) -> None:
    """A variable that the inventory may set keeps that value when what it reads has changed."""
    result, text = convert_tasks(
        tmp_path,
        """
        - set_fact: {json: "php-json"}
          when: old
        - set_fact: {base: "{{ base + [json] }}"}
          when: json is defined
        - set_fact: {chosen: "{{ base | list }}"}
          when: chosen is not defined
        - package: {name: "{{ chosen }}"}
        """,
        defaults__main="old: false\nbase: [php]\n",
    )
    assert [one.outcome for one in result.records] == ["converted"] * 4
    assert 'chosen: "{{ Data.base_set | list }}"' in text
    assert "foreach: Data.chosen\n" in text
    check_valid(tmp_path / "site")


def test_a_fact_in_place_of_an_included_variable(tmp_path: Path) -> None:
    """Later tasks read the new value, and a condition that is always true is left out."""
    result, text = convert_tasks(
        tmp_path,
        """
        - include_vars: "{{ ansible_os_family }}.yml"
        - command: before {{ unit }}
        - set_fact: {unit: "app@{{ port }}.service"}
          when: ansible_service_mgr == "systemd"
        - set_fact: {conf: /etc/big}
          when: port > 5
        - command: after {{ unit }} {{ conf }}
        """,
        defaults__main="port: 1\n",
        vars__Debian="unit: app\nconf: /etc/small\n",
    )
    assert [one.outcome for one in result.records] == ["converted"] * 5
    assert 'unit_set: "app@{{ Data.port }}.service"' in text or "'app@' ~ Data.port" in text
    assert "'/etc/big' if Data.port > 5 else Data.conf" in text
    assert 'command: "before {{ Data.unit }}"' in text
    assert 'command: "after {{ Data.unit_set }} {{ Data.conf_set }}"' in text
    check_valid(tmp_path / "site")


def test_facts_of_which_one_is_not_converted(tmp_path: Path) -> None:
    """The others are, and only tasks that read this one are not."""
    result, text = convert_tasks(
        tmp_path,
        """
        - set_fact:
            now: "{{ ansible_date_time.iso8601 }}"
            path: "/srv/{{ name }}"
        - command: "use {{ path }}"
        - command: "use {{ now }}"
        """,
        defaults__main="name: a\n",
    )
    assert [one.outcome for one in result.records] == ["check", "converted", "not converted"]
    assert "# CHECK: now is not set: ccm has no fact like ansible_date_time.iso8601" in text
    assert 'path: "/srv/{{ Data.name }}"' in text
    check_valid(tmp_path / "site")


def test_file_names_of_joined_facts(tmp_path: Path) -> None:
    """A file name may join facts in parentheses, in lower case as a whole."""
    _, text = convert_tasks(
        tmp_path,
        """
        - include_tasks: "{{ item }}"
          with_first_found:
            - "{{ ('Setup-' ~ ansible_distribution ~ '-A12') | lower }}.yml"
            - "setup-{{ (ansible_os_family + '') | lower }}.yml"
        """,
        **{
            "tasks__setup-debian": "- command: echo 1\n",
            "tasks__setup-debian-a12": "- command: echo 2\n",
        },
    )
    assert "NOT CONVERTED" not in text
    assert "echo 1" in text
    assert "echo 2" in text
    check_valid(tmp_path / "site")


_NAMED = """
- include_vars: {file: "{{ item }}", name: os_vars}
  with_first_found: ["{{ ansible_os_family }}.yml"]
- set_fact: {"{{ item.key }}": "{{ item.value }}"}
  when: item.key not in vars
  with_dict: "{{ os_vars }}"
- package: {name: "{{ pkg }}"}
- service: {name: "{{ svc }}", state: started}
- command: "echo {{ os_vars.pkg }}"
"""


def test_variables_that_are_set_unless_the_user_does(tmp_path: Path) -> None:
    """A file of variables that only set what nothing else sets is weaker than the inventory."""
    _, site = convert(
        tmp_path,
        {
            "site.yml": "- {hosts: all, roles: [ssh], vars: {pkg: own}}\n",
            "hosts": "web1 svc=sshd\n",
            "roles/ssh/tasks/main.yml": _NAMED,
            "roles/ssh/defaults/main.yml": "mode: strict\n",
            "roles/ssh/vars/Debian.yml": "pkg: openssh\nsvc: ssh\nmode: lax\n",
        },
    )
    text = (site / "roles/ssh.yaml").read_text()
    order = ["host:{{ Host.name }}", "vars:{{ Facts.host.info.platformFamily }}"]
    positions = [text.index(f'- "{one}"') for one in order]
    assert positions == sorted(positions)
    assert "pkg: openssh" in text
    assert "svc: ssh" in text
    assert "lax" not in text  # a default is set, too
    assert "NOT CONVERTED: it uses os_vars, a map of all variables of a file" in text
    assert "inherit_data: [pkg]" in (site / "site.yaml").read_text()
    check_valid(site)


def test_variables_that_are_set_one_by_one_under_a_condition(tmp_path: Path) -> None:
    """A condition on the key is not converted, and then nothing reads these variables."""
    _, text = convert_tasks(
        tmp_path,
        _NAMED.replace("item.key not in vars", "item.key.startswith('ssh')"),
        vars__Debian="pkg: openssh\nsvc: ssh\n",
    )
    assert "NOT CONVERTED: it uses pkg of 'include_vars', which is not converted" in text
    assert "\n    - service:" not in text


def test_conditions_on_the_earlier_value_of_a_fact(tmp_path: Path) -> None:
    """A fact that is set under a condition on its own earlier value does not refer to itself."""
    _, text = convert_tasks(
        tmp_path,
        """
        - set_fact: {provider: "{{ own }}"}
          when: [mode | int != 2, not provider | bool, provider == '']
        - command: echo {{ provider }}
        """,
        defaults__main='provider: ""\nmode: 1\nown: chrony\n',
    )
    test = "Data.mode | int != 2 and not Data.provider | bool(false) and Data.provider == ''"
    assert f"{{{{ Data.own if {test} else Data.provider }}}}" in text
    assert "echo {{ Data.provider_set }}" in text
    check_valid(tmp_path / "site")
