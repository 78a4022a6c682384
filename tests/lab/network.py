"""One bridge per lab and a network namespace per host, with no way out: nothing is forwarded from
the bridge.

All names carry the lab's id, so several labs share a machine.
"""

from __future__ import annotations

import ipaddress
import json
import random
from dataclasses import dataclass
from pathlib import Path

from . import parameters
from .machine import LabError, run_tool

MAX_HOSTS = 240
_FIRST = 10


@dataclass(frozen=True)
class Network:
    """A lab's private network: its id and its /24, in which .1 is the controller."""

    lab: str
    subnet: ipaddress.IPv4Network

    @property
    def bridge(self) -> str:
        """The bridge's name."""
        return f"ccm{self.lab}"

    @property
    def gateway(self) -> str:
        """The controller's address in the lab, also the hosts' default route, where their packets
        end.
        """
        return str(self.subnet[1])

    def address(self, number: int) -> str:
        """Return the address of host `number`, counted from 0."""
        return str(self.subnet[_FIRST + number])

    def namespace(self, number: int) -> str:
        """Return the name of the network namespace of host `number`."""
        return f"ccm-{self.lab}-{number}"

    def link(self, number: int) -> str:
        """Return the name of the controller's end of the cable to a host."""
        return f"ccm{self.lab}h{number}"

    def create(self, count: int) -> None:
        """Create the bridge, and `count` namespaces cabled to it."""
        lines = [
            f"link add {self.bridge} type bridge",
            f"addr add {self.gateway}/24 dev {self.bridge}",
        ]
        lines += [f"netns add {self.namespace(number)}" for number in range(count)]
        for number in range(count):
            link = self.link(number)
            peer = f"peer name eth0 netns {self.namespace(number)}"
            lines.append(f"link add {link} type veth {peer}")
            lines.append(f"link set {link} master {self.bridge} up")
        run_tool(["ip", "-batch", "-"], stdin="\n".join([*lines, f"link set {self.bridge} up", ""]))
        for family, setting in (("ipv4", "forwarding"), ("ipv6", "forwarding")):
            path = Path(f"/proc/sys/net/{family}/conf/{self.bridge}/{setting}")
            if path.exists():
                path.write_text("0")
        for number in range(count):
            self._configure(number)

    def _configure(self, number: int) -> None:
        lines = [
            "link set lo up",
            f"addr add {self.address(number)}/24 dev eth0",
            "link set eth0 up",
            f"route add default via {self.gateway}",
            # The default route is there to be looked at; what takes it fails at once.
            f"rule add priority 100 to {self.subnet} lookup main",
            "rule add priority 200 unreachable",
        ]
        argv = ["ip", "-netns", self.namespace(number), "-batch", "-"]
        run_tool(argv, stdin="\n".join([*lines, ""]))

    def parameters(self, number: int) -> dict[str, bytes]:
        """Return the kernel's parameters of the network of host `number`, by path."""
        return parameters.of_namespace(self.namespace(number))

    def restore(self, number: int, values: dict[str, bytes]) -> None:
        """Give host `number` these parameters again, where they differ."""
        parameters.restore(self.namespace(number), values)

    def plug(self, number: int, connected: bool) -> None:
        """Connect host `number` to the bridge, or cut it off: its packets then vanish without an
        answer.
        """
        run_tool(["ip", "link", "set", self.link(number), "up" if connected else "down"])


def remove(lab: str) -> None:
    """Remove the bridge and the namespaces of a lab; those that are gone already are not missed."""
    for entry in sorted(Path("/run/netns").glob(f"ccm-{lab}-*")):
        run_tool(["ip", "netns", "delete", entry.name], check=False)
    for link in sorted(Path("/sys/class/net").glob(f"ccm{lab}*")):
        run_tool(["ip", "link", "delete", link.name], check=False)


def choose(lab: str) -> Network:
    """Return a network that nothing on this machine uses. Raises LabError if all are taken."""
    taken = _taken()
    candidates = [
        ipaddress.IPv4Network(f"10.{second}.{third}.0/24")
        for second in range(201, 255)
        for third in range(256)
    ]
    random.SystemRandom().shuffle(candidates)
    for subnet in candidates:
        if not any(subnet.overlaps(other) for other in taken):
            return Network(lab, subnet)
    raise LabError("no private network is free on this machine")


def _taken() -> list[ipaddress.IPv4Network]:
    found = []
    routes = json.loads(
        run_tool(["ip", "-j", "-4", "route", "show", "table", "all"]).stdout or "[]"
    )
    for route in routes:
        if route["dst"] != "default":
            found.append(ipaddress.IPv4Network(route["dst"], strict=False))
    for link in json.loads(run_tool(["ip", "-j", "-4", "addr"]).stdout or "[]"):
        for info in link.get("addr_info", []):
            found.append(
                ipaddress.IPv4Network(f"{info['local']}/{info['prefixlen']}", strict=False)
            )
    return found
