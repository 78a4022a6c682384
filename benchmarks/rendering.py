"""Measures what templates cost the controller: one with a loop, and one that lists the whole fleet.

    python -m benchmarks.rendering                       1,000 hosts with 100 files; 5,000 in a list
    python -m benchmarks.rendering --hosts 200 --listed 1000 --runs 3

The plans of all hosts are made, up to the bytes that would travel. Jinja2 alone renders the same
texts in a process of its own, with the same names. All take turns, each in a process of its own.
Needs no root, no host and no network.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from inventory import load
from orchestrator.expressions.inventory_view import InventoryView
from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.manifest import load_site
from orchestrator.planning import Planner, PlanOptions

from .report import machine

FILES = 100
LOOP = """\
# {{ Host.name }}, file {{ item }}
{% for site in Data.sites %}
{% if site.on %}
server { name {{ site.name }}.{{ Host.name }}; port {{ site.port }}; }
{% endif %}
{% endfor %}
"""
LIST = "{% for host in Hosts.values() %}\n{{ host.address }} {{ host.name }}\n{% endfor %}\n"
NONE = "127.0.0.1 localhost\n"
SITES = [{"name": f"site{n}", "port": 8000 + n, "on": n % 3 > 0} for n in range(12)]
KINDS = ("jinja2", "loop", "none", "list")


def write(directory: Path, hosts: int, listed: int) -> None:
    """The sites and inventories of all kinds."""
    common = 'owner: root, group: root, mode: "0644"'
    loop = f"content: \"{{{{ template('loop.j2') }}}}\", {common}"
    listing = f"content: \"{{{{ template('hosts.j2') }}}}\", {common}"
    (directory / "loop.yaml").write_text(
        f"data: {{sites: {json.dumps(SITES)}, files: {json.dumps(list(range(FILES)))}}}\n"
        "ccm:\n  resources:\n    - file:\n"
        f'        - "/etc/f{{{{ item }}}}": {{foreach: Data.files, {loop}}}\n'
    )
    (directory / "list.yaml").write_text(
        f"ccm: {{resources: [{{file: [/etc/hosts: {{{listing}}}]}}]}}\n"
    )
    (directory / "loop.j2").write_text(LOOP)
    (directory / "hosts.j2").write_text(LIST)
    (directory / "none.yaml").write_text(
        (directory / "list.yaml").read_text().replace("hosts.j2", "none.j2")
    )
    (directory / "none.j2").write_text(NONE)
    for name, count in (("few", hosts), ("many", listed)):
        found = {f"host{n:05}": {"address": f"10.0.{n >> 8}.{n & 255}"} for n in range(count)}
        (directory / f"{name}.json").write_text(json.dumps({"hosts": found}))


def planned(directory: Path, kind: str) -> float:
    """Seconds of processor time for the plans of all hosts, and for what is read before."""
    began = time.process_time()
    inventory = load([str(directory / ("few.json" if kind == "loop" else "many.json"))])
    planner = Planner(load_site(directory / f"{kind}.yaml"), PlanOptions(environ={}))
    planner.see(InventoryView.of(inventory))
    size = 0
    for host in inventory.hosts.values():
        plan = planner.plan(host, HostFacts({"host": {"info": {}}}))
        failed = [item.deferred_error for item in plan.items if item.deferred_error]
        if failed:
            raise RuntimeError(failed[0])
        size += len(plan.payload({}))
    if not size:
        raise RuntimeError("nothing was planned")
    return time.process_time() - began


def alone(directory: Path) -> float:
    """Seconds of processor time of Jinja2 for the same texts as ``loop``."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    names = list(load([str(directory / "few.json")]).hosts)
    began = time.process_time()
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True, autoescape=False
    )
    template = environment.from_string((directory / "loop.j2").read_text())
    for name in names:
        for item in range(FILES):
            template.render(Host={"name": name}, Data={"sites": SITES}, item=item)
    return time.process_time() - began


def one(directory: Path, kind: str) -> tuple[float, float]:
    """Seconds of processor time, and the peak of memory in MiB, of a process of its own."""
    words = [sys.executable, "-m", "benchmarks.rendering", "--one", kind, str(directory)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    seconds, peak = json.loads(done.stdout)
    return seconds, peak


def main() -> int:
    """Print the figures; 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rendering")
    parser.add_argument("--hosts", type=int, default=1000, help="hosts with 100 files each")
    parser.add_argument("--listed", type=int, default=5000, help="hosts in a list of all hosts")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--one", nargs=2, metavar=("KIND", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        kind, given = options.one
        seconds = alone(Path(given)) if kind == "jinja2" else planned(Path(given), kind)
        print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
        return 0
    taken: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        write(directory, options.hosts, options.listed)
        for _ in range(options.runs):
            for kind in KINDS:
                taken[kind].append(one(directory, kind))
    cpu = {kind: median(seconds for seconds, _ in taken[kind]) for kind in KINDS}
    peak = {kind: median(peaks for _, peaks in taken[kind]) for kind in KINDS}
    files = options.hosts * FILES / 1000
    print(f"{machine()}\n")
    print(
        f"- {options.hosts:,} hosts with {FILES} files of one template with a loop: "
        f"{cpu['loop'] / files:.3f} ms of CPU per file, of which Jinja2 alone takes "
        f"{cpu['jinja2'] / files:.3f} ms"
    )
    print(
        f"- {options.listed:,} hosts, a file that lists all of them: "
        f"{cpu['list'] / cpu['none']:.2f} times the CPU ({cpu['list']:.2f} s) and "
        f"{peak['list'] / peak['none']:.2f} times the memory ({peak['list']:.0f} MiB) of a file "
        "that lists none"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
