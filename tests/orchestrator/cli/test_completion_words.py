"""What could stand where the cursor is: hosts, groups and runs."""

from pathlib import Path

import pytest

from orchestrator.cli.app import main
from orchestrator.cli.completion_words import candidates
from tests.orchestrator.report.runs import mixed_run

INVENTORY = "hosts: {web1: , web2: , db1: }\ngroups: {web: {hosts: [web1, web2]}}\n"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("push -i hosts.yaml -l web", ["web1", "web2", "web"]),
        ("push -i hosts.yaml -l f", ["failed"]),
        ("push --inventory=hosts.yaml -l web:&prod:!d", ["web:&prod:!db1"]),
        ("push -i hosts.yaml --limit=d", ["db1"]),
        ("push -i one.net,two.net -l one", ["one.net"]),
        ("inventory -i hosts.yaml --host web", ["web1", "web2"]),
        ("push -i gone.yaml -l x", []),
        ("push -i program -l x", []),
        ("push", []),
    ],
)
def test_candidates(
    line: str, found: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Names come from inventories that are files; a program is never run, mistakes are silent."""
    monkeypatch.chdir(tmp_path)
    Path("hosts.yaml").write_text(INVENTORY, encoding="utf-8")
    Path("program").write_text("#!/bin/sh\ntouch pwned\n", encoding="utf-8")
    Path("program").chmod(0o755)
    assert main(["completion", "words", "--", *line.split()]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines() == found
    assert told.err == ""
    assert not Path("pwned").exists()


def test_runs_are_candidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``report`` and ``diff`` take the ids of runs that are kept, ``report --host`` their hosts."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    kept = mixed_run()
    assert candidates(["report", ""]) == [kept.run_id]
    assert candidates(["diff", kept.run_id, kept.run_id[:4]]) == [kept.run_id]
    assert "web1" in candidates(["report", "--host", "web"])
