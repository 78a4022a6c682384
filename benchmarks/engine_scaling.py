"""Measures what hosts cost each engine: one recorded conversation, played to very many of them.

    python -m benchmarks.engine_scaling                            2,000 hosts, 5 runs of each
    python -m benchmarks.engine_scaling --hosts 500 --runs 3
    python -m benchmarks.engine_scaling --engines threads processes:4

A push of ccm's own, with the run's directory and the lines of progress, of 100 small files with the
host's name in them; what is left out is the network, and so the login. The engines take turns, each
run in a process of its own. Needs no root.
"""

import argparse
import contextlib
import io
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from inventory import load
from orchestrator.cli.run_output import Output, OutputOptions
from orchestrator.fleet.run_settings import RunSettings
from orchestrator.fleet.store.run_directory import new_run_id
from orchestrator.manifest import load_site
from orchestrator.planning import Planner
from orchestrator.runs.engine_choice import parse_engine
from orchestrator.runs.push_job import PushConfig, PushJob, Targets
from orchestrator.runs.run_loop import run_push
from remote_runtime.options import RunOptions

from .command_timing import prepare
from .replay import PUSH, RecordedConnector, Recording, record, write_site
from .report import machine

RESOURCES = 100
FORKS = 50
ENGINES = ("threads", "processes:1", "processes:2")


class Cost(NamedTuple):
    """Of one run: hosts per second; milliseconds of processor time per host, in all and in the
    controller's own process; the most memory of any of the processes, in MiB."""

    rate: float
    cpu: float
    controller: float
    peak: float


def spent() -> tuple[float, float]:
    """Seconds of processor time of this process, and of those that it has waited for."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    own, others = (usage.ru_utime + usage.ru_stime for usage in usages)
    return own, others


def push(
    site: Path,
    inventory: Path,
    recording: Recording,
    engine: str,
    *,
    forks: int = FORKS,
    options: RunOptions = PUSH,
) -> Cost:
    """One run in this process; RuntimeError where a host was not as desired."""
    hosts = list(load([str(inventory)]).hosts.values())
    checked = load_site(str(site))
    own, others = spent()
    began = time.monotonic()
    config = PushConfig(
        settings=RunSettings(new_run_id(), "somebody@here", options),
        record={},
        engine=parse_engine(engine),
    )
    targets = Targets(hosts, RecordedConnector(recording), forks)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        output = Output(OutputOptions(), options)
        pushed = PushJob("push", str(site), checked, Planner(checked))
        code = output.exit_code(run_push(pushed, targets, config, output))
    wall = time.monotonic() - began
    own_after, others_after = spent()
    if code:
        raise RuntimeError(said.getvalue()[-2000:])
    own, others = own_after - own, others_after - others
    each = 1000 / len(hosts)
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peak = max(resource.getrusage(kind).ru_maxrss for kind in kinds) / 1024
    return Cost(len(hosts) / wall, (own + others) * each, own * each, peak)


def in_turns(directory: Path, engines: list[str], hosts: int, runs: int) -> dict[str, list[Cost]]:
    """The costs of each engine; RuntimeError."""
    site = write_site(directory, RESOURCES)
    kept = directory / "recording.json"
    kept.write_text(json.dumps(record(site).record()), encoding="utf-8")
    inventory = directory / "hosts.json"
    names = {f"host{number:05}": {"vars": {"rack": number % 40}} for number in range(hosts)}
    inventory.write_text(json.dumps({"hosts": names}), encoding="utf-8")
    found: dict[str, list[Cost]] = {engine: [] for engine in engines}
    for _ in range(runs):
        for engine in engines:
            words = ["--one", engine, str(site), str(inventory), str(kept)]
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.engine_scaling", *words],
                capture_output=True,
                text=True,
                env={**os.environ, "XDG_STATE_HOME": str(directory / "state")},
            )
            if done.returncode:
                raise RuntimeError(done.stderr[-2000:])
            found[engine].append(Cost(*json.loads(done.stdout)))
    return found


def rows(found: dict[str, list[Cost]]) -> list[str]:
    """The medians of each engine, and what processes come to beside the others."""
    lines = [
        "| engine | hosts/s | CPU per host | of it in the controller | peak of a process |",
        "|---|---|---|---|---|",
    ]
    medians = {
        engine: Cost(*(median(values) for values in zip(*costs, strict=True)))
        for engine, costs in found.items()
    }
    for engine, cost in medians.items():
        lines.append(
            f"| {engine} | {cost.rate:.0f} | {cost.cpu:.2f} ms | {cost.controller:.2f} ms "
            f"| {cost.peak:.0f} MiB |"
        )
    lines.append("")
    for beside, engine in itertools.combinations(found, 2):
        turns = list(zip(found[engine], found[beside], strict=True))
        rate, cpu = (
            median(getattr(one, name) / getattr(other, name) for one, other in turns)
            for name in ("rate", "cpu")
        )
        lines.append(f"- {engine} ÷ {beside}: hosts/s {rate:.2f}, CPU per host {cpu:.2f}")
    return lines


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.engine_scaling", description=__doc__
    )
    parser.add_argument("--hosts", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES))
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        engine, site, inventory, kept = options.one
        told: dict[str, Any] = json.loads(Path(kept).read_text("utf-8"))
        print(json.dumps(push(Path(site), Path(inventory), Recording.of(told), engine)))
        return 0
    with tempfile.TemporaryDirectory(prefix="ccm-wide-") as directory:
        found = in_turns(Path(directory), options.engines, options.hosts, options.runs)
    print(f"{options.hosts} hosts, {RESOURCES} resources, {options.runs} runs. {machine()}\n")
    print("\n".join(rows(found)))
    return 0


if __name__ == "__main__":
    prepare()
    sys.exit(main())
