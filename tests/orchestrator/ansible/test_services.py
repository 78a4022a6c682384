"""When systemd reads the files of units again."""

import textwrap
from pathlib import Path

from tests.orchestrator.ansible.sites import check_valid, convert, convert_tasks

UNIT = """
- copy: {content: x, dest: /etc/systemd/system/a.service, mode: "0644"}
  notify: [reload systemd, restart a]
"""
HANDLERS = """
- name: reload systemd
  systemd: {daemon_reload: true}
- name: restart a
  systemd: {name: a, state: restarted, daemon_reload: true}
"""


def test_a_restart_by_a_command_reads_them(tmp_path: Path) -> None:
    """Without a service in the manifest, nothing else lets systemd read them."""
    result, text = convert_tasks(tmp_path, UNIT, handlers__main=HANDLERS)
    assert "command: systemctl daemon-reload\n" in text
    assert 'command: "systemctl daemon-reload && systemctl restart a"' in text
    assert "not converted" not in [one.outcome for one in result.records]
    check_valid(tmp_path / "site")


def test_a_service_reads_them_itself(tmp_path: Path) -> None:
    """The task and the handler are not needed then."""
    service = "- systemd: {daemon_reload: true}\n- systemd: {name: a, state: started}\n"
    _, text = convert_tasks(tmp_path, UNIT + service, handlers__main=HANDLERS)
    assert "daemon-reload" not in text
    assert text.count("# not needed: a service reads the changed files of its unit") == 2
    check_valid(tmp_path / "site")


def test_a_file_after_the_service(tmp_path: Path) -> None:
    """The reload stays where no service follows; a second run has nothing to do."""
    service = "- systemd: {name: a, state: started}\n- systemd: {daemon_reload: true}\n"
    _, text = convert_tasks(tmp_path, service)
    assert "command: systemctl daemon-reload\n" in text
    assert "onlyif: 'sh -c ''systemctl show --property=NeedDaemonReload" in text
    check_valid(tmp_path / "site")


def test_a_service_that_is_stopped_and_started(tmp_path: Path) -> None:
    """The last task says how the service is left; a command stops it before."""
    _, text = convert_tasks(
        tmp_path,
        """
        - stat: {path: /etc/init.d/db}
          register: installed
        - package: {name: db}
        - service: {name: "{{ daemon }}", state: stopped}
          when: not installed.stat.exists
        - file: {path: /var/lib/db/log0, state: absent}
          when: not installed.stat.exists
        - service: {name: "{{ daemon }}", state: started, enabled: true}
        """,
        defaults__main="daemon: db\n",
    )
    assert 'command: "systemctl stop {{ Data.daemon }}"' in text
    assert 'onlyif: "systemctl is-active --quiet {{ Data.daemon }}"' in text
    assert "CHECK: a command stops the service, which a later task starts" in text
    assert "enable: true" in text
    assert "NOT CONVERTED" not in text


def test_a_restart_after_what_follows_the_service(tmp_path: Path) -> None:
    """A service that subscribes acts at its place, so a handler stays behind later changes."""
    notifying = """
        - copy: {content: x, dest: /etc/a.conf, owner: root, group: root, mode: "0644"}
          notify: restart a
        - service: {name: a, state: started}
        """
    more = "- file: {path: /etc/a.d/old, state: absent}\n"
    handler = "- name: restart a\n  service: {name: a, state: restarted}\n"
    _, text = convert_tasks(tmp_path / "1", notifying, handlers__main=handler)
    assert 'ensure: running\n            subscribe: ["file#/etc/a.conf"]' in text
    _, text = convert_tasks(
        tmp_path / "2", textwrap.dedent(notifying) + more, handlers__main=handler
    )
    assert "- a:\n            ensure: running\n\n" in text
    assert text.index("/etc/a.d/old") < text.index("systemctl restart a")
    check_valid(tmp_path / "2" / "site")


def test_handlers_at_the_end_of_a_role(tmp_path: Path) -> None:
    """They are marked where a later role follows, before which the original does not run them."""
    files = {"site.yml": "- {hosts: all, roles: [a, b]}\n"}
    for role in ("a", "b"):
        files[f"roles/{role}/tasks/main.yml"] = f"""
            - copy: {{content: x, dest: /etc/{role}, owner: a, group: a, mode: "0644"}}
              notify: restart {role}
            """
        files[f"roles/{role}/handlers/main.yml"] = f"""
            - name: restart {role}
              service: {{name: {role}, state: restarted}}
            """
    result, site = convert(tmp_path, files, "site.yml")
    mark = "runs 'restart a' at the end of the role; the original, after later resources"
    text = (site / "site.yaml").read_text()
    assert text.count("CHECK") == 1
    assert f"# CHECK: {mark}\n        - roles/a.yaml:" in text
    assert f"site.yaml: roles/a.yaml: {mark}" in result.notes


def test_a_service_that_may_be_missing(tmp_path: Path) -> None:
    """It is stopped only where it exists if the original ignores the failure."""
    result, text = convert_tasks(
        tmp_path,
        """
        - service: {name: "{{ item }}", state: stopped, enabled: false}
          loop: "{{ others }}"
          failed_when: false
        - service: {name: app, state: started}
          ignore_errors: true
        """,
        defaults__main="others: [ntpd, sntp]\n",
    )
    assert [one.outcome for one in result.records] == ["converted", "check"]
    assert 'command: "systemctl cat {{ item }}"' in text
    check_valid(tmp_path / "site")
