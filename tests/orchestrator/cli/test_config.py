"""ccm config: what commands take from around them."""

import json
from pathlib import Path

import pytest

from orchestrator.cli.app import main
from orchestrator.project.settings import SETTINGS
from tests.texts import expect_text


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in the current directory, and nothing in the environment."""
    for setting in SETTINGS:
        monkeypatch.delenv(setting.variable, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ccm.yaml").write_text("inventory: hosts\nforks: 7\n", encoding="utf-8")
    return tmp_path


def test_each_value_with_its_origin(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line for each: its name, its value, and the flag, variable or place it is from."""
    monkeypatch.setenv("CCM_KEEP", "3")
    assert main(["config", "--hiera", "a.yaml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        ["inventory", "hosts", "ccm.yaml:1:12"],
        ["hiera", "a.yaml", "--hiera"],
        ["data", "-", "default"],
        ["source_hosts", "-", "default"],
        ["facts_max_age", "1h", "default"],
        ["registration", "-", "default"],
        ["nats", "-", "default"],
        ["forks", "7", "ccm.yaml:2:8"],
        ["engine", "auto", "default"],
        ["keep", "3", "CCM_KEEP"],
        ["history", "-", "default"],
        ["signers", "-", "default"],
    ]


def test_a_named_rollout(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What stands behind a rollout's name is told with its place, and a flag as such."""
    (directory / "ccm.yaml").write_text("rollouts: {slow: {waves: '1,50%', max_fail: 0}}\n")
    assert main(["config", "--rollout", "slow", "--max-fail", "3"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[-2:] == [["waves", "1,50%", "ccm.yaml:1:26"], ["max_fail", "3", "--max-fail"]]


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The same for programs: value, origin and where."""
    assert main(["config", "--forks", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == [setting.word for setting in SETTINGS]
    assert found["inventory"] == {"value": ["hosts"], "origin": "file", "where": "ccm.yaml:1:12"}
    assert found["forks"] == {"value": 2, "origin": "flag", "where": "--forks"}
    assert found["keep"] == {"value": 200, "origin": "default", "where": ""}


def test_beside_a_manifest(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a manifest it is what a command with that manifest would have."""
    (directory / "ccm.yaml").unlink()
    (directory / "sites").mkdir()
    (directory / "sites/ccm.yaml").write_text("inventory: hosts.yaml\n", encoding="utf-8")
    assert main(["config"]) == 0
    assert "hosts.yaml" not in capsys.readouterr().out
    (directory / "sites/site.yaml").touch()
    assert main(["config", "sites/site.yaml"]) == 0
    assert "sites/hosts.yaml  sites/ccm.yaml:1:12" in capsys.readouterr().out
    assert main(["config", "sites/sit.yaml"]) == 2
    assert "the manifest sites/sit.yaml does not exist" in capsys.readouterr().err
    assert main(["config", "https://example.net/site.tar.gz#sha256=" + "0" * 64]) == 0


def test_two_files(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One beside the manifest and another here, which differ, are refused by both names."""
    (directory / "sites").mkdir()
    (directory / "sites/ccm.yaml").write_text("inventory: hosts.yaml\n", encoding="utf-8")
    assert main(["config", "sites/site.yaml"]) == 2
    expect_text(capsys.readouterr().err)


def test_no_login_and_no_program(
    directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A login is masked, and a program in place of an inventory is not run."""
    monkeypatch.setenv("CCM_REGISTRATION", "nats://ccm:s3cret@host/S")
    (directory / "hosts").write_text("#!/bin/sh\ntouch pwned\n", encoding="utf-8")
    (directory / "hosts").chmod(0o755)
    for form in ([], ["--json"]):
        assert main(["config", *form]) == 0
        assert "s3cret" not in capsys.readouterr().out
    assert not (directory / "pwned").exists()


def test_a_mistake_in_the_file(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong with the file is told, and nothing else."""
    (directory / "ccm.yaml").write_text("forks: many\n", encoding="utf-8")
    assert main(["config"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "ccm.yaml:1:8" in told.err
