"""``ansible-playbook`` is run as it is found, and its results are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orchestrator.ansible.proof.playbook_run import (
    Limits,
    Playbook,
    ProofError,
    TaskResult,
    read_report,
    require_ansible,
    run_playbook,
)
from remote_runtime.errors import UsageError
from tests.texts import expect_text

_CASES = """\
<testsuites><testsuite name="site">
<testcase name="[web1] Web: nginx : Install" classname="/p/roles/nginx/tasks/main.yml:4">
<system-out>{"changed": true}</system-out></testcase>
<testcase name="[include] Web: nginx : more" classname="/p/roles/nginx/tasks/main.yml:8">
<system-out>/p/roles/nginx/tasks/more.yml</system-out></testcase>
<testcase name="[web1] Web: Wait: long" classname="/p/site.yml:9">
<skipped>Conditional result was False</skipped></testcase>
<testcase name="[web1] Web: Check" classname="/p/site.yml:12">
<system-out>{"changed": false, "stdout": "&lt;b&gt;"}</system-out></testcase>
</testsuite></testsuites>
"""
_FAILED = (
    '<testsuite><testcase name="[web1] P: T" classname="/p:3"><failure>no</failure></testcase>'
)

_PROGRAM = """\
#!/bin/sh
pwd > "$RECORD"
printf '%s\\n' "$@" >> "$RECORD"
[ -z "$REPORT" ] || cp "$REPORT" "$JUNIT_OUTPUT_DIR/site-1.xml"
ls -ld "$JUNIT_OUTPUT_DIR" | cut -c1-10 >> "$RECORD"
exit "$CODE"
"""


def environment(tmp_path: Path, report: str, code: int = 0) -> dict[str, str]:
    """An environment with a stand-in for Ansible that writes this report and ends so."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "ansible-playbook"
    program.write_text(_PROGRAM)
    program.chmod(0o755)
    (tmp_path / "report.xml").write_text(report)
    return {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "RECORD": str(tmp_path / "record"),
        "REPORT": str(tmp_path / "report.xml") if report else "",
        "CODE": str(code),
    }


def test_a_report_says_what_each_task_did(tmp_path: Path) -> None:
    """Host, place, name and outcome of each task; an include is not a task."""
    (tmp_path / "r.xml").write_text(_CASES)
    assert read_report(tmp_path / "r.xml") == [
        TaskResult("web1", "/p/roles/nginx/tasks/main.yml", 4, "nginx : Install", True, "ok"),
        TaskResult(
            host="web1",
            path="/p/site.yml",
            line=9,
            name="Wait: long",
            changed=False,
            status="skipped",
            by_condition=True,
        ),
        TaskResult("web1", "/p/site.yml", 12, "Check", False, "ok"),
    ]


@pytest.mark.parametrize("text", ["", "<a>", _CASES.replace('{"changed": true}', "changed")])
def test_what_is_no_report_is_refused(tmp_path: Path, text: str) -> None:
    """The error says that the report cannot be read."""
    (tmp_path / "r.xml").write_text(text)
    with pytest.raises(ProofError) as refused:
        read_report(tmp_path / "r.xml")
    expect_text(refused.value)


def test_the_playbook_runs_on_the_named_hosts_only(tmp_path: Path) -> None:
    """Ansible gets host names, all inventories and check mode, beside its ansible.cfg."""
    project = tmp_path / "project"
    (project / "plays").mkdir(parents=True)
    (project / "ansible.cfg").touch()
    playbook = Playbook.of([str(project / "plays/site.yml")], ["a,b", str(project / "hosts")])
    around = environment(tmp_path, _CASES)
    results = run_playbook(playbook, ["web1", "web2"], check=True, environment=around)
    assert [one.changed for one in results] == [True, False, False]
    record = (tmp_path / "record").read_text().splitlines()
    assert record == [
        str(project),
        *("-l", "web1,web2", "-i", "a,b", "-i", str(project / "hosts"), "--check"),
        str(project / "plays/site.yml"),
        "drwx------",
    ]


@pytest.mark.parametrize(
    ("report", "code", "message"),
    [
        (_FAILED + "</testsuite>", 2, "failed on web1 at /p:3 (T)"),
        (_CASES, 4, "exited with 4"),
        ("", 0, "wrote no report"),
    ],
)
def test_a_playbook_that_fails_proves_nothing(
    tmp_path: Path, report: str, code: int, message: str
) -> None:
    """The error names the first task that failed, or how the program ended."""
    playbook = Playbook.of([str(tmp_path / "site.yml")], [])
    with pytest.raises(ProofError) as caught:
        run_playbook(playbook, ["web1"], environment=environment(tmp_path, report, code))
    assert message in caught.value.message


def test_a_task_may_fail_in_check_mode(tmp_path: Path) -> None:
    """What a skipped command would have answered is missing there; the result says it."""
    playbook = Playbook.of([str(tmp_path / "site.yml")], [])
    around = environment(tmp_path, _FAILED + "</testsuite>", 2)
    (result,) = run_playbook(playbook, ["web1"], check=True, environment=around)
    assert result.status == "failed"


def test_a_role_alone_cannot_be_proved() -> None:
    """The error says what is missing."""
    with pytest.raises(UsageError, match="requires a playbook"):
        Playbook.of([], ["hosts"])


def test_missing_ansible_is_a_clear_error(tmp_path: Path) -> None:
    """The error says what was looked for, where, and how to get it."""
    with pytest.raises(UsageError) as caught:
        require_ansible({"PATH": str(tmp_path)})
    expect_text(caught.value)
    assert "ansible-core" in caught.value.hint


def test_a_playbook_that_hangs_is_ended(tmp_path: Path) -> None:
    """The error says how long it may take, where to look, and which option gives more time."""
    around = environment(tmp_path, _CASES)
    program = tmp_path / "bin/ansible-playbook"
    program.write_text('#!/bin/sh\necho $$ > "$RECORD"\nexec sleep 600\n')
    with pytest.raises(ProofError) as caught:
        run_playbook(
            Playbook.of([str(tmp_path / "site.yml")], []),
            ["web1"],
            limits=Limits(step=0.5),
            environment=around,
        )
    expect_text(caught.value)
    assert "--step-timeout" in caught.value.hint
    process = int((tmp_path / "record").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_each_task_has_a_time_limit(tmp_path: Path) -> None:
    """Ansible ends the task; the error names it, and the option that gives it more time."""
    slow = _FAILED.replace(
        "<failure>", '<failure message="Task failed: Timed out after 7 second(s).">'
    )
    around = environment(tmp_path, slow + "</testsuite>", 2)
    program = tmp_path / "bin/ansible-playbook"
    program.write_text(_PROGRAM.replace("pwd >", 'echo "$ANSIBLE_TASK_TIMEOUT" >'))
    with pytest.raises(ProofError, match=r"/p:3 \(T\) took longer than 6\.5 s on web1") as caught:
        run_playbook(
            Playbook.of([str(tmp_path / "site.yml")], []),
            ["web1"],
            check=True,
            limits=Limits(command=6.5),
            environment=around,
        )
    assert "--command-timeout" in caught.value.hint
    assert (tmp_path / "record").read_text().startswith("7\n")
