"""Every recorded machine tells the facts that its file expects."""

from pathlib import Path
from typing import Any

import pytest

from remote_runtime.facts import gather

from .recorded import MACHINES, RecordedMachine, load

NAMES = sorted(path.name for path in MACHINES.glob("*.yaml"))

SHAPE = {
    "host.info": {
        "hostname": str,
        "uptime": int,
        "bootTime": int,
        "procs": int,
        "os": str,
        "platform": str,
        "platformFamily": str,
        "platformVersion": str,
        "kernelVersion": str,
        "kernelArch": str,
        "virtualizationSystem": str,
        "virtualizationRole": str,
        "hostId": str,
    },
    "cpu.info.0": {
        "cpu": int,
        "vendorId": str,
        "family": str,
        "model": str,
        "stepping": int,
        "physicalId": str,
        "coreId": str,
        "cores": int,
        "modelName": str,
        "mhz": float,
        "cacheSize": int,
        "flags": list,
        "microcode": str,
    },
    "memory.virtual": {
        "total": int,
        "available": int,
        "used": int,
        "usedPercent": float,
        "free": int,
        "active": int,
        "inactive": int,
        "buffers": int,
        "cached": int,
        "shared": int,
        "slab": int,
        "swapTotal": int,
        "swapFree": int,
    },
    "memory.swap.info": {"total": int, "used": int, "free": int, "usedPercent": float},
    "network": {"interfaces": list, "addresses": list, "default_ipv4": str, "default_ipv6": str},
    "network.interfaces.0": {
        "index": int,
        "mtu": int,
        "name": str,
        "hardwareAddr": str,
        "flags": list,
        "addrs": list,
    },
    "network.addresses.0": {"interface": str, "address": str, "ipv4": bool, "default": bool},
    "partition": {"partitions": list, "usage": list},
    "partition.partitions.0": {"device": str, "mountpoint": str, "fstype": str, "opts": list},
    "partition.usage.0": {
        "path": str,
        "fstype": str,
        "total": int,
        "free": int,
        "used": int,
        "usedPercent": float,
        "inodesTotal": int,
        "inodesUsed": int,
        "inodesFree": int,
        "inodesUsedPercent": float,
    },
}


def at(facts: Any, path: str) -> Any:
    """Return the value at a dotted path."""
    for step in path.split("."):
        facts = facts[int(step)] if isinstance(facts, list) else facts[step]
    return facts


@pytest.mark.parametrize("name", NAMES)
def test_recorded_machine(name: str, tmp_path: Path) -> None:
    """A recorded machine tells exactly the facts that stand in its file."""
    recording = load(name)
    gathered = gather(30, RecordedMachine(recording, tmp_path))
    assert gathered.unavailable == {}
    found = {path: at(gathered.facts, path) for path in recording["expected"]}
    assert found == recording["expected"]


@pytest.mark.parametrize("name", NAMES)
def test_shape(name: str, tmp_path: Path) -> None:
    """Every family has exactly the promised names with values of the promised types."""
    facts = gather(30, RecordedMachine(load(name), tmp_path)).facts
    for path, shape in SHAPE.items():
        assert {key: type(value) for key, value in at(facts, path).items()} == shape, path


def test_missing_files_cost_their_family_only(tmp_path: Path) -> None:
    """A family whose source cannot be read is unavailable with the reason, the others are there."""
    machine = RecordedMachine(load("debian12.yaml"), tmp_path)
    (tmp_path / "proc/meminfo").unlink()
    (tmp_path / "proc/cpuinfo").write_text("nothing of use\n")
    gathered = gather(30, machine)
    assert sorted(gathered.unavailable) == ["cpu", "memory"]
    assert "No such file" in gathered.unavailable["memory"]
    assert "lists no processor" in gathered.unavailable["cpu"]
    assert sorted(gathered.facts) == ["host", "network", "partition"]


def test_names_that_are_not_text(tmp_path: Path) -> None:
    """A mount point of bytes that are not UTF-8 is asked for as it is and told as text."""
    recording = load("debian12.yaml")
    recording["space"] = {"/m\udcff \\x": [1, 10, 5, 5, 2, 1]}
    machine = RecordedMachine(recording, tmp_path)
    line = b"28 1 8:1 / /m\xff\\040\\134x rw - ext4 /dev/sda1 rw\n"
    (tmp_path / "proc/self/mountinfo").write_bytes(line)
    partition = gather(30, machine).facts["partition"]
    assert [entry["mountpoint"] for entry in partition["partitions"]] == ["/m\ufffd \\x"]
    assert [entry["path"] for entry in partition["usage"]] == ["/m\ufffd \\x"]
