"""Jobs of cron, and settings above them."""

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.orchestrator.ansible.sites import check_valid, convert_tasks


def test_jobs_in_files_of_another_name(tmp_path: Path) -> None:
    """The resource has the name of the file, and the job the comment that Ansible looks for."""
    result, text = convert_tasks(
        tmp_path,
        "- cron: {name: clean up, cron_file: of-app, user: root, hour: 4, job: x}\n"
        "- cron: {name: old, cron_file: old-app, state: absent}\n",
    )
    assert [one.outcome for one in result.records] == ["converted", "check"]
    assert "- of-app:" in text
    assert 'comment: "#Ansible: clean up"' in text
    assert "the file /etc/cron.d/old-app is removed, with everything in it" in text
    check_valid(tmp_path / "site")


@pytest.mark.parametrize("order", [1, -1])
def test_a_job_in_a_file_from_which_another_is_removed(tmp_path: Path, order: int) -> None:
    """The job has a file of its own, and the file of both goes."""
    tasks = [
        "- cron: {name: first, cron_file: app, user: root, hour: 4, job: x}\n",
        "- cron: {name: second, cron_file: app, state: absent}\n",
    ]
    result, text = convert_tasks(tmp_path, "".join(tasks[::order]))
    assert [one.outcome for one in result.records] == ["check", "check"]
    assert "- first:" in text
    assert "- app:" in text
    assert "ccm names the file in /etc/cron.d first; remove app" in text
    check_valid(tmp_path / "site")


def test_jobs_of_one_file(tmp_path: Path) -> None:
    """Each has a file of its own in ccm, which is marked."""
    result, text = convert_tasks(
        tmp_path,
        """
        - cron: {name: first, cron_file: app, user: root, hour: 4, job: x}
        - cron: {name: second, cron_file: app, user: root, hour: 5, job: y}
        - cron: {name: "{{ item.name }}", cron_file: all, user: root, job: "{{ item.job }}"}
          loop: "{{ jobs }}"
        """,
        defaults__main="jobs: [{name: third, job: z}]\n",
    )
    assert [one.outcome for one in result.records] == ["check"] * 3
    assert "first; remove app if the original wrote it" in text
    assert "- second:" in text
    assert '- "{{ item.name }}":' in text
    assert 'schedule: "* * * * *"' in text
    assert "comment" not in text
    check_valid(tmp_path / "site")


def test_settings(tmp_path: Path) -> None:
    """Of a file they belong to its job; of a crontab they are a line in it."""
    result, text = convert_tasks(
        tmp_path,
        """
        - cron: {name: MAILTO, env: true, user: root, job: "{{ mail }}"}
        - cron: {name: PATH, env: true, state: absent}
        - cron: {name: MAILTO, env: true, cron_file: app, user: root, job: ops}
        - cron: {name: job, cron_file: app, user: root, special_time: daily, job: x}
        - cron: {name: HOME, env: true, cron_file: other, user: root, job: /}
        """,
        defaults__main="mail: ops@example.com\n",
    )
    found = [one.outcome for one in result.records]
    assert found == ["check", "check", "converted", "check", "not converted"]
    assert "environment: ['SETTING=MAILTO=\"{{ Data.mail }}\"']" in text
    assert "crontab -l 2>/dev/null | grep -v '^PATH=' | crontab -" in text
    assert "environment: ['MAILTO=\"ops\"']" in text
    assert "NOT CONVERTED: no job of /etc/cron.d/other uses the setting" in text
    check_valid(tmp_path / "site")


def test_a_computed_state(tmp_path: Path) -> None:
    """It is that of the job."""
    task = "- cron: {name: a, job: b, hour: 1, state: \"{{ 'present' if on else 'absent' }}\"}\n"
    result, text = convert_tasks(tmp_path, task, defaults__main="on: true\n")
    assert result.records[0].outcome == "converted"
    assert "ensure: \"{{ 'present' if Data.on else 'absent' }}\"" in text
    check_valid(tmp_path / "site")


AWK = """
- cron: {name: A, env: true, user: root, job: "b &|"}
"""


def test_a_setting_stands_where_ansible_puts_it(tmp_path: Path) -> None:
    """At the top of a crontab, or where it was; the command is run here on both."""
    _, text = convert_tasks(tmp_path, AWK)
    (job,) = yaml.safe_load(text)["ccm"]["resources"][0]["exec"]
    ((_, properties),) = job.items()
    awk = properties["command"].split(" | ", 1)[1].rpartition(" | ")[0]
    setting = properties["environment"][0].removeprefix("SETTING=")
    for before, after in (
        ("", 'A="b &|"\n'),
        ("# x\n@daily y\n", 'A="b &|"\n# x\n@daily y\n'),
        ("# x\nA=old\n@daily y\n", '# x\nA="b &|"\n@daily y\n'),
    ):
        done = subprocess.run(
            ["sh", "-c", awk], input=before, capture_output=True, text=True, check=True,
            env={"SETTING": setting, "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        assert done.stdout == after


def test_times_that_only_some_jobs_have(tmp_path: Path) -> None:
    """A job without a time has any time, and jobs with a special time are apart."""
    result, text = convert_tasks(
        tmp_path,
        """
        - cron:
            name: "{{ item.name }}"
            job: "{{ item.job }}"
            minute: "{{ item.minute | default(omit) }}"
            hour: "{{ item.hour | default(omit) }}"
            month: "{{ item.month | default(omit) }}"
            special_time: "{{ item.special_time | default(omit) }}"
          loop: "{{ jobs }}"
        """,
        defaults__main="""
        jobs:
          - {name: a, job: a, minute: 5}
          - {name: b, job: b, hour: 4}
          - {name: c, job: c, special_time: daily}
        """,
    )
    assert result.records[-1].outcome == "check"
    assert text.count("selectattr('special_time', 'defined')") == 1
    assert text.count("rejectattr('special_time', 'defined')") == 1
    assert 'schedule: "@daily"' in text
    assert "minute: \"{{ item.minute | default('*') }}\"" in text
    assert "hour: \"{{ item.hour | default('*') }}\"" in text
    assert "month:" not in text
    check_valid(tmp_path / "site")
