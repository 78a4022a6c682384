"""Each module with its resource: short and full names, both forms of arguments, marks."""

from pathlib import Path

import pytest

from tests.orchestrator.ansible.sites import check_valid, convert_tasks

# A task, and what the manifest has for it.
EXACT = {
    "package": ("apt: name=nginx=1.2 state=present", '- nginx:\n            ensure: "1.2"'),
    "several": ("dnf: {name: [a, b], state: absent}", "- b:\n            ensure: absent"),
    "variable": ("package: {name: '{{ pkgs }}'}", "foreach: Data.pkgs"),
    "directory": (
        "file: path=/srv/app/ state=directory owner=root group=root mode=0755",
        "- /srv/app:\n            ensure: directory\n            owner: root\n"
        '            group: root\n            mode: "0755"',
    ),
    "absent": ("file: dest=/srv/x state=absent", "ensure: absent\n            force: true"),
    "link": ("file: {src: b, dest: /srv/a, state: link}", "- /srv/a:\n            target: b"),
    "symbolic": (
        "copy: {content: x, dest: /a, owner: root, group: root, mode: 'u=rw,g=r,o='}",
        'mode: "0640"',
    ),
    "octal": ("copy: {content: x, dest: /a, owner: root, group: root, mode: 0600}", '"0600"'),
    "dollar": (
        "copy: {content: 'a ${ b }', dest: /a, owner: root, group: root, mode: 0600}",
        "a {{ '${' }} b }",
    ),
    "line": (
        "lineinfile: {path: /etc/a, regexp: '^a=', line: 'a=1'}",
        'line: a=1\n            match: "^a="',
    ),
    "place": (
        "lineinfile: {path: /etc/a, line: 'b', insertafter: '^a'}",
        'match: "^b$"\n            after: "^a"',
    ),
    "block": (
        "blockinfile: {path: /etc/a, block: 'x'}",
        'marker: "# {mark} ANSIBLE MANAGED BLOCK"',
    ),
    "replace": (
        "replace: {path: /etc/a, regexp: 'a(b)', replace: 'c\\1'}",
        "replace: 'c\\g<1>'",
    ),
    "user": ("user: name=joe groups=a,b append=yes shell=/bin/sh", "groups: [a, b]"),
    "system user": ("user: name=joe system=yes", "create_home: true"),
    "group": ("group: name=app gid=900 system=true", "gid: 900"),
    "command": ("command: make install chdir=/srv creates=/srv/x", "creates: /srv/x"),
    "shell": ("shell: a | b", "provider: shell"),
    "bash": ("shell: {cmd: 'a', executable: /bin/bash}", "interpreter: bash"),
    "removes": ("command: rm /srv/x removes=/srv/x", "onlyif: test -e /srv/x"),
    "sysctl": (
        "ansible.posix.sysctl: {name: vm.swappiness, value: 10}",
        "value: 10\n            file: /etc/sysctl.conf",
    ),
    "enabled": ("systemd: name=a enabled=yes", "unless: systemctl is-enabled --quiet a"),
    "stopped": ("service: name=a state=stopped enabled=no", "ensure: stopped"),
    "download": (
        "get_url: {url: 'https://e.example/a.sh', dest: /opt/, mode: 0755}",
        "- /opt/a.sh:\n            url: https://e.example/a.sh",
    ),
    "wait": ("wait_for: port=80 delay=0 timeout=30", "port: 80\n            timeout: 30s"),
    "pause": ("pause: seconds=5", "command: sleep 5"),
    "git": (
        "git: {repo: 'https://e.example/a.git', dest: /srv/a, version: v1}",
        "ref: v1",
    ),
    "cron": ("cron: {name: a, job: b, hour: 5}", "crontab: true"),
    "preserved": (
        "copy: {content: a, dest: /a, owner: b, group: b, mode: preserve}",
        'mode: "0600"',
    ),
    "timezone": ("community.general.timezone: name=UTC", "timedatectl set-timezone UTC"),
    "environment": (
        "command: a\n  environment: {B: c}",
        "environment: [B=c]",
    ),
    "tries": (
        "command: a\n  register: r\n  until: r is succeeded\n  retries: 2\n  delay: 3",
        "tries: 3\n            try_sleep: 3s",
    ),
}


@pytest.mark.parametrize("name", EXACT)
def test_a_module_is_its_resource(tmp_path: Path, name: str) -> None:
    """The task becomes a resource without any mark, and the site is valid."""
    task, expected = EXACT[name]
    result, text = convert_tasks(
        tmp_path, f"- name: Do it\n  {task}\n", defaults__main="pkgs: [a, b]\n"
    )
    assert expected in text
    assert [one.outcome for one in result.records] == ["converted"], result.records[0].reasons
    check_valid(tmp_path / "site")


MARKED = {
    "owner": (
        "copy: {content: x, dest: /a}",
        "the original does not set the owner, group and mode",
    ),
    "ignored": ("package: name=a\n  ignore_errors: true", "a failure ends the run"),
    "repository": (
        "apt_repository: {repo: 'deb [arch=amd64] https://e.example/d stable main'}",
        "ccm writes e_example_d.sources",
    ),
    "upgrade": ("apt: upgrade=dist", "the upgrade runs"),
    "signatures": (
        "yum_repository: {name: a, description: A, baseurl: 'https://e.example'}",
        "signatures are checked; the original leaves that to dnf.conf",
    ),
    "mode of a repository": (
        "yum_repository: {name: a, description: A, baseurl: 'https://e.example', gpgcheck: true, "
        "mode: '0600'}",
        "the file belongs to root and has the mode 0644, unlike in the original",
    ),
    "decimal mode of a repository": (
        "yum_repository: {name: a, description: A, baseurl: 'https://e.example', gpgcheck: true, "
        "mode: 644}",
        "the file belongs to root and has the mode 0644, unlike in the original",
    ),
    "key of a variable": ("apt_key: {url: '{{ x.url }}'}", "/etc/apt/trusted.gpg.d/key.asc"),
    "mount": (
        "mount: {path: /srv, src: /dev/sdb1, fstype: ext4, state: mounted}",
        "systemd reads the changed fstab again",
    ),
}


@pytest.mark.parametrize("name", MARKED)
def test_a_difference_is_marked(tmp_path: Path, name: str) -> None:
    """What is not exactly the same has a mark at its place, and in the report."""
    task, expected = MARKED[name]
    result, text = convert_tasks(tmp_path, f"- {task}\n")
    assert "# CHECK: " in text
    assert expected in text
    assert result.records[0].outcome == "check"
    check_valid(tmp_path / "site")


KEPT = {
    "delegation": "command: a\n  delegate_to: localhost",
    "facts of another host": "command: a\n  delegate_facts: true",
    "never": "command: a\n  tags: never",
    "look-around": "lineinfile: {path: /a, regexp: '(?!x)', line: b}",
    "pattern": "apt: name=nginx*",
    "X": "copy: {content: x, dest: /a, mode: 'u=rwX,g=rX,o='}",
    "plugin": "copy: {content: \"{{ lookup('pipe', 'x') }}\", dest: /a}",
    "variable": "command: echo $HOME",
    "directory": "yum_repository: {name: a, description: A, baseurl: 'https://e', reposdir: /x}",
    "async": "command: a\n  async: 10\n  poll: 0",
    "blank in a path": "unarchive: {src: /a.tgz, dest: /my app, remote_src: true, owner: b}",
    "quote in an owner": 'unarchive: {src: /a.tgz, dest: /b, remote_src: true, owner: "b\'c"}',
    "missing file": "copy: {src: nothing.txt, dest: /a}",
}


@pytest.mark.parametrize("name", KEPT)
def test_what_has_no_counterpart_is_kept(tmp_path: Path, name: str) -> None:
    """The task stays as a comment; nothing of it is converted."""
    result, text = convert_tasks(tmp_path, f"- {KEPT[name]}\n- package: name=curl\n")
    assert "# NOT CONVERTED: " in text
    assert result.records[0].outcome == "not converted"
    check_valid(tmp_path / "site")


PATTERNS = {
    "empty option": (
        'yum: {name: a, enablerepo: "{{ repo | default(omit, true) }}"}',
        "- a",
        "repo: ''",
    ),
    "restart": (
        "service: {name: a, state: '{{ then }}'}",
        "command: \"systemctl {{ {'restarted': 'restart', 'reloaded': 'reload-or-restart'}"
        '[Data.then] }} a"',
        "then: restarted",
    ),
    "force": (
        "template: {src: t.j2, dest: /a, owner: root, group: root, mode: '0644', "
        "force: '{{ over }}'}",
        'replace: "{{ Data.over }}"',
        "over: true",
    ),
    "services": (
        "service_facts:\n- service: {name: b, state: stopped}\n  when: '\"b.service\" in services'",
        "if: Asked.has_b_service.exit_code == 0",
        "x: 1",
    ),
    "elements": (
        "assert: {that: [item.name is defined]}\n  loop: '{{ people }}'",
        "for item in Data.people if not (item.name is defined)",
        "people: [{name: a}]",
    ),
    "link": (
        "stat: {path: /srv/a}\n  register: a\n- file: {path: /srv/a, state: absent}\n"
        "  when: a.stat.islnk is not defined",
        "absent: /srv/a",
        "x: 1",
    ),
    "anywhere": (
        "assert: {that: [x is defined]}\n  delegate_to: localhost\n  run_once: true\n"
        "  become: false",
        "that: Data.x is defined",
        "x: 1",
    ),
    "module of Apache": (
        "community.general.apache2_module: {name: ssl}",
        "unless: a2query -q -m ssl",
        "x: 1",
    ),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_usual_pattern_of_roles_is_exact(tmp_path: Path, name: str) -> None:
    """What roles often do becomes resources without a mark, and the site is valid."""
    task, expected, defaults = PATTERNS[name]
    result, text = convert_tasks(
        tmp_path, f"- {task}\n", defaults__main=f"{defaults}\n", templates__t_DOT_j2="x\n"
    )
    assert expected in text
    assert {one.outcome for one in result.records} == {"converted"}, result.records
    check_valid(tmp_path / "site")


NOT_EXACT = {
    "repository": ("yum: {name: a, enablerepo: epel}", "enablerepo: epel is not passed on"),
    "set once": ("mount: {path: /srv, src: /dev/b, fstype: ext4, state: '{{ s }}'}", "s }}"),
    "fallback": (
        "lineinfile: {path: /etc/a, line: '{{ item.a }}', state: \"{{ item.s | default('present') "
        "}}\"}\n  loop: '{{ none }}'",
        "state is present for all",
    ),
    "selinux": (
        "file: {path: /srv, state: directory, owner: root, group: root, mode: '0755', setype: a}",
        "setype, a part of the SELinux context",
    ),
    "pip": ("pip: {name: requests}", "a package installed in another version is kept"),
}


@pytest.mark.parametrize("name", NOT_EXACT)
def test_what_is_not_passed_on_is_marked(tmp_path: Path, name: str) -> None:
    """An option without a counterpart, or a choice that is not computed, has a mark."""
    task, expected = NOT_EXACT[name]
    result, text = convert_tasks(tmp_path, f"- {task}\n", defaults__main="s: mounted\nnone: []\n")
    assert expected in " ".join(result.records[0].reasons)
    assert result.records[0].outcome == "check"
    assert "# CHECK: " in text
    check_valid(tmp_path / "site")
