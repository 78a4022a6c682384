"""ccm init: the beginning of a project."""

import json
import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

import schemas
from orchestrator.cli.app import main
from orchestrator.project.discovery import project_files
from orchestrator.project.reader import read_project
from orchestrator.project.settings import SETTINGS, Project
from tests.push.command import REPOSITORY
from tests.texts import expect_text


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, an empty one, and a state directory elsewhere."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    home = tmp_path / "project"
    home.mkdir(mode=0o755)
    monkeypatch.chdir(home)
    return home


ALL = (
    "ccm.yaml", "hosts.yaml", "site.yaml", "data/default.yaml", ".gitignore",
    ".pre-commit-config.yaml", ".schemas/manifest.schema.json", ".schemas/inventory.schema.json",
    ".schemas/project.schema.json",
)  # fmt: skip


def test_an_empty_directory(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A whole project is written, whose files are canonical, validate and preview as they are."""
    (directory / ".git").mkdir()
    assert main(["init", "--local"]) == 0
    told = capsys.readouterr().out
    assert told.splitlines() == [
        *(f"written: {name}" for name in ALL),
        "next: ccm push --noop site.yaml",
    ]
    assert main(["fmt", "--check"]) == 0
    assert main(["validate", "-i", "hosts.yaml", "site.yaml"]) == 0
    assert main(["push", "--noop", "--json", "site.yaml"]) == 0
    assert "edit#/etc/motd" in capsys.readouterr().err


def test_a_fresh_clone(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a forge puts into a new repository does not matter, and is kept."""
    (directory / "README.md").touch()
    (directory / ".gitignore").write_text("mine\n")
    assert main(["init", "--host", "web1", "--ci", "none"]) == 0
    told = capsys.readouterr().out
    assert "exists, unchanged: .gitignore\n" in told
    assert "next: ccm hosts trust -i hosts.yaml && ccm push --noop site.yaml\n" in told
    assert (directory / ".gitignore").read_text() == "mine\n"
    assert (directory / "site.yaml").exists()


def test_editors_find_the_schemas(directory: Path) -> None:
    """The first line of each file names a schema, from the file's directory, that accepts it and
    finds a misspelling. It is what ccm schema prints.
    """
    assert main(["init", "--host", "web1", "--ci", "both"]) == 0
    for name, wrong in (("ccm.yaml", "inventry"), ("hosts.yaml", "hsts"), ("site.yaml", "cm")):
        text = (directory / name).read_text()
        match = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
        assert match, name
        check = jsonschema.Draft202012Validator(
            json.loads((directory / name).parent.joinpath(match[1]).read_text())
        )
        value = yaml.safe_load(text)
        check.validate(value)
        assert not check.is_valid({**value, wrong: 1})


def test_hooks_and_ignored_files(directory: Path) -> None:
    """The hooks of pre-commit are commands that pass on the new project; plans are ignored."""
    assert main(["init", "--local", "--ci", "none"]) == 0
    subprocess.run(["git", "init", "-q"], check=True, timeout=60)
    subprocess.run(["git", "add", "-A"], check=True, timeout=60)
    hooks = yaml.safe_load((directory / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    for hook in hooks:
        program, *words = shlex.split(hook["entry"])
        assert program == "ccm"
        assert main(words) == 0
    assert "*.plan" in (directory / ".gitignore").read_text().splitlines()


@pytest.mark.parametrize(
    ("remote", "found"),
    [
        ("git@github.com:a/b.git", "github"),
        ("https://gitlab.example.net/a/b.git", "gitlab"),
        ("https://git.example.net/a/b.git", "none"),
    ],
)
def test_the_forge_of_the_remote(
    remote: str, found: str, directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a terminal the CI file is for the forge of the repository, and ccm says so."""
    (directory / ".git").mkdir()
    (directory / ".git/config").write_text(f'[remote "origin"]\n\turl = {remote}\n')
    assert main(["init", "--host", "web1"]) == 0
    shown = capsys.readouterr()
    files = "no CI files" if found == "none" else f"CI files for {found}"
    assert f"{files} (change with --ci FORGE)" in shown.err
    expect_text(shown.err)
    written = {".github/workflows/ccm.yaml": "github", ".gitlab-ci.yml": "gitlab"}
    assert [written[one] for one in written if (directory / one).exists()] == [found][
        : found != "none"
    ]


def test_what_is_there_stays(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside manifests only ccm.yaml is written, with the inventory that is there, and once."""
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


def test_an_existing_project(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--ci alone adds hooks, schemas and the pipeline; other flags are refused."""
    (directory / "ccm.yaml").write_text("inventory: a,\n")
    (directory / "hosts.yaml").write_text("hosts: {a: }\n")
    assert main(["init", "--ci", "gitlab", "--no-become"]) == 2
    assert main(["init", "--ci", "gitlab"]) == 0
    assert ".gitlab-ci.yml" in capsys.readouterr().out
    assert (directory / ".pre-commit-config.yaml").exists()
    assert (directory / "ccm.yaml").read_text() == "inventory: a,\n"
    assert not (directory / "site.yaml").exists()


@pytest.mark.parametrize("words", [["--local"], ["--ansible", "hosts"]])
def test_hosts_of_two_kinds(
    words: list[str], directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--host is not combined with a flag that selects all hosts: none is dropped."""
    assert main(["init", "--host", "web1", *words]) == 2
    assert f"--host and {words[0]} are mutually exclusive" in capsys.readouterr().err
    assert not os.listdir(directory)


def test_no_inventory_is_guessed(directory: Path) -> None:
    """Where no file looks like an inventory, none is named."""
    (directory / "nginx.yaml").touch()
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
    whole = re.sub(r"^# (?=[a-z_]+: |rollouts:$|secrets:$|  )", "", text, flags=re.MULTILINE)
    (directory / "ccm.yaml").write_text(whole)
    found = read_project(project_files())
    words = {one.word for one in SETTINGS if one.name in found.settings}
    keys = set(schemas.load("project")["properties"])
    assert {*words, "rollouts", "secrets", "history_token"} == keys
    assert found.secrets["vault"]
    assert found.history_token["file"]
    assert list(found.rollouts) == ["careful"]


def test_a_disk_without_room(directory: Path) -> None:
    """The error names the file, no file is incomplete, and the same command completes them."""
    words = [sys.executable, "-m", "orchestrator.cli.app", "init", "--local"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"}
    limited = ["sh", "-c", 'ulimit -f 2; exec "$@"', "sh", *words]  # of 512 bytes
    full = subprocess.run(
        limited, cwd=directory, env=environment, capture_output=True, text=True, check=False
    )
    assert full.returncode == 2
    assert "ccm.yaml cannot be written: File too large" in full.stderr
    assert list(directory.iterdir()) == []
    subprocess.run(words, cwd=directory, env=environment, capture_output=True, check=True)
    assert (directory / "ccm.yaml").stat().st_size > 1024
