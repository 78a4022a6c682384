"""The facts of the machine that runs the tests, compared with what others say about it."""

import json
import os
import shutil
import socket
import subprocess
import time

import pytest

from remote_runtime.facts import Gathered, gather
from tests.calls import calls_of

from .recorded import unprivileged

pytestmark = pytest.mark.skipif(os.uname().sysname != "Linux", reason="targets are Linux")


@pytest.fixture(scope="module")
def gathered() -> Gathered:
    """The facts of this machine, gathered once."""
    return gather(30)


def test_everything_is_there(gathered: Gathered) -> None:
    """On a Linux machine no family is unavailable."""
    assert gathered.unavailable == {}
    assert list(gathered.facts) == ["host", "cpu", "memory", "network", "partition"]


def test_host(gathered: Gathered) -> None:
    """The host's facts agree with uname, the clock and the process list."""
    info, kernel = gathered.facts["host"]["info"], os.uname()
    assert info["hostname"] == socket.gethostname()
    assert (info["kernelVersion"], info["kernelArch"]) == (kernel.release, kernel.machine)
    assert info["os"] == "linux"
    assert abs(time.clock_gettime(time.CLOCK_BOOTTIME) - info["uptime"]) < 60
    assert info["procs"] >= 1


def test_cpu(gathered: Gathered) -> None:
    """There is one entry for each logical processor that is online."""
    assert len(gathered.facts["cpu"]["info"]) == os.sysconf("SC_NPROCESSORS_ONLN")


def test_memory(gathered: Gathered) -> None:
    """The total is the one that sysconf knows."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert gathered.facts["memory"]["virtual"]["total"] == total


@pytest.mark.skipif(not shutil.which("ip"), reason="needs iproute2")
def test_network(gathered: Gathered) -> None:
    """Interfaces and addresses are the ones that ip shows."""
    shown = json.loads(subprocess.run(["ip", "-j", "addr"], stdout=subprocess.PIPE).stdout)
    expected = {
        entry["ifname"]: (
            entry["ifindex"],
            entry["mtu"],
            sorted(f"{a['local']}/{a['prefixlen']}" for a in entry["addr_info"]),
        )
        for entry in shown
    }
    found = {
        entry["name"]: (
            entry["index"],
            entry["mtu"],
            sorted(address["addr"] for address in entry["addrs"]),
        )
        for entry in gathered.facts["network"]["interfaces"]
    }
    assert found == expected


def test_default_ipv4_is_what_the_kernel_sends_with(gathered: Gathered) -> None:
    """The default address is the one that a socket towards the world is bound to."""
    default = gathered.facts["network"]["default_ipv4"]
    if not default:
        pytest.skip("this machine has no IPv4 default route")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("198.51.100.1", 9))  # sends nothing
        assert probe.getsockname()[0] == default


def test_partition(gathered: Gathered) -> None:
    """The space of the root is what statvfs says."""
    usage = {entry["path"]: entry for entry in gathered.facts["partition"]["usage"]}
    space = os.statvfs("/")
    assert usage["/"]["total"] == space.f_blocks * space.f_frsize
    assert usage["/"]["inodesTotal"] == space.f_files
    assert 0 <= usage["/"]["usedPercent"] <= 100


def test_without_privileges(gathered: Gathered) -> None:
    """A user without privileges gets every family too, the same interfaces and processors."""
    with unprivileged():
        found = gather(30)
    assert found.unavailable == {}
    assert found.facts["network"] == gathered.facts["network"]
    assert len(found.facts["cpu"]["info"]) == len(gathered.facts["cpu"]["info"])


def test_it_is_cheap() -> None:
    """Gathering is a small part of the work of a whole run."""
    gather()
    assert calls_of(gather) < 2000
