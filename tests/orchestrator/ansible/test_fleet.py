"""What a project does on other hosts, and what it reads of them."""

from pathlib import Path

import pytest

from orchestrator.cli.app import main
from tests.orchestrator.ansible.sites import check_valid, convert, convert_tasks
from tests.texts import expect_text

PROJECT = {
    "site.yml": """
        - hosts: all
          become: true
          tasks:
            - copy:
                content: "{{ hostvars['db1'].db_port }} {{ hostvars[groups['web'][0]]['rack'] }}"
                dest: /etc/app
                owner: root
                group: root
                mode: "0644"
        """,
    "hosts": """
        [web]
        web1 rack=a
        web2 rack=b
        [db]
        db1
        """,
    "group_vars/db.yml": "db_port: 5432\n",
    "group_vars/all.yml": "db_port: 1\nunused: 1\n",
}


def test_variables_of_other_hosts_stand_in_the_inventory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only those that are read, each where the original sets it."""
    result, site = convert(tmp_path, PROJECT, "site.yml")
    assert result.records[0].outcome == "converted", result.records[0].reasons
    text = (site / "site.yaml").read_text()
    assert "{{ Hosts['db1'].vars.db_port }} {{ Hosts[Groups.web[0]].vars.rack }}" in text
    hosts = (site / "hosts.yaml").read_text()
    assert "unused" not in hosts
    check_valid(site, "-i", str(site / "hosts.yaml"))
    capsys.readouterr()
    for host, name, value in (("db1", "db_port", "5432"), ("web1", "rack", "a")):
        main(["inventory", "-i", str(site / "hosts.yaml"), "--host", host])
        assert f"vars.{name}" in (out := capsys.readouterr().out), out
        assert value in out.split(f"vars.{name}")[1].splitlines()[0]


def test_hosts_of_a_range_and_addresses_with_a_default(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each host of a range has its variables, and the default where it has no address."""
    task = "- hosts: web1\n  tasks: [{template: {src: x.j2, dest: /etc/app}}]\n"
    template = """
        {% for h in groups['app'] %}
        {{ hostvars[h].ansible_host | default('10.0.0.' ~ loop.index) }}:{{ hostvars[h].port }}
        {% endfor %}
        """
    hosts = "web1\n[app]\napp[1:2] port=80\n[other]\napp1 ansible_host=192.0.2.1\n"
    files = {"site.yml": task, "hosts": hosts, "templates/x.j2": template}
    result, site = convert(tmp_path, files, "site.yml")
    assert not result.notes
    check_valid(site, "-i", str(site / "hosts.yaml"))
    capsys.readouterr()
    text = (site / "templates/x.j2").read_text()
    address = "Hosts[h].address"
    assert f"{address} if {address} != Hosts[h].name else '10.0.0.' ~ loop.index" in text
    assert "Hosts[h].vars.port" in text
    main(["inventory", "-i", str(site / "hosts.yaml"), "--host", "app2"])
    assert "vars.port" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ("db_port: '{{ other }}'", "its value is a template"),
        ("db_port: [1, '{{ other }}']", "its value is a template"),
        ("db_port: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  31\n", "its value is encrypted"),
        ("other: 1", "group_vars and host_vars do not set it"),
    ],
)
def test_what_the_inventory_cannot_have_is_kept(
    variables: str, reason: str, tmp_path: Path
) -> None:
    """The task is a comment with the reason."""
    files = {**PROJECT, "group_vars/db.yml": "", "group_vars/all.yml": variables + "\n"}
    result, site = convert(tmp_path, files, "site.yml")
    assert result.records[0].outcome == "not converted"
    assert f"the variable db_port of another host: {reason}" in result.records[0].reasons
    assert "db_port" not in (site / "hosts.yaml").read_text()


def test_a_variable_that_hides_facts_cannot_stand_in_the_inventory(tmp_path: Path) -> None:
    """Variables of the inventory lie over the facts of a host."""
    site_yml = PROJECT["site.yml"].replace("db_port", "memory")
    files = {**PROJECT, "site.yml": site_yml, "group_vars/all.yml": "memory: 1\n"}
    result, _ = convert(tmp_path, files, "site.yml")
    expect_text(" ".join(result.records[0].reasons))


def test_a_task_for_one_other_host(tmp_path: Path) -> None:
    """Done once, on the host that is named; what each host would have it do is kept."""
    result, text = convert_tasks(
        tmp_path,
        """
        - {command: once, delegate_to: db1, run_once: true}
        - {command: each, delegate_to: db1}
        - {command: other, delegate_to: "{{ x }}"}
        """,
    )
    assert "if: Host.name == 'db1'\n" in text
    assert [one.outcome for one in result.records] == ["check", "not converted", "not converted"]
    expect_text(" ".join(result.records[0].reasons))
    expect_text(" ".join(result.records[1].reasons))
    check_valid(tmp_path / "site")


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("playbook | realpath", "realpath, which follows the symlinks of the controller"),
        ("url | urlsplit('password')", "a password in a URL; store it in a separate variable"),
    ],
)
def test_filters_with_a_reason(expression: str, reason: str, tmp_path: Path) -> None:
    """What ccm cannot or should not do says why."""
    task = f"- command: a {{{{ {expression} }}}}\n"
    result, _ = convert_tasks(tmp_path, task, defaults__main="url: x\nplaybook: x\n")
    assert reason in " ".join(result.records[0].reasons)


def test_parts_of_urls(tmp_path: Path) -> None:
    """ccm has the filter under its name."""
    task = "- command: a {{ url | urlsplit('hostname') }}\n"
    result, text = convert_tasks(tmp_path, task, defaults__main="url: https://a.example/\n")
    assert result.records[0].outcome == "converted"
    assert "Data.url | urlsplit('hostname')" in text
    check_valid(tmp_path / "site")


def test_a_member_of_each_host_of_a_group(tmp_path: Path) -> None:
    """``map('extract', hostvars, …)`` reads addresses, facts and variables of the inventory."""
    task = """
            - copy:
                content: "%s"
                dest: /etc/%s
                owner: root
                group: root
                mode: "0644"
"""
    listed = "{{ groups['web'] | map('extract', hostvars, %s) | join(',') }}"
    contents = [
        listed % "['ansible_host']",
        listed % "'rack'",
        listed % "['ansible_default_ipv4', 'address']",
        "{{ hostvars | length }}",
    ]
    tasks = "".join(task % (one, number) for number, one in enumerate(contents))
    play = f"        - hosts: all\n          become: true\n          tasks:{tasks}"
    result, site = convert(tmp_path, {**PROJECT, "site.yml": play}, "site.yml")
    text = (site / "site.yaml").read_text()
    outcomes = ["converted", "converted", "check", "not converted"]
    assert [one.outcome for one in result.records] == outcomes
    assert "Groups.web | map('extract', Hosts, 'address') | join(',')" in text
    assert "Groups.web | map('extract', Hosts, 'vars', 'rack') | join(',')" in text
    assert "map('extract', Hosts, 'facts', 'network', 'default_ipv4')" in text
    check_valid(site, "-i", str(site / "hosts.yaml"))
