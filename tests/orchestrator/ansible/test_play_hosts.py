"""The hosts of a play, and facts of other hosts that ccm computes."""

from pathlib import Path

from tests.orchestrator.ansible.sites import check_valid, convert

_HOSTS = "[db]\ndb1\ndb2\n[web]\nweb1\n"
_TASK = "- command: 'echo {{ ansible_play_hosts | length }}'\n"


def test_hosts_of_a_play(tmp_path: Path) -> None:
    """A play, and a role of one play only, have the hosts of the play; a role of two does not."""
    result, site = convert(
        tmp_path,
        {
            "site.yml": """
            - {hosts: db, roles: [own, shared], tasks: [{command: "echo {{ play_hosts }}"}]}
            - {hosts: "web:db1", roles: [shared], serial: 1, tasks: [
                {command: "echo {{ ansible_play_hosts_all }}"},
                {command: "echo {{ ansible_play_batch }}"}]}
            """,
            "hosts": _HOSTS,
            "roles/own/tasks/main.yml": _TASK,
            "roles/shared/tasks/main.yml": _TASK,
        },
    )
    assert "{{ Groups['db'] }}" in (site / "db.yaml").read_text()
    web = (site / "web-db1.yaml").read_text()
    assert "{{ (Groups['web'] + ['db1']) | unique | list }}" in web
    assert "NOT CONVERTED: ccm has no equivalent of ansible_play_batch" in web
    assert "echo {{ Groups['db'] | length }}" in (site / "roles/own.yaml").read_text()
    assert "NOT CONVERTED" in (site / "roles/shared.yaml").read_text()
    marked = [one.outcome for one in result.records if one.role == "own"]
    assert marked == ["check"]  # hosts that are not selected count, too
    check_valid(site)


def test_a_role_that_another_play_includes(tmp_path: Path) -> None:
    """A role has no hosts of a play if another play includes it, wherever its name is."""
    _, site = convert(
        tmp_path,
        {
            "site.yml": """
            - {hosts: db, roles: [one, two, own]}
            - hosts: web
              tasks:
                - include_role:
                    tasks_from: main

                    name: one
                - {import_role: {name: two}}
                - debug: {msg: own}
            """,
            "hosts": _HOSTS,
            **{f"roles/{name}/tasks/main.yml": _TASK for name in ("one", "two", "own")},
        },
    )
    for name in ("one", "two"):
        assert "NOT CONVERTED" in (site / f"roles/{name}.yaml").read_text()
    assert "echo {{ Groups['db'] | length }}" in (site / "roles/own.yaml").read_text()
    check_valid(site)


def test_computed_facts_of_another_host(tmp_path: Path) -> None:
    """A fact that ccm computes from others is computed from those of the other host."""
    _, site = convert(
        tmp_path,
        {
            "site.yml": """
            - hosts: all
              tasks:
                - command: "echo {{ hostvars[groups.db[0]].ansible_hostname }}"
                - command: "echo {{ hostvars['db1'].ansible_facts.os_family }}"
                - command: "echo {{ hostvars['db1'].ansible_eth1.ipv4.address }}"
                - command: "echo {{ groups.db | map('extract', hostvars, 'ansible_hostname') }}"
            """,
            "hosts": _HOSTS,
        },
    )
    text = (site / "site.yaml").read_text()
    assert "{{ Hosts[Groups.db[0]].facts.host.info.hostname.split('.')[0] }}" in text
    assert "'rhel': 'RedHat'" in text
    assert ".get(Hosts['db1'].facts.host.info.platformFamily" in text
    assert (
        "Hosts['db1'].facts.network.addresses | selectattr('interface', 'equalto', 'eth1')" in text
    )
    assert "NOT CONVERTED: extract of a fact that ccm computes from others" in text
    check_valid(site)


def test_patterns_of_hosts(tmp_path: Path) -> None:
    """A pattern names all hosts, those of no group, or groups and hosts with a wildcard."""
    _, site = convert(
        tmp_path,
        {
            "site.yml": """
            - {hosts: "db:&all", tasks: [{command: a}]}
            - {hosts: "all:!d*", tasks: [{command: b}]}
            - {hosts: ungrouped, tasks: [{command: c}]}
            - {hosts: "all", tasks: [{command: d}]}
            """,
            "hosts": _HOSTS,
        },
    )
    text = (site / "site.yaml").read_text()
    assert "if: \"'db' in Host.groups\"" in text
    assert "if: not (Host.name is match('d.*$') or 'db' in Host.groups)" in text
    assert "if: Host.groups == []" in text
    check_valid(site)
