"""What the project's file says, and what is wrong with it."""

import os
from pathlib import Path

import pytest

from orchestrator.project.discovery import project_files
from orchestrator.project.reader import project_notes, read_project
from orchestrator.project.settings import Project
from remote_runtime.errors import InputError
from tests.texts import expect_text


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with the directory sites/ in it."""
    (tmp_path / "sites").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(text: str, path: str = "ccm.yaml") -> None:
    Path(path).write_text(text, encoding="utf-8")


def read(manifest: str = "") -> Project:
    return read_project(project_files(manifest))


def values(manifest: str = "") -> dict[str, object]:
    return {name: one.value for name, one in read(manifest).settings.items()}


def problems(text: str) -> list[str]:
    write(text)
    with pytest.raises(InputError) as caught:
        read()
    return list(map(str, caught.value.problems))


def test_paths_start_from_the_file(directory: Path) -> None:
    """What is a path is one from the file's directory; hosts by name and addresses are none."""
    write("inventory: [hosts.yaml, 'web1,web2']\nhiera: data/a.yaml\n", "sites/ccm.yaml")
    assert values("sites/site.yaml") == {
        "inventory": ["sites/hosts.yaml", "web1,web2"],
        "hiera": ["sites/data/a.yaml"],
    }
    write("registration: r.json\ninventory: /etc/hosts.yaml\n", "sites/ccm.yaml")
    assert values("sites/site.yaml") == {
        "registration": "sites/r.json",
        "inventory": ["/etc/hosts.yaml"],
    }
    write("registration: nats://host/S\n", "sites/ccm.yaml")
    assert values("sites/site.yaml") == {"registration": "nats://host/S"}
    os.unlink("sites/ccm.yaml")
    write("inventory: hosts.yaml\n")
    os.symlink("../ccm.yaml", "sites/ccm.yaml")
    assert values("sites/site.yaml") == {"inventory": [str(directory / "hosts.yaml")]}


def test_each_value_has_its_place() -> None:
    """The file, the line and the column of a value are known; an empty file says nothing."""
    write("# of the project\nforks: 5\nkeep: 10\n")
    assert {name: str(one.position) for name, one in read().settings.items()} == {
        "forks": "ccm.yaml:2:8",
        "keep": "ccm.yaml:3:7",
    }
    write("")
    assert read() == Project()


def test_rollouts() -> None:
    """The options of a rollout are words as a flag takes them, each with its place."""
    write("rollouts:\n  night:\n    until: 22:00\n    max_fail: 0\n    per: [rack=1, row=2]\n")
    found = read().rollouts["night"]
    assert {key: [word.value for word in one.value] for key, one in found.items()} == {
        "until": ["22:00"],
        "max_fail": ["0"],
        "per": ["rack=1", "row=2"],
    }
    assert str(found["per"].value[1].position) == "ccm.yaml:5:19"


def test_two_files_that_differ() -> None:
    """One beside the manifest and another here are refused with both names, where they differ."""
    write("inventory: hosts.yaml\n")
    write("inventory: hosts.yaml\n", "sites/ccm.yaml")
    with pytest.raises(InputError) as refused:
        read("sites/site.yaml")
    expect_text(refused.value)
    write("inventory: ../hosts.yaml\n", "sites/ccm.yaml")
    assert values("sites/site.yaml") == {"inventory": ["hosts.yaml"]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("forks: 5\ninventry: x\n", "ccm.yaml:2:1: .*: unknown key 'inventry' .did you mean inven"),
        ("forks: many\n", "ccm.yaml:1:8: forks must be a whole number, not text"),
        ("forks: 0\n", "ccm.yaml:1:8: forks must be at least 1"),
        ("keep: 1.5\n", "ccm.yaml:1:7: keep must be a whole number"),
        ("inventory: 5\n", "ccm.yaml:1:12: inventory must be text or a list"),
        ("inventory: [a, 5]\n", r"ccm.yaml:1:16: inventory\[1\] must be text"),
        ("hiera: []\n", "ccm.yaml:1:8: .*hiera must not be empty"),
        ("- forks\n", "ccm.yaml:1:1: .*must be a map or null, not a list"),
        ("ccm:\n  resources: []\n", "ccm.yaml:1:1: .*this is a manifest: rename it"),
        ("signers: all\n", "ccm.yaml:1:1: .*a checkout must not list approvers"),
        (
            "rollouts: {slow: {wave: 1}}\n",
            "ccm.yaml:1:19: .*unknown key 'wave' .did you mean waves",
        ),
        ("rollouts: {slow: {}}\n", "ccm.yaml:1:18: .*rollouts.slow must not be empty"),
        ("rollouts: slow\n", "ccm.yaml:1:11: rollouts must be a map"),
        ("rollouts: {slow: {waves: [1]}}\n", "ccm.yaml:1:26: .*waves must be text or a number"),
        ("forks: [\n", "ccm.yaml:2:1: invalid YAML"),
        (
            "facts_max_age: soon\n",
            "ccm.yaml:1:16: facts_max_age must be a duration, not 'soon' .write 1h",
        ),
    ],
)
def test_mistakes(text: str, told: str) -> None:
    """Each mistake is told with its place and what was expected."""
    import re

    (problem,) = problems(text)
    assert re.search(told, problem), problem


def test_all_mistakes_at_once() -> None:
    """The order is that of the file."""
    found = problems("keep: x\nforks: 1\nforks: 2\nhira: y\n")
    assert [one.split(": ")[0] for one in found] == ["ccm.yaml:1:7", "ccm.yaml:3:1", "ccm.yaml:4:1"]


def test_a_login_is_refused_and_not_shown() -> None:
    """An address with a password belongs in no file that others read."""
    (problem,) = problems("registration: nats://ccm:s3cret@host/S\n")
    assert problem.startswith("ccm.yaml:1:15: registration contains credentials")
    assert "s3cret" not in problem


def test_what_yaml11_reads_otherwise_is_noted() -> None:
    """Each place once, with what it would be there."""
    write("keep: 7\nrollouts: {night: {until: 22:30, gate: [on]}}\n")
    found = [(str(one.where), one.message) for one in project_notes(project_files())]
    assert found == [
        ("ccm.yaml:2:27", "22:30 is text here; YAML 1.1 reads 1350"),
        ("ccm.yaml:2:41", "on is text here; YAML 1.1 reads true"),
    ]
    assert project_notes([]) == []
