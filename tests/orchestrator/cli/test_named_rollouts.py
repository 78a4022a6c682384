"""Rollouts that the project's file has by name."""

from pathlib import Path

import pytest

from orchestrator.cli.command_lookup import build_parser, load_command
from orchestrator.cli.rollout_options import read_rollout
from remote_runtime.errors import InputError, UsageError
from tests.texts import expect_text

PROJECT = """\
inventory: hosts.yaml
rollouts:
  careful: {waves: "1,10%,100%", max_fail: 0, per: rack=1}
  night: {until: 22:00, per: [rack=1, row=2]}
  gated: {soak: 5m, gate: [verify, ./rate.sh], gate_timeout: 60, confirm: true, after_host: ./up}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory with a project's file."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "ccm.yaml"
    path.write_text(PROJECT, encoding="utf-8")
    return path


def record(*words: str, command: str = "push") -> dict[str, object]:
    args = build_parser(command, load_command(command)).parse([*words, "site.yaml"])
    return read_rollout(args).record()


def test_a_name_stands_for_options() -> None:
    """What no flag says is as the rollout has it; of what a flag says, the flag wins whole."""
    assert record() == {}
    careful = {"waves": "1,10%,100%", "max_fail": "0", "per": ["rack=1"]}
    assert record("--rollout", "careful") == careful
    assert record("--rollout", "careful", "-l", "all", command="run") == careful
    given = record("--max-fail", "2", "--rollout", "careful", "--per", "zone=3")
    assert given == {**careful, "max_fail": "2", "per": ["zone=3"]}
    assert "soak" not in record("--rollout", "gated", "--soak", "0")
    night = record("--rollout", "night")
    assert night["per"] == ["rack=1", "row=2"]
    assert "22:00" in str(night["until"])


def test_gates_are_of_pushes() -> None:
    """A rollout has each option of the group; a command that lacks one says so."""
    assert record("--rollout", "gated") == {
        "soak": "300",
        "gate": ["verify", "./rate.sh"],
        "gate_timeout": "60",
        "confirm": True,
        "after_host": "./up",
    }
    with pytest.raises(InputError) as told:
        record("--rollout", "gated", "-l", "all", command="run")
    expect_text(str(told.value.problems[0]))


def test_where_it_is_from() -> None:
    """Of each option it is known whether a flag, the file or nobody has said it."""
    parser = build_parser("push", load_command("push"))
    args = parser.parse(["--rollout", "careful", "--max-fail", "2", "site.yaml"])
    found = {name: args.resolved[name][1:] for name in ("waves", "max_fail", "until")}
    assert found == {
        "waves": ("file", "ccm.yaml:3:20"),
        "max_fail": ("flag", "--max-fail"),
        "until": ("default", ""),
    }


@pytest.mark.parametrize(
    ("name", "hint"),
    [("carefull", "did you mean careful"), ("x", "known rollouts: careful, gated, night")],
)
def test_a_rollout_that_nobody_has(name: str, hint: str) -> None:
    """A name that the file does not have is refused with those it has."""
    with pytest.raises(UsageError, match="unknown rollout") as caught:
        record("--rollout", name)
    assert hint in caught.value.hint


def test_no_file_at_all(project: Path) -> None:
    """Without a file the error says where rollouts are written."""
    project.unlink()
    with pytest.raises(UsageError, match="unknown rollout 'careful'") as caught:
        record("--rollout", "careful")
    assert "define rollouts" in caught.value.hint


def test_what_a_flag_would_not_take(project: Path) -> None:
    """Each value is held against what its flag takes, and told with its place."""
    project.write_text("rollouts: {bad: {waves: '10,1', max_fail: 200%}, good: {waves: 1}}\n")
    assert record("--rollout", "good")["waves"] == "1"
    with pytest.raises(InputError) as caught:
        record("--rollout", "bad")
    first, second = map(str, caught.value.problems)
    assert first.startswith("ccm.yaml:1:25: waves: 1 comes after 10")
    assert second.startswith("ccm.yaml:1:43: max_fail: ")
