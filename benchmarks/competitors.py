"""The contestants: plain ssh (the floor), ccm, pyinfra. Each is a list of commands for one run."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .workload import Work

KEY_EXCHANGE = "curve25519-sha256"


@dataclass(frozen=True)
class Address:
    """Where one host is reached in this run; a delay proxy may stand in between."""

    name: str
    address: str
    port: int


@dataclass(frozen=True)
class Fleet:
    """The hosts of one run with the lab's key and known hosts, and a directory for files."""

    hosts: Sequence[Address]
    key_file: Path
    known_hosts: Path
    directory: Path

    def inventory(self, logical: int = 0) -> Path:
        """Write ccm's inventory; with ``logical`` that many names share the real hosts."""
        lines = [f"defaults: {{user: root, key_file: {self.key_file},"]
        lines += [f"  known_hosts: {self.known_hosts}}}", "hosts:"]
        for number in range(logical or len(self.hosts)):
            host = self.hosts[number % len(self.hosts)]
            name = f"logical{number}" if logical else host.name
            lines.append(f"  {name}: {{address: {host.address}, port: {host.port}}}")
        path = self.directory / f"hosts{logical}.yaml"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path


def floor(fleet: Fleet) -> list[list[str]]:
    """``ssh HOST true`` on all hosts at once."""
    options = ["-F", "none", "-i", str(fleet.key_file), "-o", "IdentitiesOnly=yes"]
    options += ["-o", f"KexAlgorithms={KEY_EXCHANGE}", "-o", "BatchMode=yes"]
    options += ["-o", f"UserKnownHostsFile={fleet.known_hosts}"]
    return [
        ["ssh", *options, "-p", str(host.port), f"root@{host.address}", "true"]
        for host in fleet.hosts
    ]


OWN = Path(sys.executable).with_name("ccm")
"""The ccm of this checkout."""

PREVIEW = "ccm --noop"
"""The same with nothing changed, as a contestant."""


def ccm(
    fleet: Fleet, work: Work, *options: str, logical: int = 0, program: Path = OWN
) -> list[list[str]]:
    """``ccm push`` as a user calls it."""
    site = fleet.directory / f"site{work.resources}.yaml"
    site.write_text(work.site(), encoding="utf-8")
    return [[str(program), "push", "-i", str(fleet.inventory(logical)), *options, str(site)]]


def pyinfra(fleet: Fleet, work: Work, program: Path) -> list[list[str]]:
    """pyinfra with as many workers as hosts."""
    deploy, inventory = fleet.directory / "deploy.py", fleet.directory / "inventory.py"
    deploy.write_text(work.deploy(), encoding="utf-8")
    rows = [
        (
            host.name,
            {
                "ssh_hostname": host.address,
                "ssh_port": host.port,
                "ssh_user": "root",
                "ssh_key": str(fleet.key_file),
                "ssh_known_hosts_file": str(fleet.known_hosts),
                "ssh_strict_host_key_checking": "accept-new",
            },
        )
        for host in fleet.hosts
    ]
    inventory.write_text(f"hosts = {rows!r}\n", encoding="utf-8")
    parallel = ["--parallel", str(len(rows))]
    return [[str(program), "-y", *parallel, str(inventory), str(deploy)]]
