"""Measures a push to thousands of hosts over SSH, with stand-ins for them.

    python -m benchmarks.ssh_scaling                                1,000, 5,000 and 10,000 hosts
    python -m benchmarks.ssh_scaling --hosts 1000 --engines threads processes:2
    python -m benchmarks.ssh_scaling --engines dask:1 dask:2 dask:4
    python -m benchmarks.ssh_scaling --engines dask://127.0.0.1:8786 --also scheduler=4711

Whole commands, as a user gives them: 100 files that are as desired, the run kept. An engine is a
word for ``--engine``, or ``dask:N``, which starts a scheduler and N workers; processes that are
there already are named with ``--also``. Controller and
stand-ins share the processor. Then the same with a tenth of the hosts down, slow or hanging. Needs
no root.
"""

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .command_timing import prepare
from .competitors import OWN
from .dask_workers import engaged
from .process_costs import Watched, watch
from .replay import Recording, record, write_site
from .report import machine
from .simulated_fleet import DOWN, MUTE, REFUSES, StandIns, allow_files, spread
from .simulated_host import LOGIN, RUN, SLOW, START

RESOURCES = 100
ENGINES = ("threads", "processes:2", "dask:1", "dask:2", "dask:4")
COUNTS = (1000, 5000, 10_000)
FAULTY = 1000  # hosts, a tenth of them faulty
FAULTS = (REFUSES, DOWN, MUTE, SLOW, LOGIN, START, RUN)
HANGING = (DOWN, MUTE, LOGIN, START, RUN)
FORKS = 64
CONNECT_TIMEOUT = 10.0  # seconds, as it is without an option
RAN = (0, 1, 3)  # exit codes of a push that has taken place
WORSE = 1.5  # times what healthy hosts take without faulty ones


class Row(NamedTuple):
    """One run: of how many hosts, on which engine, what it cost, and the stand-ins' part."""

    hosts: int
    engine: str
    forks: int
    watched: Watched
    played: float
    healthy: float
    """Seconds from the start of the run to the end of the last host that is well."""

    @property
    def rate(self) -> float:
        """Hosts per second."""
        return self.hosts / self.watched.wall

    def each(self, seconds: float) -> float:
        """Milliseconds per host."""
        return seconds / self.hosts * 1000


class Ground:
    """A manifest that was recorded, and where the runs are kept."""

    def __init__(self, directory: Path, resources: int = RESOURCES) -> None:
        directory.mkdir(exist_ok=True)
        self.directory = directory
        beside = directory / "site"  # all of which goes to workers on other machines
        beside.mkdir(exist_ok=True)
        self.site = write_site(beside, resources)
        self.recording: Recording = record(self.site)
        self.others: Mapping[str, Sequence[int]] = {}

    def push(self, played: StandIns, engine: str, forks: int, inventory: Path | None = None) -> Row:
        """One push to all, or to those of an ``inventory``; RuntimeError where a host that is well
        was not as desired."""
        state = self.directory / "state"
        before = played.cpu()
        environment = {"XDG_STATE_HOME": str(state), "NO_COLOR": "1"}
        with engaged(engine) as (word, others):
            command = [str(OWN), "push", "-i", str(inventory or played.inventory)]
            command += ["--engine", word, "--forks", str(forks), str(self.site)]
            watched = watch(command, environment, {**self.others, **others})
        if watched.code not in RAN:
            raise RuntimeError(f"{engine}: exit code {watched.code}\n{watched.output[-2000:]}")
        cost = played.cpu() - before
        run = max((state / "ccm/runs").iterdir())
        healthy = _healthy(run, played.faulty)
        if isinstance(healthy, str):
            raise RuntimeError(f"{engine}: {healthy}\n{watched.output[-2000:]}")
        return Row(played.count, engine, forks, watched, cost, healthy)


def _healthy(run: Path, faulty: Sequence[str]) -> float | str:
    """When the last host without a fault ended, from the start on; or what went wrong there."""
    start = json.loads((run / "run.json").read_text("utf-8"))["start"]
    last = 0.0
    left_out, ended = set(faulty), 0
    with (run / "hosts.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            told: dict[str, Any] = json.loads(line)
            if told["host"] in left_out:
                continue
            ended += 1
            if told["outcome"] != "ok" or told["tally"]["stable"] != told["planned"]:
                return f"{told['host']} is {told['outcome']}: {told['kind']} {told['message']}"
            last = max(last, told["phases"][0][1] + told["seconds"] - start)
    return last if ended else "no host ended"


def rows(ground: Ground, counts: Sequence[int], engines: Sequence[str]) -> list[Row]:
    """Each engine with each number of hosts."""
    found = []
    for count in counts:
        with StandIns(ground.directory, ground.recording, count) as played:
            for engine in engines:
                found.append(ground.push(played, engine, FORKS))
                _said(found[-1])
    return found


def _said(row: Row) -> None:
    print(f"{row.hosts} hosts, {row.engine}: {row.watched.wall:.1f} s", file=sys.stderr, flush=True)


def table(found: Sequence[Row]) -> list[str]:
    """What each run cost."""
    lines = [
        "| Hosts | Engine | Hosts/s | CPU per host | Controller's | Others' "
        "| Controller's peak | All peaks | Hosts' CPU |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in found:
        own, watched = row.watched.own, row.watched
        others = watched.others.values()
        theirs = f"{row.each(sum(share.cpu for share in others)):.2f} ms" if others else "-"
        lines.append(
            f"| {row.hosts:,} | `{row.engine}` | {row.rate:.0f} | {row.each(watched.cpu):.2f} ms "
            f"| {row.each(own.cpu):.2f} ms | {theirs} | {own.peak:.0f} MiB "
            f"| {watched.peak:.0f} MiB | {row.each(row.played):.2f} ms |"
        )
    told = [
        f"- {row.hosts:,} hosts, `{row.engine}`: {name} {row.each(share.cpu):.2f} ms per host, "
        f"{share.peak:.0f} MiB"
        for row in found
        for name, share in row.watched.others.items()
    ]
    return [*lines, *([""] if told else []), *told]


def faulty(ground: Ground, count: int, engines: Sequence[str]) -> list[str]:
    """What a tenth of faulty hosts costs the others, beside the bound that is promised."""
    lines = [
        "| Engine | Healthy hosts done, no faults | With a tenth faulty | Bound | Whole run |",
        "|---|---|---|---|---|",
    ]
    faults = spread(count, FAULTS)
    hanging = sum(fault in HANGING for fault in faults.values())
    for engine in engines:
        with StandIns(ground.directory, ground.recording, count) as played:
            well = ground.push(played, engine, FORKS)
        with StandIns(ground.directory, ground.recording, count, faults=faults) as played:
            ill = ground.push(played, engine, FORKS)
        _said(ill)
        bound = WORSE * well.healthy + CONNECT_TIMEOUT * math.ceil(hanging / FORKS)
        lines.append(
            f"| `{engine}` | {well.healthy:.1f} s | {ill.healthy:.1f} s | {bound:.1f} s "
            f"| {ill.watched.wall:.1f} s |"
        )
    return lines


def _also(word: str) -> tuple[str, list[int]]:
    name, _, pid = word.partition("=")
    return name, [int(pid)]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ssh_scaling", description=__doc__)
    parser.add_argument("--hosts", type=int, nargs="*", default=list(COUNTS))
    parser.add_argument("--engines", nargs="+", default=list(ENGINES))
    parser.add_argument("--faulty", type=int, default=FAULTY, help="hosts, 0 leaves it out")
    parser.add_argument("--also", nargs="*", type=_also, default=[], metavar="NAME=PID")
    options = parser.parse_args()
    allow_files()
    with tempfile.TemporaryDirectory(prefix="ccm-wide-") as scratch:
        ground = Ground(Path(scratch))
        ground.others = dict(options.also)
        print(f"{RESOURCES} resources, `--forks {FORKS}`. {machine()}\n", flush=True)
        print("\n".join(table(rows(ground, options.hosts, options.engines))), flush=True)
        if options.faulty:
            print(f"\n{options.faulty:,} hosts:\n", flush=True)
            print("\n".join(faulty(ground, options.faulty, options.engines)))
    return 0


if __name__ == "__main__":
    prepare()
    sys.exit(main())
