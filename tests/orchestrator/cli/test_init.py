"""ccm init: the beginning of a project."""

import os
import re
import stat
from pathlib import Path

import pytest

import schemas
from orchestrator.cli.app import main
from orchestrator.project.discovery import project_files
from orchestrator.project.reader import read_project
from orchestrator.project.settings import SETTINGS, Project


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, an empty one, and a state directory elsewhere."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    home = tmp_path / "project"
    home.mkdir(mode=0o755)
    monkeypatch.chdir(home)
    return home


def test_an_empty_directory(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file, an inventory and a site are written, which validate and preview as they are."""
    (directory / ".git").mkdir()
    assert main(["init", "--local"]) == 0
    told = capsys.readouterr().out
    assert told.splitlines() == [
        f"written: {name}" for name in ("ccm.yaml", "hosts.yaml", "site.yaml")
    ]
    assert main(["validate", "site.yaml"]) == 0
    assert main(["push", "--noop", "site.yaml"]) == 0
    assert "this-machine" in capsys.readouterr().out


def test_what_is_there_stays(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside other files only ccm.yaml is written, with the inventory that is there, and once."""
    (directory / "README").touch()
    (directory / "inventory.yaml").write_text("hosts: {web1: }\n")
    assert main(["init"]) == 0
    assert sorted(os.listdir(directory)) == ["README", "ccm.yaml", "inventory.yaml"]
    assert read_project(project_files()).settings["inventory"].value == ["inventory.yaml"]
    before = (directory / "ccm.yaml").read_text()
    capsys.readouterr()
    assert main(["init"]) == 2
    assert "ccm.yaml already exists" in capsys.readouterr().err
    assert (directory / "ccm.yaml").read_text() == before


def test_no_inventory_is_guessed(directory: Path) -> None:
    """Where no file looks like an inventory, none is named."""
    (directory / "README").touch()
    assert main(["init"]) == 0
    assert read_project(project_files()) == Project()


def test_another_directory(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A directory that is named is made; its file is believed whatever the umask."""
    before = os.umask(0o002)
    try:
        assert main(["init", "a/b", "--host", "web1"]) == 0
    finally:
        os.umask(before)
    assert "written: a/b/ccm.yaml" in capsys.readouterr().out
    assert stat.S_IMODE((directory / "a/b/ccm.yaml").stat().st_mode) == 0o644
    assert project_files("a/b/site.yaml")


def test_a_directory_of_others(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is written where others could change it; the error says what to do."""
    directory.chmod(0o777)
    assert main(["init"]) == 2
    assert "chmod go-w ." in capsys.readouterr().err
    assert os.listdir(directory) == []


def test_the_file_shows_all_that_it_may_say(directory: Path) -> None:
    """Each key of the schema stands there, as a comment that is right without its sign."""
    assert main(["init", "--local"]) == 0
    text = (directory / "ccm.yaml").read_text()
    whole = re.sub(r"^# (?=[a-z_]+: |rollouts:$|  )", "", text, flags=re.MULTILINE)
    (directory / "ccm.yaml").write_text(whole)
    (directory / "data").mkdir()
    found = read_project(project_files())
    words = {one.word for one in SETTINGS if one.name in found.settings}
    assert {*words, "rollouts"} == set(schemas.load("project")["properties"])
    assert list(found.rollouts) == ["careful"]
