"""The inventory of the studio while its files and programs change."""

import os
import threading
from pathlib import Path

import pytest

from orchestrator.studio.pages import hosts
from orchestrator.studio.pages.hosts import FleetHosts

PROGRAM = "#!/bin/sh\n{body}\ncat '{names}'\n"


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "PAUSE", 0.0)
    monkeypatch.setattr(hosts, "PROGRAM_PAUSE", 0.0)


def _listed(*names: str) -> str:
    members = ", ".join(f'"{name}"' for name in names)
    return f'{{"web": {{"hosts": [{members}]}}}}'


def _names(fleet: FleetHosts) -> list[str]:
    return sorted(fleet.names() or ())


def _loaded(fleet: FleetHosts) -> list[str]:
    """The names after a look at the inventory and the end of the load that it began."""
    _finish()  # a load that an earlier look began, during which no other begins
    fleet.names()
    _finish()
    return _names(fleet)


def _finish() -> None:
    for thread in threading.enumerate():
        if thread.name == "inventory":
            thread.join()


def _program(tmp_path: Path, body: str = "") -> Path:
    """A new file, as one that is running reads the rest of its own."""
    path, new = tmp_path / "inventory", tmp_path / "new"
    new.write_text(PROGRAM.format(body=body, names=tmp_path / "names"))
    new.chmod(0o700)
    new.replace(path)
    return path


def test_a_program_is_run_again(tmp_path: Path) -> None:
    """Hosts and groups that a program prints later are seen without a restart."""
    (tmp_path / "names").write_text(_listed("web1"))
    fleet = FleetHosts([str(_program(tmp_path))], tmp_path)
    assert _names(fleet) == ["web1"]
    (tmp_path / "names").write_text(_listed("web1", "web2"))
    assert _loaded(fleet) == ["web1", "web2"]
    assert sorted(fleet.of_groups(("web",))) == ["web1", "web2"]


def test_pages_do_not_wait_for_a_program(tmp_path: Path) -> None:
    """While a program runs again, the hosts are those that it printed before."""
    (tmp_path / "names").write_text(_listed("web1"))
    path = _program(tmp_path)
    fleet = FleetHosts([str(path)], tmp_path)
    assert _names(fleet) == ["web1"]
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "names").write_text(_listed("web2"))
    _program(tmp_path, f"read x < '{tmp_path / 'pipe'}'")
    assert _names(fleet) == ["web1"]
    (tmp_path / "pipe").write_text("go\n")
    _program(tmp_path)
    assert _loaded(fleet) == ["web2"]


def test_a_program_that_changes_while_it_runs_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the next look, though the pause between two runs is not over."""
    (tmp_path / "names").write_text(_listed("web1"))
    fleet = FleetHosts([str(_program(tmp_path))], tmp_path)
    assert _names(fleet) == ["web1"]
    monkeypatch.setattr(hosts, "PROGRAM_PAUSE", 1000.0)
    os.mkfifo(tmp_path / "pipe")
    _program(tmp_path, f"read x < '{tmp_path / 'pipe'}'\necho '{_listed('web2')}'\nexit")
    assert _names(fleet) == ["web1"]
    with (tmp_path / "pipe").open("w") as pipe:  # waits until the program reads
        (tmp_path / "names").write_text(_listed("web3"))
        _program(tmp_path)
        assert _names(fleet) == ["web1"]
        pipe.write("go\n")
    for thread in threading.enumerate():
        if thread.name == "inventory":
            thread.join()
    assert _loaded(fleet) == ["web3"]


def test_a_program_that_failed_is_run_again(tmp_path: Path) -> None:
    """Its problem goes once it works, and the last good hosts stay meanwhile."""
    (tmp_path / "names").write_text(_listed("web1"))
    fleet = FleetHosts([str(_program(tmp_path))], tmp_path)
    assert _names(fleet) == ["web1"]
    (tmp_path / "names").unlink()
    assert _loaded(fleet) == ["web1"]
    assert "exited with 1" in fleet.problem
    (tmp_path / "names").write_text(_listed("web3"))
    assert _loaded(fleet) == ["web3"]
    assert fleet.problem == ""


def test_a_file_that_failed_is_read_again(tmp_path: Path) -> None:
    """A file that could not be read is whole again as soon as its cause is gone."""
    path = tmp_path / "hosts.yaml"
    path.write_text("hosts:\n  web1: {}\n  bad name: {}\n")
    fleet = FleetHosts([str(path)], tmp_path)
    assert _names(fleet) == []
    assert fleet.problem
    path.write_text("hosts:\n  web1: {}\n")
    assert _names(fleet) == ["web1"]
    assert fleet.problem == ""
