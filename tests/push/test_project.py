"""Commands in a directory with a project's file."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.push.command import Ccm

SITE = """\
data: {word: plain}
ccm:
  resources:
    - file:
        - FOLDER/{{ Host.name }}:
            ensure: present
            content: "{{ lookup('data.word') }}"
            owner: OWNER
            group: GROUP
            mode: "0644"
"""
HOSTS = "hosts: {web1: {connection: local}, web2: {connection: local}}\n"
PROJECT = "inventory: hosts.yaml\nhiera: over.yaml\nforks: 1\nkeep: 2\n"


@pytest.fixture
def project(ccm: Ccm) -> Path:
    """A site and its project's file, whose hosts are this machine twice; made/ is written to."""
    import grp
    import pwd

    directory = ccm.scratch
    (directory / "made").mkdir()
    names = {
        "FOLDER": str(directory / "made"),
        "OWNER": pwd.getpwuid(os.geteuid()).pw_name,
        "GROUP": grp.getgrgid(os.getegid()).gr_name,
    }
    text = SITE
    for word, name in names.items():
        text = text.replace(word, name)
    (directory / "site.yaml").write_text(text)
    (directory / "hosts.yaml").write_text(HOSTS)
    (directory / "over.yaml").write_text("data: {word: overlaid}\n")
    (directory / "ccm.yaml").write_text(PROJECT)
    for variable in ("CCM_INVENTORY", "CCM_FORKS", "CCM_HIERA_DATA", "CCM_KEEP"):
        ccm.environment.pop(variable, None)
    return directory


def made(project: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((project / "made").iterdir())}


def runs(ccm: Ccm) -> list[dict[str, Any]]:
    """What is kept of each run, the oldest first."""
    directories = sorted((ccm.scratch / "state/ccm/runs").iterdir())
    return [json.loads((directory / "run.json").read_text()) for directory in directories]


def test_a_push_without_options(ccm: Ccm, project: Path) -> None:
    """Hosts, data and forks are the file's, and the run's record has them; the flags win."""
    done = ccm.run("push", "site.yaml")
    assert done.code == 0, done.output
    assert made(project) == {"web1": "overlaid", "web2": "overlaid"}
    options = runs(ccm)[-1]["options"]
    assert [options[name] for name in ("inventory", "hiera", "forks")] == [
        ["hosts.yaml"],
        ["over.yaml"],
        1,
    ]
    (project / "other.yaml").write_text("hosts: {db1: {connection: local}}\n")
    (project / "else.yaml").write_text("data: {word: other}\n")
    ccm.environment["CCM_INVENTORY"] = "other.yaml"
    done = ccm.run("push", "--hiera", "else.yaml", "--forks", "3", "site.yaml")
    assert done.code == 0, done.output
    assert made(project)["db1"] == "other"
    assert runs(ccm)[-1]["options"]["forks"] == 3


def test_the_runs_that_are_kept(ccm: Ccm, project: Path) -> None:
    """So many runs are left as the file says."""
    for _ in range(4):
        assert ccm.run("push", "--noop", "-l", "web1", "site.yaml").code == 0
    assert len(runs(ccm)) == 2


@pytest.mark.parametrize(
    "command",
    [
        "push --noop site.yaml",
        "plan site.yaml",
        "drift site.yaml",
        "verify site.yaml",
        "inventory",
        "run -l all -- true",
        "fetch -l all /etc/hostname -d out",
        "facts -l all host.info.os",
        "hosts trust",
        "status -l all file FOLDER",
        "hiera parse -l all site.yaml",
        "ensure file FOLDER/x -l all --noop --content x --owner root --group root --mode 0644",
        "apply -l all --noop site.yaml",
    ],
)
def test_commands_of_the_fleet(ccm: Ccm, project: Path, command: str) -> None:
    """Each command that takes an inventory takes the project's."""
    done = ccm.run(*command.replace("FOLDER", str(project / "made")).split())
    found = {"verify": 1, "drift": 4}  # there is nothing yet
    assert done.code == found.get(command.split()[0], 0), done.output
    if command != "hosts trust":  # hosts of this machine have no keys
        assert "web" in done.stdout
    assert "-i/--inventory" not in done.output
    assert made(project) == {}


@pytest.mark.parametrize(
    "command", ["facts host.info.os", "status file FOLDER", "apply --noop site.yaml"]
)
def test_commands_of_this_host(ccm: Ccm, project: Path, command: str) -> None:
    """A command that means this host goes on to mean it, whatever directory it is called in."""
    ccm.environment["CCM_INVENTORY"] = "hosts.yaml"
    done = ccm.run(*command.replace("FOLDER", str(project / "made")).split())
    assert done.code == 0, done.output
    assert "localhost" in done.stdout
    assert "web" not in done.stdout


def test_no_inventory_at_all(ccm: Ccm, project: Path) -> None:
    """Where nobody says which hosts, the error says who could."""
    (project / "ccm.yaml").write_text("forks: 2\n")
    for command in (["push", "site.yaml"], ["verify", "site.yaml"], ["inventory"]):
        done = ccm.run(*command)
        assert done.code == 2
        assert f"{command[0]}: -i/--inventory is required" in done.stderr
        assert "CCM_INVENTORY or the project's ccm.yaml" in done.stderr


def test_a_plan_has_settled_it(ccm: Ccm, project: Path) -> None:
    """A plan's hosts and data are those it was made with, whatever is around its push."""
    (project / "hosts.yaml").write_text("hosts: {web1: {connection: local}}\n")
    assert ccm.run("plan", "site.yaml", "-o", "a.plan").code == 0
    (project / "other.yaml").write_text("hosts: {db1: {connection: local}}\n")
    ccm.environment["CCM_INVENTORY"] = "other.yaml"
    ccm.environment["CCM_HIERA_DATA"] = "else.yaml"
    done = ccm.run("push", "a.plan")
    assert done.code == 0, done.output
    assert made(project) == {"web1": "overlaid"}
    assert runs(ccm)[-1]["options"]["forks"] == 1


def test_a_file_of_others(ccm: Ccm, project: Path) -> None:
    """Before anything is read or run, a file that others may write is refused."""
    (project / "hosts.yaml").write_text("#!/bin/sh\ntouch pwned\necho {}\n")
    (project / "hosts.yaml").rename(project / "hosts")
    (project / "hosts").chmod(0o755)
    (project / "ccm.yaml").write_text("inventory: hosts\n")
    (project / "ccm.yaml").chmod(0o666)
    done = ccm.run("push", "site.yaml")
    assert done.code == 2
    assert "ccm.yaml is writable by other users" in done.stderr
    assert not (project / "pwned").exists()


def test_a_validate_runs_no_program(ccm: Ccm, project: Path) -> None:
    """To look at a project of somebody else starts no program that its file names."""
    (project / "program").write_text("#!/bin/sh\ntouch pwned\necho {}\n")
    (project / "program").chmod(0o755)
    (project / "ccm.yaml").write_text("inventory: program\n")
    for command in (["validate", "site.yaml"], ["config", "site.yaml"], ["schema"]):
        assert ccm.run(*command).code == 0
    assert ccm.run("completion", "words", "--", "push", "-l", "w").code == 0
    assert not (project / "pwned").exists()


def test_a_named_rollout(ccm: Ccm, project: Path) -> None:
    """A push with a rollout's name goes by its options, which are in the run's record."""
    (project / "ccm.yaml").write_text(
        PROJECT + "rollouts:\n  careful: {waves: '1,100%', max_fail: 1}\n"
    )
    done = ccm.run("push", "--rollout", "careful", "site.yaml")
    assert done.code == 0, done.output
    options = runs(ccm)[-1]["options"]
    assert (options["waves"], options["max_fail"]) == ("1,100%", "1")
    done = ccm.run("push", "--rollout", "carefull", "site.yaml")
    assert done.code == 2
    assert "unknown rollout 'carefull'" in done.stderr
    assert "did you mean careful?" in done.stderr


def test_a_gate_of_the_projects_file(ccm: Ccm, project: Path) -> None:
    """A command of a rollout runs in a push that names it: in no other, and in no preview."""
    (project / "ccm.yaml").write_text(PROJECT + "rollouts: {gated: {gate: touch asked}}\n")
    for words in (["validate"], ["config", "--rollout", "gated"], ["push", "--noop"], ["push"]):
        assert ccm.run(*words, "site.yaml").code == 0
    assert ccm.run("push", "--noop", "--rollout", "gated", "site.yaml").code == 0
    assert not (project / "asked").exists()
    done = ccm.run("push", "--rollout", "gated", "site.yaml")
    assert done.code == 0, done.output
    assert (project / "asked").exists()
