"""``--prove`` of ``ccm import ansible``: flags, confirmation and output."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Any

import pytest

from orchestrator.ansible.proof import playbook_run
from orchestrator.ansible.proof.equivalence_check import Finding, Proof
from orchestrator.ansible.proof.playbook_run import Playbook, ProofError, TaskResult
from orchestrator.cli.import_proof import (
    Converted,
    add_proof,
    check_proof,
    proof_text,
    read_proof,
    run_proof,
)
from orchestrator.cli.parser import Parser
from orchestrator.runs import push as push_module
from remote_runtime.errors import UsageError
from tests.texts import expect_text

SITE = """\
ccm:
  resources:
    - file:
        - PATH:
            content: "one\\n"
            owner: OWNER
            group: GROUP
            mode: "0644"
"""


def parsed(*words: str) -> argparse.Namespace:
    """What the options of a proof are read as."""
    parser = Parser(prog="ccm import ansible")
    add_proof(parser)
    args: argparse.Namespace = parser.parse_args(list(words))
    return args


@pytest.fixture
def ansible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH with a stand-in for Ansible."""
    program = tmp_path / "bin/ansible-playbook"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(program.parent))


@pytest.mark.usefixtures("ansible")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--prove"], "requires -l"),
        (["-l", "web1"], "require --prove"),
        (["--yes"], "require --prove"),
        (["--prove", "-l", "web1"], "cannot prompt without a terminal"),
    ],
)
def test_a_proof_names_its_hosts_and_is_confirmed(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No host is changed that was not named, nor without a yes."""
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(UsageError, match=message):
        check_proof(read_proof(parsed(*words)))


@pytest.mark.usefixtures("ansible")
def test_a_confirmed_proof_may_begin() -> None:
    """Neither a terminal nor a question is needed with --yes."""
    wanted = read_proof(parsed("--prove", "-l", "web1", "--yes"))
    check_proof(wanted)
    assert wanted.first == "ansible"


def test_without_ansible_a_proof_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error comes before anything is written."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError) as refused:
        check_proof(read_proof(parsed("--prove", "-l", "web1", "--yes")))
    expect_text(refused.value)


def written(tmp_path: Path) -> Converted:
    """A converted site for this machine, whose one file exists after the playbook."""
    path = tmp_path / "made"
    text = SITE.replace("PATH", str(path)).replace("OWNER", path.parent.owner())
    (tmp_path / "site.yaml").write_text(text.replace("GROUP", path.parent.group()))
    (tmp_path / "hosts.yaml").write_text("hosts: {web1: {connection: local}, web2: {}}\n")
    tasks = [{"file": "t.yml", "line": 1, "task": "Make", "resources": [f"file#{path}"]}]
    site, hosts = str(tmp_path / "site.yaml"), str(tmp_path / "hosts.yaml")
    playbooks = [str(tmp_path / "site.yml")]
    return Converted(playbooks=playbooks, inventory=["hosts"], site=site, hosts=hosts, tasks=tasks)


@pytest.mark.parametrize(("text", "code"), [("one\n", 0), ("two\n", 1)])
def test_a_conversion_is_proved_on_its_host(
    text: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The preview of the site decides, and the exit code says it; only named hosts are visited."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    asked: list[list[str]] = []

    def play(playbook: Playbook, hosts: list[str], **how: Any) -> list[TaskResult]:
        """Make the file."""
        asked.append(hosts)
        (tmp_path / "made").write_text(text)
        (tmp_path / "made").chmod(0o644)
        return []

    monkeypatch.setattr(playbook_run, "run_playbook", play)
    assert (
        run_proof(read_proof(parsed("--prove", "-l", "web1", "--yes")), written(tmp_path)) == code
    )
    assert asked == [["web1"], ["web1"]]
    out = capfd.readouterr().out
    assert ("proved: nothing to do" in out) == (code == 0)
    assert ("t.yml:1 (Make)" in out) == (code == 1)


def test_the_preview_refreshes_package_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without fresh lists, it would not know which version a package has next."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(playbook_run, "run_playbook", lambda *_, **__: [])
    seen: list[Any] = []
    real = push_module.push

    def push(request: Any, output: Any) -> Any:
        """Note the options of the run."""
        seen.append(request.run)
        return real(request, output)

    monkeypatch.setattr(push_module, "push", push)
    run_proof(read_proof(parsed("--prove", "-l", "web1", "--yes")), written(tmp_path))
    assert [(one.noop, one.refresh_lists) for one in seen] == [(True, True)]


@pytest.mark.parametrize(
    ("words", "message", "option"),
    [
        (["--step-timeout=1"], "step 1 of 3: ccm push on web1: timed out", "--step-timeout"),
        (
            ["--command-timeout=1"],
            "step 1 of 3: ccm push on web1: no progress for 1 s",
            "--command-timeout",
        ),
    ],
)
def test_a_push_that_hangs_is_ended(
    words: list[str],
    message: str,
    option: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The error says which step and host it was, and the option that gives more time."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    converted = written(tmp_path)
    text = "ccm: {resources: [{exec: [{hang: {command: sleep 600}}]}]}\n"
    Path(converted.site).write_text(text)
    given = ["--prove", "--first", "ccm", "-l", "web1", "--yes", *words]
    with pytest.raises(ProofError) as caught:
        run_proof(read_proof(parsed(*given)), converted)
    assert caught.value.message.startswith(message)
    assert option in caught.value.hint


def test_a_no_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The question names the hosts."""
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert run_proof(read_proof(parsed("--prove", "-l", "web1")), written(tmp_path)) == 1
    out = capsys.readouterr().out
    expect_text(out)
    assert not (tmp_path / "made").exists()


def test_findings_are_listed_by_task() -> None:
    """Differences, unknowns and repeated changes have a title each."""
    one = Finding("web1", "t.yml:1 (Make)", "file#/a", "would change")
    other = Finding("web1", "", "exec#date", "changes on every push")
    text = proof_text(Proof("ansible", ("web1",), 4, [one], [other], []))
    expect_text(text)


def test_what_cannot_be_known_is_in_the_verdict() -> None:
    """A proof with gaps does not look like one without."""
    one = Finding(
        "web1", "t.yml:1 (Make)", "exec#make", "fails in check mode, which skips commands"
    )
    text = proof_text(Proof("ccm", ("web1",), 4, [], [], [one]))
    expect_text(text)
    assert text.endswith("proved: nothing to do, except for 1 task that cannot be determined\n")
