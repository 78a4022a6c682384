"""Resources that cannot exist where their condition does not hold."""

from pathlib import Path

import pytest

from orchestrator.cli.app import main
from tests.orchestrator.ansible.sites import check_valid, convert, convert_tasks

PLATFORMS = ("debian/debian/12.5", "rocky/rhel/9.4", "sles/suse/15.5")

ROLES = {
    "a name that only other hosts have": (
        """
        - set_fact: {tool: yum-cron}
          when: ansible_os_family == 'RedHat'
        - package: {name: "{{ tool }}", state: present}
          when: ansible_os_family == 'RedHat'
        """,
        "",
    ),
    "a version that nothing sets": (
        """
        - get_url: {url: "https://e.example/a", dest: "/opt/{{ version }}", mode: '0644'}
          when: version is defined and ansible_os_family == 'Debian'
        """,
        "",
    ),
    "one list in tasks of two families": (
        """
        - apt: {name: "{{ tools }}", install_recommends: false}
          when: ansible_os_family == 'Debian'
        - dnf: {name: "{{ tools }}"}
          when: ansible_os_family == 'RedHat'
        """,
        "tools: [curl, jq]\n",
    ),
    "a package that a list has as well": (
        """
        - package: {name: jq}
          when: ansible_os_family == 'RedHat'
        - package: {name: "{{ tools }}", state: latest}
        """,
        "tools: [curl, jq]\n",
    ),
}


@pytest.mark.parametrize("name", ROLES)
def test_hosts_without_the_variable(tmp_path: Path, name: str) -> None:
    """The plan of each family is made, though the tasks of another one read what is unset."""
    tasks, defaults = ROLES[name]
    files = {
        "site.yml": "- hosts: all\n  roles: [tools]\n",
        "hosts": "h1\n",
        "roles/tools/tasks/main.yml": tasks,
        "roles/tools/defaults/main.yml": defaults or "{}\n",
    }
    _, site = convert(tmp_path, files)
    for platform, family, version in (one.split("/") for one in PLATFORMS):
        facts = [
            f"--fact=host.info.platform={platform}",
            f"--fact=host.info.platformFamily={family}",
            f"--fact=host.info.platformVersion={version}",
        ]
        given = ["-i", str(site / "hosts.yaml"), str(site / "site.yaml"), *facts]
        assert main(["validate", *given]) == 0, (name, platform)


def test_a_package_of_a_list_and_of_a_task(tmp_path: Path) -> None:
    """A package is left to the list that has it, and is there where the list is not used."""
    files = {
        "tasks/main.yml": (
            "- package: {name: jq}\n  when: ansible_os_family == 'Suse'\n"
            "- package: {name: '{{ tools }}'}\n  when: ansible_os_family == 'Debian'\n"
        ),
        "defaults/main.yml": "tools: [curl, jq]\n",
    }
    _, site = convert(tmp_path / "a", files)
    text = next((site / "roles").glob("*.yaml")).read_text()
    assert (
        "foreach: \"['jq'] if Facts.host.info.platformFamily == 'suse' and "
        "not (Facts.host.info.platformFamily == 'debian' and 'jq' in Data.tools) else []\"" in text
    )


def test_a_name_from_an_empty_member(tmp_path: Path) -> None:
    """The directory of a path that is empty by default has a resource only if its task runs."""
    result, text = convert_tasks(
        tmp_path,
        """
        - file:
            path: "{{ server.socket | dirname }}"
            state: directory
            owner: root
            group: root
            mode: "0755"
          when: server.protocol == 'socket'
        """,
        defaults__main="server: {protocol: http, socket: ''}\n",
    )
    assert [one.outcome for one in result.records] == ["converted"]
    assert "[Data.server.socket | dirname] if Data.server.protocol == 'socket' else []" in text
    check_valid(tmp_path / "site")
