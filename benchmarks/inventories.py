"""What it takes to load an inventory of 60,000 hosts and select of it; needs no lab.

python -m benchmarks.inventories
"""

import json
import statistics
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from .command_timing import Sample, run

HOSTS = 60_000
ROLES, SITES = ("web", "db", "cache", "queue", "batch", "edge"), ("fra", "ams", "lon", "nyc", "sin")
END_AT_ONCE = "; import os; os._exit(0)"  # to take it all to pieces is no part of the work
LOAD = "import inventory, sys; i = inventory.load(sys.argv[1]); i.select('prod:&fra:!host00010*')"
COMPOSE = "import sys, yaml; n = yaml.compose(open(sys.argv[1]), Loader=yaml.CSafeLoader)"
FILES = {"JSON": "hosts.json", "Ansible's list": "list.json", "YAML": "hosts.yaml"}


def documented(hosts: int = HOSTS) -> dict[str, Any]:
    """An inventory in the documented form: an address, a port and three variables each."""
    found = {
        f"host{n:05d}.example.com": {
            "address": f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}",
            "port": 22,
            "vars": {"rack": f"r{n % 400}", "slot": n % 40, "tags": ["a", "b"]},
        }
        for n in range(hosts)
    }
    names = list(found)
    groups: dict[str, Any] = {
        name: {"vars": {"of": name}, "hosts": names[n :: len(kind)]}
        for kind in (ROLES, SITES)
        for n, name in enumerate(kind)
    }
    groups["prod"] = {"children": list(ROLES)}
    return {"defaults": {"user": "root"}, "hosts": found, "groups": groups}


def listed(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same as ``ansible-inventory --list`` prints it."""
    variables = {
        name: {"ansible_host": host["address"], "ansible_port": host["port"], **host["vars"]}
        for name, host in data["hosts"].items()
    }
    return {"_meta": {"hostvars": variables}, **data["groups"]}


def write(directory: Path) -> None:
    """All forms of the inventory."""
    data = documented()
    (directory / FILES["JSON"]).write_text(json.dumps(data), encoding="utf-8")
    text = json.dumps(listed(data), indent=4)
    (directory / FILES["Ansible's list"]).write_text(text, encoding="utf-8")
    with (directory / FILES["YAML"]).open("w", encoding="utf-8") as file:
        yaml.dump(data, file, Dumper=yaml.CSafeDumper, default_flow_style=None, sort_keys=False)


def rows(directory: Path, runs: int) -> list[str]:
    """One line per form of the inventory, medians of whole commands in turn."""
    with ProcessPoolExecutor(1) as apart:  # a child begins with the peak memory of who starts it
        apart.submit(write, directory).result()
    entries = {form: (LOAD, name) for form, name in FILES.items()}
    entries["`yaml.compose` alone"] = (COMPOSE, "hosts.yaml")
    samples: dict[str, list[Sample]] = {form: [] for form in entries}
    for _ in range(runs):
        for form, (program, name) in entries.items():
            command = [sys.executable, "-c", program + END_AT_ONCE, str(directory / name)]
            samples[form].append(run([command], lambda: 0.0, cwd=Path(__file__).parent.parent))
    return [
        f"- {HOSTS:,} hosts, {form}: {statistics.median(s.cpu for s in found):.2f} s of CPU, "
        f"peak {max(s.peak_mib for s in found):.0f} MiB"
        for form, found in samples.items()
    ]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="ccm-benchmark-") as scratch:
        print("\n".join(rows(Path(scratch), 3)))
