"""A lab as a whole: what it writes, and that nothing of it is left, however it ends."""

from __future__ import annotations

import glob
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from . import Lab, LabError, record

_TOP = Path(__file__).resolve().parents[2]
_CHILD = """
import signal, sys, time
from tests.lab import Lab
# A suite that runs in the background passes on a SIGINT that is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
with Lab(count=1) as lab:
    print(lab.id, lab.directory, flush=True)
    {action}
"""


def traces(lab: str, directory: Path) -> list[str]:
    """Return all that is left of a lab on this machine."""
    found = [
        line for line in Path("/proc/mounts").read_text().splitlines() if str(directory) in line
    ]
    for pattern in (
        f"/run/netns/ccm-{lab}-*",
        f"/sys/class/net/ccm{lab}*",
        f"/sys/fs/cgroup/**/ccm-lab-{lab}",
        f"/run/systemd/nspawn/*/ccm-{lab}-*",
        f"/run/ccm-lab/{lab}*",
    ):
        # glob walks past what vanishes under it, which Path.glob of some versions does not
        found += glob.glob(pattern, recursive=True)
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = process.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if f"ccm-{lab}-" in command or command.strip().endswith(f"janitor {lab}"):
            found.append(command)
    return found + ([str(directory)] if directory.exists() else [])


def test_the_inventory_is_in_the_form_that_ccm_reads(lab: Lab, tmp_path: Path) -> None:
    """Addresses, key, known_hosts and user are there; what is asked for is added."""
    path = lab.inventory(
        tmp_path / "hosts.yaml",
        groups={"web": ["web1", "web2"]},
        hosts={"web3": {"vars": {"role": "db"}}},
        user="deploy",
        become=True,
    )
    content = yaml.safe_load(path.read_text())
    assert content["defaults"] == {
        "user": "deploy",
        "become": True,
        "key_file": str(lab.key_file),
        "known_hosts": str(lab.known_hosts),
    }
    assert content["hosts"]["web1"] == {"address": lab.hosts["web1"].address}
    assert content["hosts"]["web3"]["vars"] == {"role": "db"}
    assert content["groups"] == {"web": {"hosts": ["web1", "web2"]}}


@pytest.mark.usefixtures("needs_lab")
def test_nothing_is_left_after_the_block() -> None:
    """Processes, mounts, networks, control groups and files go with the lab, at once."""
    with Lab(names=["only"]) as lab:
        lab.hosts["only"].run("systemd-run --unit=stays sleep 1000")
        assert len(traces(lab.id, lab.directory)) > 5
    assert traces(lab.id, lab.directory) == []
    lab.close()


@pytest.mark.usefixtures("needs_lab")
def test_hosts_on_a_disk() -> None:
    """Where it is wanted, what a host writes goes to the disk that has the temporary files."""
    with Lab(names=["only"], on_disk=True) as lab:
        lab.hosts["only"].run("echo x > /root/file")
        written = list(lab.directory.rglob("root/file"))
        assert written
        assert {path.stat().st_dev for path in written} & {lab.directory.parent.stat().st_dev}
    assert traces(lab.id, lab.directory) == []


@pytest.mark.usefixtures("needs_lab")
def test_nothing_is_left_when_a_host_cannot_be_made() -> None:
    """An error on the way up removes what is there by then, and is not hidden."""

    def fail(root: Path) -> None:
        raise ValueError(f"cannot prepare {root.name}")

    lab = Lab(names=["good", "bad"], prepare={"bad": fail})
    with pytest.raises(ValueError, match="cannot prepare root"), lab:
        pytest.fail("the block was entered")
    assert traces(lab.id, lab.directory) == []


@pytest.mark.usefixtures("needs_lab")
@pytest.mark.parametrize(
    ("action", "number"),
    [
        ("time.sleep(60)", signal.SIGKILL),
        ("time.sleep(60)", signal.SIGTERM),
        ("time.sleep(60)", signal.SIGINT),
        ("__import__('os')._exit(0)", None),
    ],
)
def test_nothing_is_left_when_the_owner_dies(action: str, number: signal.Signals | None) -> None:
    """However the process ends that made a lab, the lab is gone within seconds."""
    argv = [sys.executable, "-c", _CHILD.format(action=action)]
    with subprocess.Popen(
        argv, cwd=_TOP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdout is not None
        lab, directory = child.stdout.readline().split()
        if number is not None:
            child.send_signal(number)
        child.wait(timeout=30)
    deadline = time.monotonic() + 15
    while (left := traces(lab, Path(directory))) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == []


@pytest.mark.usefixtures("needs_lab")
def test_a_lab_whose_janitor_died_too_is_swept_later(lab: Lab) -> None:
    """`clean`, and the next lab, remove what nobody else could, and nothing that is in use."""
    argv = [sys.executable, "-c", _CHILD.format(action="time.sleep(60)")]
    with subprocess.Popen(argv, cwd=_TOP, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        left, directory = child.stdout.readline().split()
        subprocess.run(["pkill", "-KILL", "-f", f"tests.lab janitor {left}$"], check=True)
        child.kill()
    assert traces(left, Path(directory)) != []
    done = subprocess.run(
        [sys.executable, "-m", "tests.lab", "clean"], cwd=_TOP, capture_output=True, text=True
    )
    assert f"removed lab {left}" in done.stdout
    assert traces(left, Path(directory)) == []
    # Labs of other tests beside this one may come and go meanwhile.
    assert lab.id in {entry.lab for entry in record.load_all()}
    assert lab.hosts["web1"].run("systemctl is-active ssh").stdout == "active\n"


@pytest.mark.usefixtures("needs_lab")
def test_two_labs_live_side_by_side(lab: Lab) -> None:
    """A second lab with the same names is another network, and its end leaves the first alone."""
    with Lab(names=["web1"]) as other:
        assert other.hosts["web1"].address != lab.hosts["web1"].address
        other.hosts["web1"].write("/srv/other", "x")
    assert lab.hosts["web1"].run("systemctl is-active ssh").stdout == "active\n"
    assert not lab.hosts["web1"].exists("/srv/other")


def test_impossible_labs_are_refused_before_anything_is_made() -> None:
    """No host, two hosts of one name, and a preparation for nobody are errors."""
    with pytest.raises(LabError, match="1 to 240 hosts"):
        Lab(count=0)
    with pytest.raises(LabError, match="a name of its own"):
        Lab(names=["same", "same"])
    with pytest.raises(LabError, match="no host is called db1"):
        Lab(names=["web1"], prepare={"db1": lambda root: None})


def test_unreadable_records_are_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A record that is no record does not keep labs from being listed."""
    monkeypatch.setattr(record, "STATE", tmp_path)
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "b.json").write_text(json.dumps({"lab": "b"}))
    assert record.load_all() == []
    assert os.listdir(tmp_path)
