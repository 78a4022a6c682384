"""Measures ccm against plain ssh and pyinfra on lab hosts, in one run.

    python -m benchmarks                           the standard: 16 hosts, 100 resources, 5 runs
    python -m benchmarks --hosts 4 --runs 3        smaller
    python -m benchmarks --skip-pyinfra            the floor and ccm alone
    python -m benchmarks --tmpfs                   hosts on a tmpfs instead of a disk
    python -m benchmarks --against OTHER/ccm       another checkout's, in turns with this one
    python -m benchmarks --write docs/benchmarks.md

Needs root on Linux (it boots the hosts) and a ``ccm`` beside this Python; installs pyinfra into a
virtual environment of its own in the scratch directory.
"""

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.lab import DelayProxy, Lab, available

from . import competitors, controller_costs, inventories, lab_disk, verify_cost
from .command_timing import Sample, Series, prepare, run
from .competitors import OWN, PREVIEW, Address, Fleet
from .report import machine, put, ratios, table
from .workload import DIRECTORY, PACKAGES, Work, prepare_root

Entry = Callable[[], list[list[str]]]

ROUND_TRIP = 0.05  # seconds, in the runs with a delay in the way
OTHER = "the other ccm"
MANY = 20_000  # changes in a plan


class Bench:
    """One lab with everything that the phases share."""

    def __init__(
        self, lab: Lab, directory: Path, runs: int, pyinfra: Path | None, other: Path | None
    ) -> None:
        self.lab, self.directory, self.runs, self.pyinfra = lab, directory, runs, pyinfra
        self.other = other
        self.results: dict[tuple[str, str], Series] = {}
        self.hosts: dict[str, int] = {}
        self.environment = {
            "XDG_STATE_HOME": str(directory / "state"),
            "XDG_CACHE_HOME": str(directory / "cache"),
            "NO_COLOR": "1",
        }

    def fleet(self, count: int) -> Fleet:
        hosts = [Address(h.name, h.address, 22) for h in list(self.lab.hosts.values())[:count]]
        return Fleet(hosts, self.lab.key_file, self.lab.known_hosts, self.directory)

    @contextlib.contextmanager
    def delayed(self, count: int) -> Iterator[Fleet]:
        """The fleet behind proxies that put a round-trip time in the way."""
        with contextlib.ExitStack() as stack:
            hosts, lines = [], []
            for host in list(self.lab.hosts.values())[:count]:
                proxy = stack.enter_context(DelayProxy(host.address, 22, ROUND_TRIP / 2))
                hosts.append(Address(host.name, "127.0.0.1", proxy.port))
                lines.append(f"[127.0.0.1]:{proxy.port} {host.public_host_key}")
            known = self.directory / "known_hosts_delayed"
            known.write_text("\n".join(lines) + "\n", encoding="utf-8")
            yield Fleet(hosts, self.lab.key_file, known, self.directory)

    def hosts_cpu(self) -> float:
        return sum(host.cpu_seconds() for host in self.lab.hosts.values())

    def sample(self, commands: list[list[str]]) -> Sample:
        return run(commands, self.hosts_cpu, self.environment, self.directory)

    def forget(self, fleet: Fleet) -> None:
        """Undo the files, so that the next push is a first one.

        They are put away: for minutes after many were removed, ext4 searches long for each inode.
        """
        for host in list(self.lab.hosts.values())[: len(fleet.hosts)]:
            host.run(f"[ ! -e {DIRECTORY} ] || mv {DIRECTORY} $(mktemp -d -p /srv)")

    def phase(self, name: str, fleet: Fleet, work: Work, first: bool, rounds: int) -> None:
        """Run all contestants in turn, so that a drift of the machine meets all alike.

        pyinfra follows the others: it removes a file for each that it makes, and for minutes after
        that ext4 searches long for the inodes of new ones.
        """
        self.hosts[name] = len(fleet.hosts)
        entries: dict[str, Entry] = {
            "ssh true": lambda: competitors.floor(fleet),
            "ccm": lambda: competitors.ccm(fleet, work),
        }
        if not first:
            entries[PREVIEW] = lambda: competitors.ccm(fleet, work, "--noop")
        if self.other is not None:
            other = self.other
            entries[OTHER] = lambda: competitors.ccm(fleet, work, program=other)
        self._take_turns(name, entries, fleet, first, rounds)
        if self.pyinfra is not None:
            program = self.pyinfra
            slow: dict[str, Entry] = {
                "pyinfra": lambda: competitors.pyinfra(fleet, work, program),
            }
            # An order of magnitude slower than the others: fewer turns.
            self._take_turns(name, slow, fleet, first, max(1, rounds // 2))
        print(f"{time.strftime('%H:%M:%S')} {name} done", file=sys.stderr, flush=True)

    def _take_turns(
        self, name: str, entries: dict[str, Entry], fleet: Fleet, first: bool, rounds: int
    ) -> None:
        for turn in range(rounds + 1):
            for contestant, commands in entries.items():
                if first and contestant != "ssh true":
                    self.forget(fleet)
                sample = self.sample(commands())
                if turn:  # the first turn warms caches and is not counted
                    series = self.results.setdefault((name, contestant), Series())
                    series.samples.append(sample)

    def verify_phase(self, fleet: Fleet, work: Work, rounds: int) -> None:
        """Both verifies of what was pushed before; the slow one takes a single counted turn."""
        self.hosts[verify_cost.PHASE] = len(fleet.hosts)
        entries: dict[str, Entry] = {
            "ssh true": lambda: competitors.floor(fleet),
            verify_cost.OURS: lambda: verify_cost.ccm(fleet, work),
            verify_cost.THEIRS: lambda: verify_cost.testinfra(fleet, work),
        }
        for turn in range(rounds + 1):
            for contestant, commands in entries.items():
                if contestant == verify_cost.THEIRS and turn != 1:
                    continue
                sample = self.sample(commands())
                if turn:
                    series = self.results.setdefault((verify_cost.PHASE, contestant), Series())
                    series.samples.append(sample)
        print(f"{time.strftime('%H:%M:%S')} {verify_cost.PHASE} done", file=sys.stderr, flush=True)

    def extra(self, hosts: int, work: Work) -> list[str]:
        """What is no phase: CPU per additional host, 200 logical hosts, start-up."""
        few = max(1, hosts // 4)
        lines = []
        if hosts > few:
            both = {number: Series() for number in (few, hosts)}
            for _ in range(4 * self.runs):  # in turns, as what they differ by is small
                for number, series in both.items():
                    series.samples.append(self.sample(competitors.ccm(self.fleet(number), work)))
            more = both[hosts].median("cpu") - both[few].median("cpu")
            lines.append(
                f"- controller CPU per additional host ({few} → {hosts} hosts): "
                f"{more / (hosts - few) * 1000:.1f} ms"
            )
        many = self.sample(
            competitors.ccm(self.fleet(hosts), work, "--noop", "--forks", "64", logical=200)
        )
        lines.append(
            f"- 200 logical hosts, each with {work.files} files that differ, "  # by its name
            f"`--forks 64`, `--noop`: {many.wall:.1f} s, "
            f"peak {many.peak_mib:.0f} MiB, {many.cpu / 200 * 1000:.1f} ms of CPU per host"
        )
        lines += controller_costs.rows(self.directory, self.runs)
        lines += inventories.rows(self.directory, self.runs)
        return [*lines, *self.started(), self.plan_shown(), *self.on_the_target()]

    def started(self) -> list[str]:
        """What commands take that ask no host."""
        thousand = self.directory / "thousand.yaml"
        thousand.write_text(Work(1000).site(), encoding="utf-8")
        programs = {"": OWN, **({f" ({OTHER})": self.other} if self.other else {})}
        lines = []
        for label, words in (
            ("`ccm --version`", ["--version"]),
            ("`ccm validate` of 1,000 resources", ["validate", str(thousand)]),
        ):
            found = {which: Series() for which in programs}
            for _ in range(self.runs):
                for which, program in programs.items():
                    found[which].samples.append(self.sample([[str(program), *words]]))
            lines += [f"- {label}{w}: {s.median('wall'):.3f} s" for w, s in found.items()]
        return lines

    def plan_shown(self) -> str:
        """What it takes to show a plan with very many changes."""
        site, inventory, plan = (
            self.directory / f"many.{end}" for end in ("yaml", "hosts", "plan")
        )
        entries = "".join(
            f"        - {self.directory}/{n}: {{content: text {n}}}\n" for n in range(MANY)
        )
        attributes = "{owner: root, group: root, mode: '0644'}"
        head = f"ccm:\n  resources:\n    - file:\n        - defaults: {attributes}\n"
        site.write_text(head + entries, encoding="utf-8")
        inventory.write_text("hosts: {here: {connection: local}}\n", encoding="utf-8")
        self.sample([[str(OWN), "plan", "-i", str(inventory), "-o", str(plan), str(site)]])
        shown = Series(
            [self.sample([[str(OWN), "plan", "show", str(plan)]]) for _ in range(self.runs)]
        )
        return (
            f"- `ccm plan show` of {MANY:,} changes: {shown.median('wall'):.1f} s, "
            f"peak {shown.median('peak_mib'):.0f} MiB"
        )

    def on_the_target(self) -> list[str]:
        """What the runtime itself costs: the hosts' CPU less that of a plain login."""
        phase = "converged"
        own = self.results[(phase, "ccm")].median("hosts_cpu")
        login = self.results[(phase, "ssh true")].median("hosts_cpu")
        each = (own - login) / self.hosts[phase] * 1000
        return [f"- CPU on the target beyond a plain login, converged: {each:.0f} ms per host"]


def install_pyinfra(directory: Path) -> Path:
    """Install pyinfra into an environment of its own; return its program."""
    home = directory / "pyinfra"
    venv.create(home, with_pip=True)
    subprocess.run(
        [str(home / "bin/python"), "-m", "pip", "install", "-q", "pyinfra"],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return home / "bin/pyinfra"


def versions(pyinfra: Path | None) -> str:
    """The contestants' versions, as they name themselves."""
    ssh = subprocess.run(["ssh", "-V"], capture_output=True, text=True).stderr.split(",")[0]
    if pyinfra is None:
        return ssh
    said = subprocess.run([str(pyinfra), "--version"], capture_output=True, text=True).stdout
    return f"{ssh}, {said.strip()}"


def main() -> int:
    """Boot, measure, print; optionally write the table into a page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--hosts", type=int, default=16)
    parser.add_argument("--resources", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--skip-pyinfra", action="store_true")
    parser.add_argument("--against", type=Path, metavar="CCM", help="another checkout's ccm")
    parser.add_argument("--tmpfs", action="store_true", help="hosts on a tmpfs, not on a disk")
    parser.add_argument("--write", type=Path, help="a Markdown page with figure markers")
    options = parser.parse_args()
    if reason := available():
        parser.error(f"no lab host can be booted here: {reason}")
    work = Work(options.resources)
    names = [f"bench{n:02d}" for n in range(1, options.hosts + 1)]
    with contextlib.ExitStack() as stack:
        if not options.tmpfs:
            stack.enter_context(lab_disk.fresh())
        # a short name: the sockets of testinfra's ssh are in it, which may have 107 bytes
        scratch = tempfile.TemporaryDirectory(prefix="ccm-")
        directory = Path(stack.enter_context(scratch))
        pyinfra = None if options.skip_pyinfra else install_pyinfra(directory)
        roots = dict.fromkeys(names, prepare_root)
        with Lab(names=names, prepare=roots, on_disk=not options.tmpfs) as lab:
            bench = Bench(lab, directory, options.runs, pyinfra, options.against)
            for host in lab.hosts.values():
                host.run(f"apt-get install -y -q {' '.join(PACKAGES)}", timeout=300)
                host.run("loginctl enable-linger root")  # else some logins start user@0.service
            fleet = bench.fleet(options.hosts)
            bench.phase("first", fleet, work, first=True, rounds=options.runs)
            bench.phase("converged", fleet, work, first=False, rounds=options.runs)
            bench.verify_phase(fleet, work, options.runs)
            with bench.delayed(min(4, options.hosts)) as far:
                bench.phase("converged, 50 ms away", far, work, False, options.runs)
            extra = bench.extra(options.hosts, work)
        text = "\n\n".join(
            [
                f"{options.hosts} hosts on a {'tmpfs' if options.tmpfs else 'disk'}, "
                f"{options.resources} resources, {options.runs} runs. "
                f"{machine()} {versions(pyinfra)}.",
                table(bench.results, bench.hosts),
                "\n".join(ratios(bench.results) + extra),
            ]
        )
    print(text)
    if options.write:
        put(options.write, text)
    return 0


if __name__ == "__main__":
    prepare()
    sys.exit(main())
