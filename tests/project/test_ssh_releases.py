"""The long form of the transport's tests, without its installations."""

import subprocess
from pathlib import Path

import pytest

from orchestrator.transport.ssh_internals import CHECKED_RELEASES
from tests.project import ssh_releases


def test_the_oldest_the_capped_and_the_newest_are_run_each_once() -> None:
    """The newest is the capped one until the index has another."""
    capped = {library: known[-1] for library, known in CHECKED_RELEASES.items()}
    assert [*ssh_releases.releases(capped)] == ["oldest", "capped"]
    found = ssh_releases.releases({**capped, "paramiko": "9.0.0"})
    assert [*found] == ["oldest", "capped", "newest"]
    assert "paramiko==9.0.0" in found["newest"]


def test_the_newest_release_is_read_from_what_pip_writes() -> None:
    listing = "paramiko (6.1.0)\nAvailable versions: 6.1.0, 6.0.0\n  INSTALLED: 5.1.0\n"
    assert ssh_releases.newest_of("paramiko", listing) == "6.1.0"
    with pytest.raises(ValueError, match="no release of paramiko"):
        ssh_releases.newest_of("paramiko", "")


def test_an_environment_has_what_this_one_has(tmp_path: Path) -> None:
    """And this checkout in front."""
    python = ssh_releases.environment(tmp_path / "venv", [])
    program = "import orchestrator, paramiko, pytest; print(orchestrator.__file__)"
    ran = subprocess.run([python, "-c", program], check=True, stdout=subprocess.PIPE, text=True)
    assert Path(ran.stdout.strip()).parents[1] == ssh_releases.ROOT
