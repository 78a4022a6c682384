"""What a push takes: a model of its costs, fitted to what was measured.

    python -m benchmarks.cost_model --write docs/cost-model.md

Pushes to ``simulated_fleet``: few and many hosts, few and many resources, narrow and wide
windows, and one through a proxy that counts turns and bytes. Least squares make the constants of
it; tables say what was measured, and what is calculated for fleets that were not. Needs no root.
"""

import argparse
import math
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.lab import DelayProxy

from . import ssh_scaling
from .command_timing import prepare
from .report import machine, put
from .simulated_fleet import StandIns, allow_files
from .simulated_host import address_of
from .ssh_scaling import Ground, Row

HOSTS = 300
RESOURCES = (1, 100, 300)
FEW, MANY = 50, 800  # hosts
RUNS = 3
DELAY = 0.05  # seconds, one way
NARROW, WIDE = 4, 256
MS, KIB = 1000.0, 1024.0
HOST_ITSELF = 0.053  # seconds of processor time of a host: docs/benchmarks.md, converged
CASES = ((1000, 100, 0.001, 64, 1), (1000, 100, 0.1, 64, 2), (1000, 500, 0.001, 64, 2),
         (10_000, 100, 0.001, 64, 2), (10_000, 100, 0.1, 256, 4), (10_000, 100, 0.1, 256, 8),
         (10_000, 500, 0.02, 256, 8), (60_000, 100, 0.02, 512, 8))  # fmt: skip


class Traffic(NamedTuple):
    """Of one host: how often the controller waits for an answer, and bytes to and from the host."""

    turns: int
    sent: int
    received: int


class Model(NamedTuple):
    """The constants: seconds of processor time, MiB of memory, bytes."""

    start: float
    host: float
    resource: float
    memory: float
    memory_host: float
    memory_place: float
    turns: int
    bytes_host: float
    bytes_resource: float
    busy: float
    """The part of the time that a process has a processor while there is work."""

    def cpu(self, hosts: int, resources: int) -> float:
        """Seconds of processor time of controller and workers."""
        return self.start + hosts * (self.host + self.resource * resources)

    def seconds(self, hosts: int, resources: int, delay: float, *, forks: int, cores: int) -> float:
        """From start to end: what the processors need or what the hosts are waited for."""
        worked = self.cpu(hosts, resources) / cores / self.busy
        one = self.turns * delay + HOST_ITSELF
        return max(worked, math.ceil(hosts / forks) * one) + one

    def peak(self, hosts: float, forks: float) -> float:
        """MiB of one process that does all of it."""
        return self.memory + self.memory_host * hosts + self.memory_place * forks

    def peaks(self, hosts: int, *, forks: int, cores: int) -> float:
        """MiB of the controller, and of a worker for each core where there is more than one."""
        if cores == 1:
            return self.peak(hosts, forks)
        return self.peak(hosts, 0) + cores * self.peak(hosts / cores, forks / cores)

    def bytes(self, hosts: int, resources: int) -> float:
        """Both directions together."""
        return hosts * (self.bytes_host + self.bytes_resource * resources)


def line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Height at 0 and slope of the line that is nearest to the points, by least squares."""
    x = sum(point[0] for point in points) / len(points)
    y = sum(point[1] for point in points) / len(points)
    square = sum((point[0] - x) ** 2 for point in points)
    slope = sum((point[0] - x) * (point[1] - y) for point in points) / square
    return y - slope * x, slope


def medians(ground: Ground, hosts: int, forks: int) -> Row:
    """The run with the median of processor time, of a few."""
    with StandIns(ground.directory, ground.recording, hosts) as played:
        found = [ground.push(played, "threads", forks) for _ in range(RUNS)]
    middle = median([row.watched.cpu for row in found])
    return min(found, key=lambda row: abs(row.watched.cpu - middle))


def traffic(ground: Ground) -> Traffic:
    """What goes over the line of one host, so slow that what waits for nothing is under way before
    an answer is."""
    found = []
    with StandIns(ground.directory, ground.recording, 1, processes=1) as played:
        for _ in range(RUNS):
            with DelayProxy(address_of(0), played.port, DELAY) as proxy:
                ground.push(played, "threads", 1, inventory=played.elsewhere(proxy.port))
                found.append(Traffic(proxy.turns, proxy.sent, proxy.received))
    return min(found)


class Measured(NamedTuple):
    """The runs that the model is fitted to: by number of resources, by hosts and by window."""

    by_resources: dict[int, Row]
    by_hosts: dict[int, Row]
    by_forks: dict[int, Row]
    traffic: dict[int, Traffic]


def measure(directory: Path) -> Measured:
    """Run all of them."""
    by_resources, lines = {}, {}
    for resources in RESOURCES:
        ground = Ground(directory / f"resources{resources}", resources)
        by_resources[resources] = medians(ground, HOSTS, NARROW)
        lines[resources] = traffic(ground)
    ground = Ground(directory / "usual")
    by_hosts = {hosts: medians(ground, hosts, NARROW) for hosts in (FEW, MANY)}
    by_forks = {NARROW: by_hosts[MANY], WIDE: medians(ground, MANY, WIDE)}
    return Measured(by_resources, by_hosts, by_forks, lines)


def fitted(found: Measured, wide: Sequence[Row] = ()) -> Model:
    """The constants that are nearest to what was measured; memory to the ``wide`` runs as well."""
    start, _ = line([(hosts, row.watched.cpu) for hosts, row in found.by_hosts.items()])
    host, resource = line(
        [(n, (row.watched.cpu - start) / HOSTS) for n, row in found.by_resources.items()]
    )
    _, memory_place = line([(n, row.watched.peak) for n, row in found.by_forks.items()])
    alone = [*found.by_hosts.values(), *(row for row in wide if row.engine == "threads")]
    memory, memory_host = line(
        [(row.hosts, row.watched.peak - memory_place * row.forks) for row in alone]
    )
    both = [(n, one.sent + one.received) for n, one in found.traffic.items()]
    bytes_host, bytes_resource = line(both)
    many = found.by_hosts[MANY].watched
    return Model(
        start=start,
        host=host,
        resource=resource,
        memory=memory,
        memory_host=memory_host,
        memory_place=memory_place,
        turns=max(one.turns for one in found.traffic.values()),
        bytes_host=bytes_host,
        bytes_resource=bytes_resource,
        busy=min(1.0, many.cpu / many.wall),
    )


def runs_of(found: Measured, model: Model) -> list[str]:
    """Each run beside what the model says of it."""
    lines = [
        "| Hosts | Resources | `--forks` | CPU | CPU, model | Peak | Peak, model |",
        "|---|---|---|---|---|---|---|",
    ]
    runs = [(resources, row) for resources, row in found.by_resources.items()]
    runs += [(ssh_scaling.RESOURCES, row) for row in found.by_hosts.values()]
    runs.append((ssh_scaling.RESOURCES, found.by_forks[WIDE]))
    for resources, row in runs:
        hosts, watched = row.hosts, row.watched
        lines.append(
            f"| {hosts} | {resources} | {row.forks} | {watched.cpu:.2f} s "
            f"| {model.cpu(hosts, resources):.2f} s | {watched.peak:.0f} MiB "
            f"| {model.peak(hosts, row.forks):.0f} MiB |"
        )
    return lines


def constants(model: Model, found: Measured) -> list[str]:
    """What the model is made of."""
    return [
        f"- CPU: {model.start:.2f} s for the run, {model.host * MS:.2f} ms for each host, "
        f"{model.resource * MS:.4f} ms for each resource of a host",
        f"- memory of one process: {model.memory:.0f} MiB, {model.memory_host * KIB:.1f} KiB for "
        f"each host of the run, {model.memory_place * KIB:.0f} KiB for each of `--forks`",
        f"- a host: {model.turns} round trips after the TCP handshake, "
        f"{model.bytes_host / KIB:.1f} KiB, {model.bytes_resource:.0f} bytes for each resource "
        f"(with {ssh_scaling.RESOURCES}: "
        f"{found.traffic[ssh_scaling.RESOURCES].sent / KIB:.0f} KiB to the host, "
        f"{found.traffic[ssh_scaling.RESOURCES].received / KIB:.0f} KiB back)",
        f"- while there is work, a process is on a processor {model.busy:.0%} of the time",
    ]


def calculated(model: Model) -> list[str]:
    """Fleets that nobody measured."""
    lines = [
        "| Hosts | Resources | Round trip | `--forks` | Cores | Time | CPU | Memory | Traffic "
        "| Bandwidth |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for hosts, resources, delay, forks, cores in CASES:
        seconds = model.seconds(hosts, resources, delay, forks=forks, cores=cores)
        memory = model.peaks(hosts, forks=forks, cores=cores)
        traffic = model.bytes(hosts, resources)
        lines.append(
            f"| {hosts:,} | {resources} | {delay * MS:.0f} ms | {forks} | {cores} "
            f"| {_span(seconds)} | {_span(model.cpu(hosts, resources))} | {memory:.0f} MiB "
            f"| {traffic / KIB**2:.0f} MiB | {traffic * 8 / seconds / 1e6:.1f} Mbit/s |"
        )
    return lines


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def page(directory: Path, counts: Sequence[int], engines: Sequence[str], ill: int) -> str:
    """All figures, those that were measured apart from those that were not."""
    found = measure(directory)
    ground = Ground(directory / "wide")
    wide = ssh_scaling.rows(ground, counts, engines)
    model = fitted(found, wide)
    parts = ["## Measured", machine(), "\n".join(runs_of(found, model))]
    if wide:
        parts.append(f"{ssh_scaling.RESOURCES} resources, `--forks {ssh_scaling.FORKS}`:")
        parts.append("\n".join(ssh_scaling.table(wide)))
    if ill:
        parts.append(f"{ill:,} hosts, a tenth of them down, slow or hanging:")
        parts.append("\n".join(ssh_scaling.faulty(ground, ill, engines)))
    parts += [
        "The model, fitted to these runs (CPU to the first table):",
        "\n".join(constants(model, found)),
    ]
    parts += ["## Calculated", "\n".join(calculated(model))]
    return "\n\n".join(parts)


def main() -> int:
    """Measure, print; optionally write the figures into a page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cost_model", description=__doc__)
    parser.add_argument("--hosts", type=int, nargs="*", default=list(ssh_scaling.COUNTS))
    parser.add_argument("--engines", nargs="+", default=list(ssh_scaling.ENGINES))
    parser.add_argument("--faulty", type=int, default=ssh_scaling.FAULTY)
    parser.add_argument("--write", type=Path, help="a Markdown page with figure markers")
    options = parser.parse_args()
    allow_files()
    with tempfile.TemporaryDirectory(prefix="ccm-cost-") as scratch:
        text = page(Path(scratch), options.hosts, options.engines, options.faulty)
    print(text)
    if options.write:
        put(options.write, text)
    return 0


if __name__ == "__main__":
    prepare()
    sys.exit(main())
