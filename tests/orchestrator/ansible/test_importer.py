"""A whole project: playbook, role, inventory and group_vars."""

import json
from pathlib import Path

import pytest

from orchestrator.ansible.importer import import_project
from orchestrator.cli.app import main
from remote_runtime.errors import CcmError
from tests.orchestrator.ansible.sites import check_valid, convert, convert_tasks, write
from tests.texts import expect_text

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)
)
PROJECT = {
    "site.yml": """
        - name: Web servers
          hosts: web
          become: true
          roles:
            - web
        """,
    "hosts": """
        [web]
        web[1:2] ansible_user=deploy
        [web:vars]
        web_port=8080
        """,
    "group_vars/all.yml": "domain: example.net\n",
    "roles/web/tasks/main.yml": """
        - name: Install
          apt: name={{ item }} state=present update_cache=yes cache_valid_time=3600
          with_items: [nginx, curl]
        - name: Configure nginx
          template:
            src: nginx.conf.j2
            dest: /etc/nginx/nginx.conf
            owner: root
            group: root
            mode: 0644
          notify: restart nginx
        - name: Start nginx
          service: name=nginx state=started enabled=yes
        """,
    "roles/web/handlers/main.yml": """
        - name: restart nginx
          service: name=nginx state=restarted
        """,
    "roles/web/defaults/main.yml": """
        # The port of the web server.
        web_port: 80
        web_tls: no
        """,
    "roles/web/templates/nginx.conf.j2": """
        # {{ ansible_managed }}
        listen {{ web_port }}; # {{ domain }}
        {% if web_tls %}
        # {{ web_tls }}
        {% endif %}
        """,
}


def test_a_project_is_a_site(tmp_path: Path) -> None:
    """The site is valid, also for the hosts of the converted inventory."""
    result, site = convert(tmp_path, PROJECT)
    check_valid(site)
    check_valid(site, "-i", str(site / "hosts.yaml"))
    assert {one.outcome for one in result.records} == {"converted"}
    assert result.records[1].resources == ["file#/etc/nginx/nginx.conf"]
    text = (site / "roles" / "web.yaml").read_text()
    assert 'subscribe: ["file#/etc/nginx/nginx.conf"]' in text
    assert "# The port of the web server." in text
    assert "update_cache: 1h" in text
    template = (site / "roles" / "web" / "templates" / "nginx.conf.j2").read_text()
    assert template == (
        "# {{ Data.ansible_managed }}\n"
        "listen {{ Data.web_port }}; # {{ Data.domain }}\n"
        "{% if Data.web_tls %}\n"
        "# {{ Data.web_tls | string | capitalize if Data.web_tls is boolean else Data.web_tls }}\n"
        "{% endif %}\n"
    )


def test_precedence_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A variable of a group wins over the default of the role."""
    _, site = convert(tmp_path, PROJECT)
    hosts = str(site / "hosts.yaml")
    words = ["hiera", "parse", "-i", hosts, "--offline", "--query", "web_port"]
    assert main([*words, "-l", "web1", str(site / "roles" / "web.yaml")]) == 0
    assert "8080" in capsys.readouterr().out


def test_the_report_names_what_was_not_converted(tmp_path: Path) -> None:
    """A task without a counterpart stays as a comment with the reason, and is in the report."""
    result, text = convert_tasks(
        tmp_path,
        """
        - name: Open the firewall
          community.general.nmcli:
            rule: allow
            port: 80
        - name: Install
          package: name=nginx
        """,
    )
    assert "# NOT CONVERTED: ccm has no equivalent of the module community.general.nmcli" in text
    assert "#   - name: Open the firewall" in text
    assert "#       rule: allow" in text
    report = json.loads((tmp_path / "site" / "report.json").read_text())
    assert report["coverage"]["not_converted"] == 1
    assert report["tasks"][0]["outcome"] == "not converted"
    assert result.text().startswith("2 tasks: 1 converted, 0 to check, 1 not converted (50%")
    check_valid(tmp_path / "site")


def test_an_unknown_parameter_is_never_dropped(tmp_path: Path) -> None:
    """A parameter that no mapper knows keeps the task from conversion."""
    result, text = convert_tasks(
        tmp_path, "- package: {name: nginx, flavor: sweet}\n- package: name=curl\n"
    )
    assert result.records[0].outcome == "not converted"
    assert "# NOT CONVERTED: ccm has no equivalent of the parameter flavor" in text


def test_the_command_prints_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``ccm import ansible`` ends with 0 and prints the report, or JSON."""
    project = str(write(tmp_path / "project", PROJECT))
    assert main(["import", "ansible", project, "-o", str(tmp_path / "one")]) == 0
    assert "4 tasks: 4 converted" in capsys.readouterr().out
    assert main(["import", "ansible", project, "-o", str(tmp_path / "two"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["coverage"]["tasks"] == 4


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.txt": "x"}, "contains neither a playbook nor a role"),
        ({"site.yml": "- hosts: all\n  tasks: ["}, "site.yml:"),
        ({"tasks/main.yml": "a: [", "defaults/main.yml": "a: 1\n"}, "main.yml:"),
    ],
)
def test_bad_input_is_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    """What is no project of Ansible is refused with the place."""
    project = write(tmp_path / "project", files)
    with pytest.raises(CcmError, match=message):
        convert(tmp_path, {}, ".")
    assert project.is_dir()


def test_a_directory_with_files_is_not_written(tmp_path: Path) -> None:
    """The output must be new or empty."""
    write(tmp_path / "site", {"mine.txt": "x\n"})
    with pytest.raises(CcmError) as refused:
        convert(tmp_path, PROJECT)
    expect_text(refused.value)


def test_connections_of_variable_files_reach_the_inventory(tmp_path: Path) -> None:
    """Address, user and key of host_vars and group_vars stand in hosts.yaml, and not in data."""
    files = {
        "group_vars/web.yml": "ansible_user: deploy\nweb_tls: true\n",
        "group_vars/all.yml": "ansible_port: 2222\n",
        "host_vars/web2.yml": "ansible_host: 192.0.2.12\n",
        "host_vars/gone.yml": "ansible_host: 192.0.2.13\n",
    }
    _, site = convert(tmp_path, {**PROJECT, **files})
    text = (site / "hosts.yaml").read_text()
    assert 'web2: {address: "192.0.2.12"}' in text
    assert "port: 2222" in text
    assert "user: deploy" in text
    assert "gone" not in text
    assert (site / "data/group/web.yaml").read_text().strip().endswith("web_tls: true")
    check_valid(site, "-i", str(site / "hosts.yaml"))


def test_a_layer_that_only_data_reads_is_in_the_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A group's value that reads one of all hosts has it, though no template reads that one."""
    files = {
        "group_vars/all.yml": "base: 8000\ndomain: example.net\n",
        "group_vars/web.yml": 'web_port: "{{ base }}"\n',
        "hosts": "[web]\nweb1\n",
    }
    _, site = convert(tmp_path, {**PROJECT, **files})
    words = ["hiera", "parse", "-i", str(site / "hosts.yaml"), "--offline", "--query", "web_port"]
    assert main([*words, "-l", "web1", str(site / "roles" / "web.yaml")]) == 0
    assert "8000" in capsys.readouterr().out


def test_the_result_says_what_was_read(tmp_path: Path) -> None:
    """The playbook that was found and the inventory, for a proof; a role has no playbook."""
    result, _ = convert(tmp_path, {**PROJECT, "all.yml": "- import_playbook: site.yml\n"})
    project = tmp_path / "project"
    assert result.playbooks == [str(project / "site.yml")]
    assert result.inventories == [str(project / "hosts")]
    made = convert_tasks(tmp_path / "other", "- package: name=curl\n")[0]
    assert made.playbooks == []


def test_a_playbook_in_another_format(tmp_path: Path) -> None:
    """The message says which format is expected."""
    with pytest.raises(CcmError, match=r"site\.yml:2: invalid YAML: "):
        convert(tmp_path, {**PROJECT, "site.yml": "[main]\nlog = 1\n"})


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"group_vars/all.yml": BOMB}, "aliases expand to too many values"),
        ({"group_vars/all.yml": "a: &a [1, *a]\n"}, "aliases expand to too many values"),
        ({"site.yml": "- import_playbook: /dev/zero\n"}, "is outside the project"),
        ({"hosts": "[web]\nweb[1:999999999]\n"}, "expands to 999,999,999 hosts"),
        ({"group_vars/all.yml": "a: 1" + ":1" * 200_000}, "all.yml:1: a number is too large"),
        ({"group_vars/all.yml": "a: 1" + ":1" * 400 + ".5"}, "all.yml:1: a number is too large"),
        ({"group_vars/all.yml": "a: 1" + "0" * 5000}, "all.yml:1: a number is too large"),
    ],
)
def test_a_project_that_would_exhaust_ccm(
    tmp_path: Path, files: dict[str, str], words: str
) -> None:
    """It is refused before anything is written."""
    with pytest.raises(CcmError, match=words):
        convert(tmp_path, {**PROJECT, **files})
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("all: [1]", "the group all"),
        ("all: {hosts: [a]}", "hosts of all"),
        ("all: {hosts: {a: x}}", "the host a"),
        ("all: {children: x}", "children of all"),
        ("all: {vars: 1}", "vars of all"),
    ],
)
def test_an_inventory_of_other_kinds(tmp_path: Path, text: str, what: str) -> None:
    """The part that must be a map is named."""
    files = {key: one for key, one in PROJECT.items() if key != "hosts"}
    with pytest.raises(CcmError, match=f"{what} must be a map"):
        convert(tmp_path, {**files, "inventory.yml": text})


def test_files_that_include_others_without_end(tmp_path: Path) -> None:
    """Each file includes the next one three times: what is too much is kept, once for each task."""
    files = {f"tasks__t{n}": f"- include_tasks: t{n + 1}.yml\n" * 3 for n in range(12)}
    tasks = "- include_tasks: t0.yml\n- package: name=curl\n"
    result, _ = convert_tasks(tmp_path, tasks, **files, tasks__t12="- command: x\n")
    kept = [one for one in result.records if one.outcome == "not converted"]
    assert "the project includes more than 10,000 tasks" in {
        why for one in kept for why in one.reasons
    }
    assert len(result.records) < 12_000
    assert result.records[-1].outcome == "converted"


def test_an_expression_that_is_too_deep_is_kept(tmp_path: Path) -> None:
    """The task stays as a comment."""
    sums = " + ".join(["a"] * 5000)
    result, _ = convert_tasks(
        tmp_path, f"- copy: {{dest: /a, content: '{{{{ {sums} }}}}'}}\n- package: name=curl\n"
    )
    assert [one.outcome for one in result.records] == ["not converted", "converted"]


def test_links_and_paths_out_of_the_project_are_not_read(tmp_path: Path) -> None:
    """What they lead to is of whoever converts the project, and the site does not get it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "id").write_text("of-the-user")
    (outside / "vars.yml").write_text("word: of-the-user\n")
    (outside / "tasks.yml").write_text("- command: echo of-the-user\n")
    write(outside / "role", {"tasks/main.yml": "- command: echo of-the-user\n"})
    tasks = f"""
        - template: {{src: "{{{{ name }}}}", dest: /a}}
        - copy: {{src: "{{{{ name }}}}", dest: /b}}
        - copy: {{src: link, dest: /c}}
        - include_vars: {outside}/vars.yml
        - include_tasks: {outside}/tasks.yml
        - include_vars: ../../outside/vars.yml
        - include_tasks: ../../outside/tasks.yml
        - include_role: {{name: ../outside/role}}
        - include_role: {{name: {outside}/role}}
        """
    role = write(tmp_path / "role", {
        "tasks/main.yml": tasks, "defaults/main.yml": "name: b\n", "templates/b": "b\n",
    })  # fmt: skip
    (role / "templates" / "link").symlink_to(outside / "id")
    (role / "files").symlink_to(outside)
    import_project(str(role), str(tmp_path / "site"))
    made = [path for path in (tmp_path / "site").rglob("*") if path.is_file()]
    assert made
    for path in made:
        assert "of-the-user" not in path.read_text()


@pytest.mark.parametrize("place", ["roles/a/vars/main.yml", "group_vars/all.yml"])
def test_a_file_of_data_that_links_out_of_the_project_is_refused(
    tmp_path: Path, place: str
) -> None:
    """Such a link could lead to anything of the user, so the import names it and ends."""
    project, site = project_with_link(tmp_path, place), tmp_path / "site"
    with pytest.raises(CcmError) as refused:
        import_project(str(project), str(site))
    expect_text(refused.value)
    assert not site.exists()


@pytest.mark.parametrize("link", ["roles/a", "roles"])
def test_a_role_that_links_out_of_the_project_is_not_there(tmp_path: Path, link: str) -> None:
    """It is missing, as a role behind a path is."""
    write(tmp_path / "outside" / "a", {"tasks/main.yml": "- command: echo of-the-user\n"})
    project = write(tmp_path / "project", {"site.yml": "- hosts: all\n  roles: [a]\n"})
    (project / link).parent.mkdir(exist_ok=True)
    (project / link).symlink_to(tmp_path / "outside" / ("a" if link == "roles/a" else "."))
    result = import_project(str(project), str(tmp_path / "site"))
    assert "of-the-user" not in (tmp_path / "site" / "site.yaml").read_text()
    assert not list((tmp_path / "site").rglob("a.yaml"))
    expect_text(result.text())


def test_a_role_of_a_path_for_roles_is_read(tmp_path: Path) -> None:
    """Though the directory is outside of the project, as its configuration says."""
    write(tmp_path / "shared" / "a", {"tasks/main.yml": "- command: echo shared\n"})
    project = write(tmp_path / "project", {
        "site.yml": "- hosts: all\n  roles: [a]\n",
        "ansible.cfg": "[defaults]\nroles_path = ../shared\n",
    })  # fmt: skip
    (record,) = import_project(str(project), str(tmp_path / "site")).records
    assert record.outcome == "converted"


def test_a_file_of_tasks_that_links_out_of_the_project_is_not_there(tmp_path: Path) -> None:
    """The task that includes it is not converted, and the reason says so."""
    project = project_with_link(tmp_path, "roles/a/tasks/more.yml")
    (record,) = import_project(str(project), str(tmp_path / "site")).records
    expect_text(record.reasons)


def project_with_link(directory: Path, place: str) -> Path:
    """A project, in which one file leads out of it."""
    (directory / "outside.yml").write_text("[{command: echo of-the-user}]\n")
    project = write(directory / "project", {
        "site.yml": "- hosts: all\n  roles: [a]\n",
        "roles/a/tasks/main.yml": "- include_tasks: more.yml\n",
    })  # fmt: skip
    link = project / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(directory / "outside.yml")
    return project


def test_a_report_has_a_line_for_each_reason(tmp_path: Path) -> None:
    """Line breaks of a stranger's names start no line of their own."""
    tasks = '- {name: "a\\nError: b", ooo: {c: d}}\n'
    result, _ = convert_tasks(tmp_path, tasks)
    assert ": a Error: b\n" in result.text()


OUTSIDE = ["import_playbook: ../other.yml", "hosts: all\n  vars_files: [../x.yml]"]


@pytest.mark.parametrize("play", OUTSIDE)
def test_files_outside_of_the_project_are_refused(tmp_path: Path, play: str) -> None:
    """A playbook reads nothing above its project, also where the file is there."""
    write(tmp_path, {"other.yml": "- hosts: all\n", "x.yml": "secret: 1\n"})
    with pytest.raises(CcmError) as refused:
        convert(tmp_path, {"site.yml": f"- {play}\n"}, "site.yml")
    expect_text(refused.value)


def test_a_directory_of_playbooks_is_a_part_of_its_project(tmp_path: Path) -> None:
    """``playbooks/`` may read what lies beside it."""
    files = {"playbooks/site.yml": "- hosts: all\n  vars_files: [../x.yml]\n", "x.yml": "a: 1\n"}
    result, _ = convert(tmp_path, files, "playbooks/site.yml")
    assert result.notes == []


@pytest.mark.parametrize(("inventory", "value"), [("web1", "of staging"), ("web1 env=prod", "")])
def test_files_of_variables_with_a_default_in_their_name(
    inventory: str, value: str, tmp_path: Path
) -> None:
    """The default counts where nothing sets the variable, which the report says."""
    result, site = convert(
        tmp_path,
        {
            "site.yml": """
                - hosts: all
                  vars_files: ["vars/{{ env | default('staging') }}.yml"]
                  tasks:
                    - command: "echo {{ word }}"
                """,
            "hosts": f"[web]\n{inventory}\n",
            "vars/staging.yml": "word: of staging\n",
        },
        "site.yml",
    )
    assert ("word: of staging" in (site / "site.yaml").read_text()) == bool(value)
    expected = "read without env" if value else "computed name is not converted"
    assert expected in " ".join(result.notes)


def test_a_kept_task_of_a_block_ends_before_the_next(tmp_path: Path) -> None:
    """The comment has the lines of the task alone, also at the end of a file without a newline."""
    tasks = "- block:\n  - name: one\n    x.y.z: {}\n\n  - name: two\n    command: a\n"
    tasks += "- x.y.z:\n    last: 1"
    _, text = convert_tasks(tmp_path, tasks)
    assert text.count("name: one") == 1
    assert "#   - name: two" not in text
    assert "#       last: 1" in text


def test_what_would_take_forever(tmp_path: Path) -> None:
    """Groups, playbooks and loops whose number of combinations explodes take no time or memory."""
    layers = range(60)
    hosts = [f"[g{n}{side}:children]\ng{n + 1}a\ng{n + 1}b" for n in layers for side in "ab"]
    lists = ", ".join([str(list(range(300)))] * 5)
    task = f"file: {{path: '/x{{{{ item }}}}', state: directory}}\n      with_nested: [{lists}]"
    files = {
        "hosts": "\n".join([*hosts, "[g60a]", "web1", "[g60b]", "web1"]),
        "site.yml": f"- hosts: all\n  tasks:\n    - {task}\n",
    }
    _, site = convert(tmp_path / "groups", files, "site.yml")
    assert "product(" in (site / "site.yaml").read_text()
    twice = {f"p{n}.yml": f"- import_playbook: p{n + 1}.yml\n" * 2 for n in range(20)}
    files = {"hosts": "web1\n", "p20.yml": "[]\n", **twice}
    with pytest.raises(CcmError) as found:
        convert(tmp_path / "playbooks", files, "p0.yml")
    expect_text(str(found.value))
