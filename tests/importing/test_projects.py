"""Each project is proved on a booted host in both orders, and the two hosts are compared."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.importing import mirror, snapshot
from tests.importing.project import PROJECTS, Project
from tests.lab import Host, Lab
from tests.push.command import Ccm

_QUICK = ("users",)
"""Projects that are proved in each run; the others are in the long form."""


def _params(projects: tuple[Project, ...]) -> list[object]:
    return [
        pytest.param(one, id=one.name, marks=() if one.name in _QUICK else pytest.mark.long)
        for one in projects
    ]


@pytest.fixture(scope="module")
def lab(needs_lab: None) -> Iterator[Lab]:
    """One host, on a disk: Ansible's backups want the attributes of its file system."""
    with Lab(names=["web1"], on_disk=True) as opened:
        yield opened


@pytest.fixture
def host(lab: Lab) -> Host:
    """The host, as new."""
    lab.hosts["web1"].reset()
    return lab.hosts["web1"]


def _ccm(tmp_path: Path, lab: Lab) -> Ccm:
    home = tmp_path / "home/.ssh"
    home.mkdir(parents=True)
    (home / "known_hosts").write_text(lab.known_hosts.read_text())
    return Ccm(
        tmp_path,
        {
            "ANSIBLE_SSH_COMMON_ARGS": f"-o UserKnownHostsFile={lab.known_hosts}",
            "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_HOME": str(tmp_path / "ansible"),
        },
    )


def _run(ccm: Ccm, *words: str) -> subprocess.CompletedProcess[str]:
    """Run ccm with more time than other commands have: Ansible is slow on a busy machine."""
    return subprocess.run(
        ccm.argv(*words),
        capture_output=True,
        text=True,
        timeout=1500,
        env=ccm.environment,
        cwd=ccm.scratch,
        check=False,
    )


def _missing(project: Project) -> str:
    """The collections that Ansible does not have here."""
    words = ["ansible-galaxy", "collection", "list"]
    if not project.collections:
        return ""
    listed = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    return ", ".join(one for one in project.collections if one not in listed)


@pytest.mark.begun_first
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("project", _params(PROJECTS))
def test_a_converted_project_makes_the_same_host(
    project: Project, lab: Lab, host: Host, tmp_path: Path
) -> None:
    """Ansible's host needs nothing of ccm, ccm's host nothing of Ansible, and both are equal."""
    ccm = _ccm(tmp_path, lab)
    playbook = project.copy(tmp_path / "original", host, lab)
    words = ("import", "ansible", str(playbook), "-o")
    if missing := _missing(project):
        done = ccm.run(*words, str(tmp_path / "site"))
        assert done.code == 0, done.output
        checked = ccm.run("validate", str(tmp_path / "site/site.yaml"))
        assert checked.code == 0, checked.output
        pytest.skip(f"converted and validated; not applied without {missing}")
    found: dict[str, snapshot.Snapshot] = {}
    packages = mirror.NAMES if project.installs else mirror.TOOLS
    with mirror.serving(host, packages) as url:
        for first in ("ansible", "ccm"):
            if found:
                host.reset()
            project.prepare(host, url)
            # The path of a socket is short; a connection does not outlive its host.
            sockets = lab.directory / f"cp-{project.name}-{first}"
            ccm.environment["ANSIBLE_SSH_CONTROL_PATH_DIR"] = str(sockets)
            options = ("--prove", "--first", first, "-l", host.name, "--yes")
            proved = _run(ccm, *words, str(tmp_path / f"site-{first}"), *options)
            assert proved.returncode == 0, proved.stdout + proved.stderr
            found[first] = snapshot.take(host)
    by_ansible, by_ccm = found["ansible"], found["ccm"]
    assert snapshot.differences(by_ansible, by_ccm, project.ignored) == []
