"""What validation of the manifest alone cannot see: lists that are empty, names that coincide."""

from pathlib import Path

import pytest

from orchestrator.cli.app import main
from tests.orchestrator.ansible.sites import check_valid, convert_tasks

INVENTORY = "hosts:\n  a: {address: 192.0.2.1}\n"


def _planned(tmp_path: Path) -> int:
    """Validate the plan of a host of Debian."""
    inventory, facts = tmp_path / "hosts.yaml", tmp_path / "facts.yaml"
    inventory.write_text(INVENTORY)
    facts.write_text("host: {info: {platform: debian, platformFamily: debian}}\n")
    words = ["validate", "-i", str(inventory), "--facts", str(facts)]
    return main([*words, str(tmp_path / "site/site.yaml")])


def test_lists_of_filters(tmp_path: Path) -> None:
    """A generator of a filter is a list where it is a value."""
    _, text = convert_tasks(
        tmp_path,
        """
        - set_fact: {all: "{{ ones | union(twos) | unique }}"}
        - set_fact: {few: "{{ ones | map('upper') if ones else twos | reject('eq', 'b') }}"}
        - copy: {content: "{{ all | join }}{{ few | join }}", dest: /a, mode: "0644"}
        """,
        defaults__main="ones: [a]\ntwos: [b]\n",
    )
    assert 'all: "{{ Data.ones | union(Data.twos) | unique | list }}"' in text
    assert "(Data.ones | map('upper') | list if Data.ones" in text.replace('"{{ ', '"{{ (')
    assert "Data.twos | reject('eq', 'b') | list" in text
    assert _planned(tmp_path) == 0


def test_edits_that_are_none(tmp_path: Path) -> None:
    """Nothing is edited where no condition holds or the lists are empty."""
    _, text = convert_tasks(
        tmp_path,
        """
        - lineinfile: {path: /etc/a, line: "{{ item }}"}
          loop: "{{ ones }}"
        - lineinfile: {path: /etc/a, line: "{{ item }}", state: absent}
          loop: "{{ twos }}"
        - lineinfile: {path: /etc/b, line: x, regexp: '^x'}
          when: x is defined
        - lineinfile: {path: /etc/b, line: y, regexp: '^y'}
          when: y is defined
        - lineinfile: {path: /etc/c, line: "{{ item.l }}"}
          loop: "{{ ones }}"
          when: item.on
        - lineinfile: {path: /etc/d, line: "{{ item }}"}
          loop: "{{ ones }}"
        - lineinfile: {path: /etc/d, line: always}
        """,
        defaults__main="ones: []\ntwos: []\n",
    )
    assert "if: Data.ones | length > 0 or Data.twos | length > 0" in text
    assert "if: Data.x is defined or Data.y is defined" in text
    assert text.count("control:") == 3
    assert _planned(tmp_path) == 0


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        (
            "- file: {path: '{{ item }}', state: directory, mode: '0755'}\n"
            "  loop: ['{{ one }}', '{{ two }}']\n",
            'foreach: "[Data.one, Data.two] | unique | list"',
        ),
        (
            "- apt: {name: '{{ pkg }}', update_cache: true}\n"
            "  when: ansible_os_family == 'Debian'\n"
            "- yum: {name: '{{ pkg }}'}\n"
            "  when: ansible_os_family == 'RedHat'\n",
            "foreach: \"[Data.pkg] if Facts.host.info.platformFamily == 'debian' else []\"",
        ),
        (
            "- file: {path: '{{ one }}/x', state: absent}\n"
            "- file: {path: '{{ one }}/x', state: absent}\n",
            "merged into file#{{ Data.one }}/x above",
        ),
    ],
)
def test_names_that_coincide(tmp_path: Path, tasks: str, expected: str) -> None:
    """A resource is there once, also where its name is a variable."""
    _, text = convert_tasks(tmp_path, tasks, defaults__main="one: /a\ntwo: /a\npkg: p\n")
    assert expected in text
    assert _planned(tmp_path) == 0


def test_the_same_resource_under_another_condition(tmp_path: Path) -> None:
    """It stays where it is: what it needs comes between."""
    _, text = convert_tasks(
        tmp_path,
        """
        - apt: {name: a}
          when: ansible_os_family == 'Debian'
        - service: {name: a, state: started}
          when: ansible_os_family == 'Debian'
        - yum: {name: b}
          when: ansible_os_family == 'RedHat'
        - service: {name: a, state: started}
          when: ansible_os_family == 'RedHat'
        """,
    )
    first = text.index("foreach: \"['a'] if Facts.host.info.platformFamily == 'debian' else []\"")
    second = text.index("['a'] if Facts.host.info.platformFamily in ['rhel', 'fedora'] and not (")
    assert first < text.index("- b:") < second
    assert _planned(tmp_path) == 0


def test_a_negation_of_the_task_counts_for_what_follows(tmp_path: Path) -> None:
    """The later resource is there unless the earlier one is, by all conditions of its task."""
    _, text = convert_tasks(
        tmp_path,
        """
        - service: {name: a, state: started}
          when: [one, not (two or three)]
        - apt: {name: b}
          when: four
        - service: {name: a, state: started}
          when: four
        """,
        defaults__main="one: true\ntwo: true\nthree: false\nfour: true\n",
    )
    assert "not (Data.one and (not (Data.two or Data.three)))" in text
    assert _planned(tmp_path) == 0


def test_a_directory_keeps_its_mode(tmp_path: Path) -> None:
    """Ansible leaves the mode of directories that are there; ccm sets one, which is marked."""
    tasks = "- copy: {src: conf/, dest: /etc/a, owner: root, group: root, mode: '0600'}\n"
    result, text = convert_tasks(tmp_path, tasks, **{"files__conf/a": "x"})
    assert result.records[0].outcome == "check"
    assert "directories that exist keep their mode in the original; here it is 0755" in text


def test_texts_that_are_lists(tmp_path: Path) -> None:
    """Ansible splits a text at its commas; a variable that is one text is one entry."""
    result, text = convert_tasks(
        tmp_path,
        """
        - deb822_repository: {name: a, uris: "{{ repo.uris }}", suites: "{{ repo.suites }}",
            components: "main,{{ repo.part }}", types: deb}
        - user: {name: a, groups: "sudo,{{ group }}", append: true}
        """,
        defaults__main="repo: {uris: 'http://e.example', suites: [a], part: b}\ngroup: g\n",
    )
    assert [one.outcome for one in result.records] == ["converted"] * 2
    assert 'url: "{{ Data.repo.uris }}"' in text
    assert 'components: [main, "{{ Data.repo.part }}"]' in text
    assert 'groups: [sudo, "{{ Data.group }}"]' in text
    assert _planned(tmp_path) == 0


def test_computed_states(tmp_path: Path) -> None:
    """Each state is a resource of its own, under its condition; a text is no condition."""
    result, text = convert_tasks(
        tmp_path,
        """
        - file: {src: "/a/{{ item.n }}", dest: "/b/{{ item.n }}",
            state: "{{ 'link' if item.on else 'absent' }}"}
          loop: "{{ sites }}"
        - file: {path: /c, owner: a, group: a, mode: "0755",
            state: "{{ on | ternary('directory', 'absent') }}"}
        - sysctl: {name: a.b, value: 1, state: "{{ on | ternary('present', 'absent') }}"}
        - lineinfile: {path: /d, line: x, state: "{{ 'present' if n > 1 else 'absent' }}"}
        - file: {path: /e, state: "{{ word | ternary('directory', 'absent') }}"}
        """,
        defaults__main="sites: [{n: a, on: true}]\non: true\nn: 1\nword: 'no'\n",
    )
    assert [one.outcome for one in result.records] == [*["converted"] * 4, "not converted"]
    assert '- "/b/{{ item.n }}":' in text
    assert "foreach: \"['/c'] if Data.on else []\"" in text
    assert "foreach: \"['/c'] if not Data.on else []\"" in text
    assert "if Data.n > 1 else []" in text
    assert _planned(tmp_path) == 0


def test_a_computed_state_that_is_a_boolean(tmp_path: Path) -> None:
    """It is as that of a file: a resource for each."""
    state = "{{ (n > 1) | ternary(true, false) }}"
    task = f"- seboolean: {{name: a, persistent: true, state: '{state}'}}\n"
    _, text = convert_tasks(tmp_path, task, defaults__main="n: 1\n")
    assert "setsebool -P a on" in text
    assert "setsebool -P a off" in text
    assert _planned(tmp_path) == 0


def test_a_file_that_is_copied_into_a_directory(tmp_path: Path) -> None:
    """Ansible makes the directory where it is missing; one of the role is not made again."""
    tasks = """
        - file: {path: /etc/known, state: directory, owner: root, group: root, mode: "0755"}
        - copy: {src: a, dest: /etc/known/, owner: root, group: root, mode: "0644"}
        - copy: {src: a, dest: /etc/new/, owner: www, group: www, mode: "0644"}
        - template: {src: a, dest: /etc/other/, owner: root, group: root, mode: "0644"}
        - copy: {src: d/, dest: /opt/x/y, owner: root, group: root, mode: "0644"}
    """
    files = {"files__a": "x", "templates__a": "x", "files__d/f": "x"}
    _, text = convert_tasks(tmp_path, tasks, **files)
    assert "command: install -d -o www -g www -m 0755 /etc/new" in text
    assert "command: install -d -o root -g root -m 0755 /etc/other" in text
    assert "command: install -d -o root -g root -m 0755 /opt/x\n" in text
    assert text.count("install -d") == 3
    assert _planned(tmp_path) == 0


def test_a_loop_of_edits_of_a_computed_file(tmp_path: Path) -> None:
    """The lines of a loop are edits of the one file that a variable names."""
    _, text = convert_tasks(
        tmp_path,
        """
        - file: {path: "{{ settings }}", state: touch, mode: "0644"}
        - lineinfile:
            path: "{{ settings }}"
            regexp: "^{{ item.key }}="
            line: "{{ item.key }}={{ item.value }}"
            mode: "0644"
          loop: "{{ given }}"
        - lineinfile: {path: "{{ settings }}", regexp: "^HOME=", line: "HOME=/a", mode: "0644"}
        """,
        defaults__main="settings: /etc/default/a\ngiven: [{key: A, value: 1}]\n",
    )
    assert text.count('- "{{ Data.settings }}":') == 2  # an edit and a file
    assert "foreach" not in text
    check_valid(tmp_path / "site")


def test_sources_and_packages_of_one_repository(tmp_path: Path) -> None:
    """Lines of one address under one condition are one repository with both types."""
    _, text = convert_tasks(
        tmp_path,
        """
        - apt_repository: {repo: "{{ item }}"}
          loop: ["deb https://e.example/a stable main", "deb-src https://e.example/a stable main"]
          when: ansible_os_family == 'Debian'
        """,
    )
    assert text.count("url: https://e.example/a") == 1
    assert "types: [deb, deb-src]" in text


def test_no_alias_without_a_subscription(tmp_path: Path) -> None:
    """A resource with a computed name has an alias only where another one waits for it."""
    _, text = convert_tasks(
        tmp_path,
        "- file: {path: '{{ place }}', state: directory, owner: a, group: a, mode: '0755'}\n",
        defaults__main="place: /srv/a\n",
    )
    assert "alias" not in text


def test_users_without_a_password(tmp_path: Path) -> None:
    """``password: x or '!'`` is the hash of the users that have one, and locks the others."""
    result, text = convert_tasks(
        tmp_path,
        """
        - user:
            name: "{{ item.name }}"
            password: "{{ item.password if item.password is defined else '!' }}"
          loop: "{{ people }}"
        - user: {name: app, password: "{{ app_password | default('*') }}"}
        """,
        defaults__main="""
        people:
          - {name: a, password: "$6$saltsalt$abcdefghijklmnop"}
          - {name: b}
        """,
    )
    assert [one.outcome for one in result.records] != ["not converted", "not converted"]
    assert text.count("locked: true") == 2
    assert text.count('password: "{{ item.password }}"') == 1
    assert _planned(tmp_path) == 0


def test_limits_of_every_domain(tmp_path: Path) -> None:
    """A domain of a list may be ``*``, which is no pattern."""
    _, text = convert_tasks(
        tmp_path,
        """
        - pam_limits:
            domain: "{{ item.domain }}"
            limit_type: "{{ item.type | default('-') }}"
            limit_item: nofile
            value: "{{ item.value }}"
          loop: "{{ limits }}"
        """,
        defaults__main="limits: [{domain: '*', value: 1}, {domain: '@ops', value: 2}]\n",
    )
    assert "regex_escape" in text
    assert _planned(tmp_path) == 0


def test_a_password_that_locks_a_user(tmp_path: Path) -> None:
    """A lock of ccm keeps a password, which the original replaces."""
    result, text = convert_tasks(
        tmp_path,
        """
        - user: {name: a, password: "*"}
        - user: {name: b, password: "!", update_password: on_create}
        """,
    )
    assert [one.outcome for one in result.records] == ["check", "converted"]
    assert "CHECK: the password is locked with !" in text
