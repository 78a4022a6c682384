"""Package files, repositories, passwords, modes and searches."""

from pathlib import Path

import pytest

from tests.orchestrator.ansible.sites import check_valid, convert_tasks
from tests.texts import expect_text

MARKED = {
    "deb": ("apt: {deb: /tmp/a.deb}", "apt-get install -y /tmp/a.deb"),
    "deb of a URL": ("apt: {deb: 'https://e.example/a.deb'}", "url: https://e.example/a.deb"),
    "rpm": ("yum: {name: 'https://e.example/a.rpm'}", "yum install -y https://e.example/a.rpm"),
    "options": ("apt: {name: a, force: true}", "force: True is not passed on"),
    "ppa": ("apt_repository: {repo: 'ppa:a/b'}", "add-apt-repository -y ppa:a/b"),
    "line": (
        "apt_repository: {repo: '{{ line }}', filename: a}",
        "{{ Data.line }}",
    ),
    "settings of dnf": (
        "yum_repository: {name: a, description: A, baseurl: 'https://e.example', proxy: p}",
        "proxy: p",
    ),
    "key server": (
        "apt_key: {keyserver: k.example, id: ABCD}",
        "--keyserver k.example --recv-keys ABCD",
    ),
    "password once": (
        "user: {name: a, password: '$6$x', update_password: on_create}",
        "chpasswd -e",
    ),
    "answer": (
        "debconf: {name: '{{ item.p }}', question: '{{ item.q }}', vtype: string, value: x}\n"
        "  loop: '{{ answers }}'",
        "debconf-set-selections",
    ),
    "newline": (
        "copy: {content: \"{{ number }}\\n\", dest: /a, owner: a, group: a, mode: '0644'}",
        "Ansible 2.19 and later write no newline after a value that is not text",
    ),
    "temporary": ("tempfile: {state: directory}\n  register: place", "/var/tmp/ccm-place"),
    "home": (
        "file: {path: ~/.kube, state: directory, owner: a, group: a, mode: '0700'}",
        "- /root/.kube:",
    ),
    "template of the user": (
        "template: {src: '{{ mine }}', dest: /a, owner: a, group: a, mode: '0644'}",
        "{{ template(Data.mine) }}",
    ),
    "file of the user": (
        "copy: {src: '{{ mine }}', dest: /a, owner: a, group: a, mode: '0644'}",
        'source: "{{ Data.mine }}"',
    ),
}


@pytest.mark.parametrize("name", MARKED)
def test_what_is_done_another_way_is_marked(tmp_path: Path, name: str) -> None:
    """The resource does the same; where it differs, its comment says so."""
    task, expected = MARKED[name]
    result, text = convert_tasks(
        tmp_path, f"- {task}\n", defaults__main="answers: []\nline: deb http://x y\nnumber: 1\n"
    )
    exact = name in ("deb", "line", "settings of dnf")
    assert result.records[0].outcome == ("converted" if exact else "check")
    assert expected in text
    check_valid(tmp_path / "site")


EXACT = {
    "bits": (
        "file: {path: /a, mode: 'go-w,u+x'}",
        "find /a -maxdepth 0 ! -perm /g+w,o+w -perm -u+x",
    ),
    "special": ("file: {path: /a, state: directory, owner: a, group: a, mode: 'u=rwX,g=rwXs,o='}",
                'mode: "2770"'),
    "owner of all": ("file: {path: /a, state: directory, owner: a, recurse: true}",
                     "chown -R a /a"),
    "cleaning": ("apt: {autoremove: true}", "apt-get -y autoremove"),
    "cache": ("apt: {name: a, update_cache: true, cache_valid_time: '{{ seconds }}'}",
              'update_cache: "{{ Data.seconds }}s"'),
    "age": ("user: {name: a, password_expire_max: 90}", "chage -M 90 a"),
    "text of a line": ("lineinfile: {path: /a, search_string: 'a.b=', line: 'a.b=1'}",
                       "match: 'a\\.b='"),
    "version": ("apt: {name: a=1.2-3}", 'ensure: "1.2-3"\n            allow_downgrade: false'),
    "owner of an archive": (
        "unarchive: {src: /a.tgz, dest: /b, remote_src: true, creates: /b/c, owner: root, "
        "group: root}",
        "tar --extract -C /b -z --no-same-owner -f /a.tgz",
    ),
    "another owner of an archive": (
        "unarchive: {src: /a.tgz, dest: /b, remote_src: true, owner: www, group: www, "
        "extra_opts: [--strip-components=1]}",
        "| sed ''s|^/*|./|'' | (cd /b && xargs -d ''\\n'' chown -h www:www)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_what_is_done_the_same_way(tmp_path: Path, name: str) -> None:
    """Modes of bits, owners of all that is in a directory, and cleaning."""
    task, expected = EXACT[name]
    result, text = convert_tasks(tmp_path, f"- {task}\n", defaults__main="seconds: 60\n")
    assert result.records[0].outcome != "not converted"
    assert expected in text
    check_valid(tmp_path / "site")


def test_files_that_are_found(tmp_path: Path) -> None:
    """``find`` is a lookup, and a loop over its files one over the lines of its answer."""
    result, text = convert_tasks(
        tmp_path,
        """
        - find: {paths: /etc/cron.d, patterns: '*.bak,*.old', age: 2d}
          register: old
        - file: {path: "{{ item.path }}", state: absent}
          loop: "{{ old.files }}"
        - command: many
          when: old.matched > 3
        """,
    )
    assert "not converted" not in [one.outcome for one in result.records]
    assert "-mindepth 1 -maxdepth 1 -type f" in text
    assert "-mmin +2880" in text
    assert "Asked.old.stdout.splitlines() | length > 3" in text
    check_valid(tmp_path / "site")


def test_versions_of_packages_whose_names_are_values(tmp_path: Path) -> None:
    """``ansible_facts.packages[NAME]`` is a lookup of the package."""
    _, text = convert_tasks(
        tmp_path,
        """
        - package_facts: {}
        - command: new
          when: ansible_facts.packages[name][0].version is version('9', '>=')
        """,
        defaults__main="name: bind9\n",
    )
    assert 'package: "{{ Data.name }}"' in text
    check_valid(tmp_path / "site")


def test_a_loop_over_a_bare_name(tmp_path: Path) -> None:
    """``with_items: name``, as Ansible 1 wrote it, is the variable of this name."""
    _, text = convert_tasks(
        tmp_path, "- group: name={{item}}\n  with_items: teams\n", defaults__main="teams: [a, b]\n"
    )
    assert "foreach: Data.teams" in text
    check_valid(tmp_path / "site")


def test_all_entries_of_a_database(tmp_path: Path) -> None:
    """``getent`` without a key is a map of what the host answers; shadow is masked."""
    result, text = convert_tasks(
        tmp_path,
        """
        - getent: {database: passwd}
        - getent: {database: shadow}
        - set_fact: {roots: "{{ roots | default([]) + [item] }}"}
          loop: "{{ getent_passwd.keys() | list }}"
          when: getent_passwd[item][1] | int == 0
        - command: chage {{ item }}
          loop: "{{ roots }}"
          when: getent_shadow[item][0] != '*'
        """,
    )
    assert "not converted" not in [one.outcome for one in result.records]
    assert "for line in Asked.all_passwd.stdout.splitlines()" in text
    assert "all_shadow: {command: getent shadow, sensitive: true}" in text
    check_valid(tmp_path / "site")


def test_checksums_of_other_kinds(tmp_path: Path) -> None:
    """A checksum that ``download`` does not know is tested by a program, and marked."""
    result, text = convert_tasks(
        tmp_path, "- get_url: {url: 'https://e.example/a', dest: /a, checksum: 'sha1:abc'}\n"
    )
    assert result.records[0].outcome == "check"
    assert 'echo "abc  /a" | sha1sum --check --quiet' in text
    check_valid(tmp_path / "site")


def test_a_template_that_an_element_names(tmp_path: Path) -> None:
    """A name that is made of an element is one of the templates of the role."""
    _, text = convert_tasks(
        tmp_path,
        "- template: {src: '{{ item.kind }}.j2', dest: '/{{ item.name }}', owner: a, group: a, "
        "mode: '0644'}\n  loop: '{{ things }}'\n",
        defaults__main="things: []\n",
        templates__a_DOT_j2="x\n",
    )
    assert "template('role/templates/' ~ item.kind ~ '.j2'" in text


def test_a_version_behind_a_name(tmp_path: Path) -> None:
    """A name of dnf that a variable ends is marked, as it may hold a version."""
    result, _ = convert_tasks(
        tmp_path, "- yum: {name: 'app-{{ v }}'}\n- yum: {name: 'php{{ v }}'}\n"
    )
    assert [one.outcome for one in result.records] == ["check", "converted"]


def test_blanks_of_templates(tmp_path: Path) -> None:
    """``lstrip_blocks`` and ``trim_blocks`` are a header of the template."""
    task = "- template: {src: t.j2, dest: /%s, owner: a, group: a, mode: '0644'%s}\n"
    result, _ = convert_tasks(
        tmp_path,
        task % ("a", "") + task % ("b", ", lstrip_blocks: true, trim_blocks: false"),
        templates__t_DOT_j2="  {% if true %}\nx\n  {% endif %}\n",
    )
    assert [one.outcome for one in result.records] == ["converted", "converted"]
    folder = tmp_path / "site/roles/role/templates"
    assert not (folder / "t.j2").read_text().startswith("#")
    first = (folder / "t-2.j2").read_text().split("\n")[0]
    assert first == "#jinja2: trim_blocks: False, lstrip_blocks: True"
    check_valid(tmp_path / "site")


def test_requests_that_change_something(tmp_path: Path) -> None:
    """``uri`` with POST is sent by curl on each push, its password and body not as arguments."""
    result, text = convert_tasks(
        tmp_path,
        """
        - uri:
            url: "http://localhost/api/{{ item.name }}"
            method: POST
            user: admin
            password: "{{ secret }}"
            body_format: json
            body: {name: "{{ item.name }}"}
            status_code: [200, 409]
          loop: "{{ things }}"
        """,
        defaults__main="things: []\nsecret: x\n",
    )
    assert result.records[0].outcome == "check"
    assert "CCM_BODY={{ ({'name': item.name}) | to_json }}" in text
    assert "CCM_PASSWORD=admin:{{ Data.secret }}" in text
    assert "grep -qxE ''200|409''" in text
    assert "sensitive: true" in text
    check_valid(tmp_path / "site")


def test_paths_in_the_home_of_another_user_are_kept(tmp_path: Path) -> None:
    """``~name`` is not a path of ccm."""
    result, _ = convert_tasks(
        tmp_path, "- git: {repo: 'https://e.example/a', dest: '~{{ u }}/a'}\n"
    )
    assert result.records[0].outcome == "not converted"


def test_the_first_file_that_there_is(tmp_path: Path) -> None:
    """``with_first_found`` of a template: by facts, else the default."""
    result, text = convert_tasks(
        tmp_path,
        """
        - template: {src: "{{ item }}", dest: /etc/app, owner: a, group: a, mode: "0644"}
          with_first_found:
            - "{{ ansible_os_family }}.j2"
            - missing.j2
            - default.j2
        - copy: {src: "{{ item }}", dest: /etc/b, owner: a, group: a, mode: "0644"}
          with_first_found: [no, b]
        """,
        templates__Debian_DOT_j2="d\n",
        templates__default_DOT_j2="x\n",
        files__b="y\n",
    )
    assert [one.outcome for one in result.records] == ["converted", "converted"]
    assert "['/etc/app'] if Facts.host.info.platformFamily == 'debian' else []" in text
    assert "['/etc/app'] if Facts.host.info.platformFamily != 'debian' else []" in text
    assert "source: role/files/b" in text
    check_valid(tmp_path / "site")


def test_an_edit_that_creates_a_file_makes_its_directory(tmp_path: Path) -> None:
    """As Ansible does, where it is missing; a directory that is there keeps its attributes."""
    _, text = convert_tasks(
        tmp_path,
        """\
        - lineinfile: {path: /etc/modprobe.d/a.conf, line: "{{ item }}", create: yes}
          loop: "{{ modules }}"
        - blockinfile: {path: /etc/modprobe.d/b.conf, block: b, create: yes}
        - lineinfile: {path: /etc/modprobe.d/c.conf, line: c}
        - lineinfile: {path: /etc/default/d, line: d, create: yes}
        - lineinfile: {path: /etc/e/e.conf, line: "{{ item }}", create: yes}
          loop: "{{ modules }}"
        """,
        defaults__main="modules: [a]\n",
    )
    command = "install -d -o root -g root -m 0755 /etc/modprobe.d"
    made = f"- make /etc/modprobe.d:\n            command: {command}\n"
    assert text.count(made) == 1
    assert "creates: /etc/modprobe.d\n            affects: [/etc/modprobe.d]\n" in text
    assert "/etc/default:" not in text
    assert text.count("if: Data.modules | length > 0\n") == 3  # of both edits and /etc/e
    check_valid(tmp_path / "site")


def test_directories_above_have_the_attributes_of_the_one_that_is_named(tmp_path: Path) -> None:
    """Ansible gives them to each directory that it makes; those of root need no mention."""
    result, text = convert_tasks(
        tmp_path,
        """\
        - file: {path: /srv/a/b/c, state: directory, owner: app, group: app, mode: "0750"}
        - file: {path: /srv/d/e, state: directory, owner: root, group: root, mode: "0755"}
        - file: {path: "{{ top }}/f", state: directory, owner: app, group: app, mode: "0750"}
        """,
        defaults__main="top: /srv/g\n",
    )
    assert "command: install -d -o app -g app -m 0750 /srv/a\n" in text
    assert text.index("- make /srv/a:") < text.index("- make /srv/a/b:")
    assert text.index("- make /srv/a/b:") < text.index("- /srv/a/b/c:")
    assert text.count("install -d") == 2
    assert [one.outcome for one in result.records] == ["converted", "converted", "check"]
    check_valid(tmp_path / "site")


@pytest.mark.parametrize(("path", "outcome"), [("/srv/nfs/a", "check"), ("/srv/a", "converted")])
def test_directories_above_a_computed_one_are_marked(
    path: str, outcome: str, tmp_path: Path
) -> None:
    """Where a value that is known is not directly below a directory that each host has."""
    result, _ = convert_tasks(
        tmp_path,
        """\
        - file: {path: "{{ item.path }}", state: directory, owner: a, group: a, mode: "0750"}
          loop: "{{ shares }}"
        """,
        defaults__main=f"shares: [{{path: {path}}}]\n",
    )
    assert result.records[0].outcome == outcome
    check_valid(tmp_path / "site")


def test_packages_that_are_named_twice_are_one_resource(tmp_path: Path) -> None:
    """``foreach`` takes a list, which the filter alone does not give."""
    _, text = convert_tasks(
        tmp_path,
        "- package: {name: '{{ packages }}'}\n",
        defaults__main="packages: [curl, curl]\n",
    )
    assert "foreach: Data.packages | unique | list\n" in text
    check_valid(tmp_path / "site")


def test_modes_of_what_is_in_a_directory(tmp_path: Path) -> None:
    """A number is octal, as YAML 1.1 reads it, and X leaves plain files without x."""
    _, text = convert_tasks(
        tmp_path,
        """
        - file: {path: /srv/a, state: directory, recurse: true, mode: 0755}
        - file: {path: /srv/b, state: directory, recurse: true, owner: a, group: a,
                 mode: "u=rwX,g=rX,o="}
        """,
    )
    assert "command: chmod -R 0755 /srv/a" in text
    assert "chmod -R u=rwX,g=rX,o= /srv/b" in text
    assert "file_mode" not in text


def test_names_of_commands_with_an_apostrophe(tmp_path: Path) -> None:
    """The name of an exec reads as a command line, so its quotes are even."""
    _, text = convert_tasks(tmp_path, "- name: Run it with it's tool\n  command: tool\n")
    assert '- "Run it with it\u2019s tool":' in text


def test_sources_with_a_computed_state(tmp_path: Path) -> None:
    """Sources are there or not as the state says, under their name and with the key of the URL."""
    _, text = convert_tasks(
        tmp_path,
        """
        - deb822_repository:
            name: "{{ file }}"
            uris: "{{ site }}/debian"
            suites: stable
            components: "{{ channel }}"
            signed_by: "{{ key }}"
            state: "{{ 'present' if wanted | bool else 'absent' }}"
        """,
        defaults__main=(
            "file: tool\nsite: https://e.example\nchannel: main\nkey: '{{ site }}/gpg'\n"
            "wanted: true\n"
        ),
    )
    assert "foreach: '[Data.file] if Data.wanted | bool else []'" in text.replace('"', "'")
    assert "foreach: '[Data.file] if not Data.wanted | bool else []'" in text.replace('"', "'")
    assert 'url: "{{ Data.site }}/debian"' in text
    assert 'signed_by: ["/etc/apt/keyrings/{{ Data.file }}.asc"]' in text
    assert 'url: "{{ Data.key }}"' in text
    check_valid(tmp_path / "site")


def test_a_mode_of_bits_of_a_directory(tmp_path: Path) -> None:
    """A directory has the mode that the bits make of 0755, the same on each push."""
    _, text = convert_tasks(
        tmp_path,
        """
        - file: {path: /srv/a, state: directory, owner: a, group: a, mode: "u+rwX,g+rwX,o=rX"}
        - file: {path: /srv/b, state: directory, owner: a, group: a, mode: "o-rx"}
        """,
    )
    assert 'mode: "0775"' in text
    assert 'mode: "0750"' in text
    assert "chmod" not in text


def test_a_text_that_is_false_by_default(tmp_path: Path) -> None:
    """A variable that is false only by default is printed as it is, where it is a text."""
    convert_tasks(
        tmp_path,
        "- template: {src: a.j2, dest: /a, owner: a, group: a, mode: '0644'}\n",
        templates__a_DOT_j2="host {{ relay }} {{ tls }}\n",
        defaults__main="relay: false\ntls: true\n",
    )
    assert next((tmp_path / "site").rglob("a.j2")).read_text() == (
        "host {{ Data.relay | string | capitalize if Data.relay is boolean else Data.relay }} "
        "{{ 'True' if Data.tls else 'False' }}\n"
    )


def test_patterns_of_find_that_a_variable_joins(tmp_path: Path) -> None:
    """Each element of a list is a word of the command, joined with commas or not."""
    result, text = convert_tasks(
        tmp_path,
        """
        - find: {paths: /home, file_type: directory, excludes: "{{ ignored | join(',') }}"}
          register: homes
        - file: {path: "{{ item.path }}", state: directory, mode: "0700"}
          loop: "{{ homes.files }}"
        - find: {paths: "{{ dirs }}", patterns: "{{ ignored }}"}
          register: others
        - file: {path: "{{ item.path }}", state: absent}
          loop: "{{ others.files }}"
        - find: {paths: /srv, patterns: "{{ ignored }}", use_regex: true}
          register: others
        """,
        defaults__main="ignored: [a, b]\ndirs: [/srv, /opt]\n",
    )
    text = text.replace("''", "'")
    assert """! -name "{{ Data.ignored | join('" ! -name "') }}\"""" in text
    assert """find "{{ [Data.dirs] | flatten | join('" "') }}" -mindepth 1""" in text
    assert """-name "{{ [Data.ignored] | flatten | join('" -o -name "') }}\"""" in text
    expect_text(result.records[4].reasons)


def test_a_login_that_may_be_empty(tmp_path: Path) -> None:
    """No login is sent where the environment has none."""
    _, text = convert_tasks(
        tmp_path,
        """
        - uri:
            url: https://e.example/latest
            return_content: true
            user: "{{ lookup('env', 'GH_USER') | default(omit) }}"
            password: "{{ lookup('env', 'GH_TOKEN') | default(omit) }}"
          register: latest
        - copy: {content: "{{ latest.content }}", dest: /a, owner: a, group: a, mode: '0644'}
        """,
    )
    assert "if Environ.GH_USER | default(" in text
    assert text.count("--user") == 1


def test_patterns_of_versions(tmp_path: Path) -> None:
    """apt-get installs a version that matches, unless one that matches is installed."""
    _, text = convert_tasks(
        tmp_path,
        """
        - apt: {name: web=1.18*, state: present}
        - apt: "name=js={{ version | regex_replace('x', '') }}* state=present"
        - apt: {name: "db={{ version }}"}
        """,
        defaults__main="version: 14.x\n",
    )
    assert 'apt-get install -y "web=1.18*"' in text
    assert r'dpkg-query -W -f "\${Version}" web 2>/dev/null)" in 1.18*) true' in text
    assert 'install -y "js={{ Data.version | regex_replace(' in text
    assert '- db:\n            ensure: "{{ Data.version }}"' in text
    check_valid(tmp_path / "site")


def test_template_of_a_loop_behind_one_that_a_variable_names(tmp_path: Path) -> None:
    """The element of the loop is no data, although another task may name any template."""
    _, text = convert_tasks(
        tmp_path,
        """
        - template: {src: "{{ main_template }}", dest: /etc/a.conf, mode: "0644"}
        - template: {src: one.j2, dest: "/etc/a.d/{{ item.key }}", mode: "0644"}
          with_dict: "{{ parts }}"
        """,
        defaults__main="main_template: a.j2\nparts: {}\n",
        templates__a_DOT_j2="a\n",
        templates__one_DOT_j2="{% for one in item.value.lines %}\n{{ one }}\n{% endfor %}\n",
    )
    assert "foreach: Data.parts | dict2items" in text
    one = (tmp_path / "site/roles/role/templates/one.j2").read_text()
    assert one.startswith("{% for one in item.value.lines %}")
    check_valid(tmp_path / "site")


def test_socket_of_a_database_on_this_host(tmp_path: Path) -> None:
    """A socket counts where the host is localhost, as in the original; a host does elsewhere."""
    _, text = convert_tasks(
        tmp_path,
        """
        - postgresql_user:
            name: "{{ item.name }}"
            login_host: "{{ item.login_host | default('localhost') }}"
            login_unix_socket: "{{ item.socket | default('/run/postgresql') }}"
          loop: "{{ people }}"
        - postgresql_user: {name: b, login_host: db1, login_unix_socket: /run/other}
        """,
        defaults__main="people: [{name: a}]\n",
    )
    assert "default('/run/postgresql')" in text
    assert "localhost" not in text
    assert "-h db1" in text
    assert "/run/other" not in text
    check_valid(tmp_path / "site")


def test_a_repository_that_is_present_or_absent_under_a_condition(tmp_path: Path) -> None:
    """The line of a repository is removed from all files, and the file with another line stays."""
    result, text = convert_tasks(
        tmp_path,
        """
        - name: old
          apt_repository:
            repo: "deb [signed-by=/old] {{ url }} s main"
            state: absent
            filename: "{{ file }}"
        - apt_repository:
            repo: "deb [signed-by=/new] {{ url }} s main"
            state: "{{ 'present' if wanted | bool else 'absent' }}"
            filename: "{{ file }}"
        """,
        defaults__main="url: http://u\nwanted: true\nfile: x\n",
    )
    assert "not converted" not in {one.outcome for one in result.records}
    assert text.count("for file in $(grep -lsxF") == 2
    assert "line=deb [signed-by=/old] {{ Data.url }} s main" in text
    assert '- "/etc/apt/sources.list.d/{{ Data.file }}.list":' in text
    assert "if: Data.wanted | bool\n" in text
    check_valid(tmp_path / "site")
