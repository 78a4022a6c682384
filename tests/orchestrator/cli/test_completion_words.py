"""What could stand where the cursor is: commands, options and their values, hosts and runs."""

from pathlib import Path

import pytest

from orchestrator.cli.app import COMMANDS, main
from orchestrator.cli.command_lookup import build_parser, load_command
from orchestrator.cli.completion_words import candidates
from tests.orchestrator.report.runs import mixed_run

INVENTORY = "hosts: {web1: , web2: , db1: }\ngroups: {web: {hosts: [web1, web2]}}\n"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("push -i hosts.yaml -l web", ["web1", "web2", "web"]),
        ("push -i hosts.yaml -l f", ["failed"]),
        ("push --inventory=hosts.yaml -l web:&prod:!d", ["web:&prod:!db1"]),
        ("push -i hosts.yaml --limit=d", ["--limit=db1"]),
        ("push -i hosts.yaml --limit=web:&d", ["--limit=web:&db1"]),
        ("push -i one.net,two.net -l one", ["one.net"]),
        ("inventory -i hosts.yaml --host web", ["web1", "web2"]),
        ("push -i gone.yaml -l x", []),
        ("push -i program -l x", []),
        ("push --forks hos", []),
        ("gone x", []),
        ("ensure gone x", []),
        ("push -i hos", [":files"]),
        ("push --inventory=hos", [":files"]),
        ("push hos", [":files"]),
        ("plan s", [":files", "show", "sign"]),
        ("plan show x", [":files"]),
        ("completion z", ["zsh"]),
        ("session r", ["report"]),
        ("hosts t", ["trust"]),
        ("registration d", ["delete"]),
        ("ensure a", ["apply", "archive", "authorized_key", "api"]),
        ("ensure file /x --ow", ["--owner"]),
        ("ensure file /x --creates", []),
        ("hosts trust --forks", ["--forks"]),
        ("registration query --ttl", []),
        ("ensure service a", []),
        ("ensure service r", []),
        ("ensure service nginx r", ["running"]),
        ("ensure service nginx --enable s", ["stopped"]),
        ("ensure service --provider systemd r", []),
        ("ensure package nginx V", []),
        ("ensure file /x --mode 0644 d", ["directory"]),
        ("ensure file /x --content d", []),
        ("ensure scaffold /d source p", ["present"]),
        ("schema plan k", []),
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
    assert [line.partition("\t")[0] for line in told.out.splitlines()] == found
    assert told.err == ""
    assert not Path("pwned").exists()


def test_every_option_is_a_candidate() -> None:
    """Each command, and each of its long options, is offered with its meaning."""
    commands = dict(candidates([""]))
    assert commands["facts"] == load_command("facts").HELP.rstrip(".")
    for name in COMMANDS:
        offered = dict(candidates([name, "--"]))
        for option in build_parser(name, load_command(name)).options:
            assert option in offered or not option.startswith("--"), (name, option)
        assert name in commands
    assert dict(candidates(["push", "--noo"])) == {
        "--noop": "change nothing; show what would change"
    }


def test_the_projects_inventory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without -i the hosts are those that ccm.yaml names; a program in it is not run either."""
    monkeypatch.chdir(tmp_path)
    Path("hosts.yaml").write_text(INVENTORY, encoding="utf-8")
    Path("program").write_text("#!/bin/sh\ntouch pwned\n", encoding="utf-8")
    Path("program").chmod(0o755)
    Path("ccm.yaml").write_text("inventory: [hosts.yaml, program]\n", encoding="utf-8")
    assert candidates(["push", "-l", "web"]) == [("web1", ""), ("web2", ""), ("web", "")]
    assert candidates(["push", "-i", "one.net,two.net", "-l", "one"]) == [("one.net", "")]
    assert not Path("pwned").exists()


def test_runs_are_candidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``report`` and ``diff`` take the ids of runs that are kept, ``report --host`` their hosts."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    kept = mixed_run()
    assert candidates(["report", ""]) == [(kept.run_id, "")]
    assert candidates(["diff", kept.run_id, kept.run_id[:4]]) == [(kept.run_id, "")]
    assert ("web1", "") in candidates(["report", "--host", "web"])
