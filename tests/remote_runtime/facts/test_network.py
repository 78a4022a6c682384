"""Which address is the default one."""

from pathlib import Path
from typing import Any

import pytest

from remote_runtime.facts import network

from .recorded import RecordedMachine, load

HEAD = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
ETH0 = {"index": 2, "name": "eth0", "mtu": 1500, "flags": ["up"], "mac": "02:00:00:00:00:02"}
ETH1 = {"index": 3, "name": "eth1", "mtu": 1500, "flags": ["up"], "mac": "02:00:00:00:00:03"}
ADDRESS0 = {"index": 2, "addr": "192.0.2.5/24"}
ADDRESS1 = {"index": 3, "addr": "198.51.100.5/24"}


def default_ipv4(directory: Path, addresses: list[dict[str, Any]], *routes: str) -> str:
    """Return the default address of a machine with these addresses and IPv4 routes."""
    recording = load("debian12.yaml")
    recording["links"] = [ETH0, ETH1]
    recording["addresses"] = addresses
    recording["files"]["proc/net/route"] = HEAD + "".join(routes)
    return str(network.read(RecordedMachine(recording, directory))["default_ipv4"])


def route(interface: str, metric: int = 0, flags: str = "0003", mask: str = "00000000") -> str:
    """Return one line of /proc/net/route towards everywhere."""
    return f"{interface}\t00000000\t00000000\t{flags}\t0\t0\t{metric}\t{mask}\t0\t0\t0\n"


@pytest.mark.parametrize(
    ("routes", "expected"),
    [
        ([route("eth0"), route("eth1")], "192.0.2.5"),
        ([route("eth0", 20), route("eth1", 10)], "198.51.100.5"),
        ([route("eth0", -1), route("eth1", 4096)], "198.51.100.5"),
        ([route("eth0", flags="0203"), route("eth1", 10)], "198.51.100.5"),
        ([route("eth0", flags="0002"), route("eth1", 10)], "198.51.100.5"),
        ([route("eth0", mask="00000080")], ""),
        ([], ""),
    ],
    ids=["first", "metric", "largest metric", "reject", "down", "half of the world", "none"],
)
def test_the_default_route_decides(routes: list[str], expected: str, tmp_path: Path) -> None:
    """The usable default route with the smallest metric names the interface."""
    assert default_ipv4(tmp_path, [ADDRESS0, ADDRESS1], *routes) == expected


def test_an_interface_without_an_address(tmp_path: Path) -> None:
    """An interface without an address of its own sends with one of another interface."""
    assert default_ipv4(tmp_path, [ADDRESS1], route("eth0")) == "198.51.100.5"


def test_only_special_addresses(tmp_path: Path) -> None:
    """A link-local address is no default address."""
    assert default_ipv4(tmp_path, [{"index": 2, "addr": "169.254.1.1/16"}], route("eth0")) == ""


@pytest.mark.parametrize(
    "address",
    [
        "127.0.1.1/8",
        "169.254.3.4/16",
        "224.0.0.5/32",
        "239.1.1.1/32",
        "0.0.0.0/8",
        "::1/128",
        "fe80::1/64",
        "febf::1/64",
        "ff02::1/128",
    ],
)
def test_addresses_that_no_other_host_can_use(address: str, tmp_path: Path) -> None:
    """Loopback, link-local and multicast addresses stand at their interface only."""
    recording = load("debian12.yaml")
    recording["links"], recording["addresses"] = [ETH0], [{"index": 2, "addr": address}]
    found = network.read(RecordedMachine(recording, tmp_path))
    assert found["addresses"] == []
    assert found["interfaces"][0]["addrs"] == [{"addr": address}]


@pytest.mark.parametrize("address", ["10.1.2.3/8", "fc00::1/64", "fec0::1/64", "2001:db8::1/64"])
def test_addresses_that_other_hosts_can_use(address: str, tmp_path: Path) -> None:
    """Private and global addresses are listed."""
    recording = load("debian12.yaml")
    recording["links"], recording["addresses"] = [ETH0], [{"index": 2, "addr": address}]
    (found,) = network.read(RecordedMachine(recording, tmp_path))["addresses"]
    assert found["address"] == address.partition("/")[0]
    assert found["ipv4"] == (":" not in address)
