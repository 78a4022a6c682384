"""Measures what waves cost the controller: 500 hosts in waves and without, in turns.

    python -m benchmarks.rollout_cost              500 hosts, 5 runs of each
    python -m benchmarks.rollout_cost --hosts 50 --runs 3

The hosts are names of this machine, ``connection: local``, on which ``ccm run`` starts the runtime
and one command: the least that a host costs, so that what is beyond it weighs the most. Counted is
the processor time of ccm's own process; that of the hosts is not. Needs no root.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

HOSTS = 500
WARM = 16
WAVES = "1,10%,50%,100%"
# ccm as its own command starts it, which leaves what it took where the first word says.
_PROGRAM = """
import resource, sys
from orchestrator.cli.app import main
code = main(sys.argv[2:])
spent = resource.getrusage(resource.RUSAGE_SELF)
with open(sys.argv[1], "w") as out:
    out.write(str(spent.ru_utime + spent.ru_stime))
sys.exit(code)
"""


def controller_cpu(directory: Path, hosts: int, *options: str) -> float:
    """Seconds of processor time that one run takes in the controller; ``RuntimeError``."""
    inventory, spent = directory / "hosts.json", directory / "spent"
    names = {f"h{number:03}": {"connection": "local"} for number in range(hosts)}
    inventory.write_text(json.dumps({"hosts": names}), encoding="utf-8")
    words = ["run", "-i", str(inventory), "-l", "all", "--forks", "16", *options, "--", "true"]
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(spent), *words],
        capture_output=True,
        text=True,
        env={**os.environ, "XDG_STATE_HOME": str(directory / "state")},
    )
    if done.returncode:
        raise RuntimeError(f"ccm exited {done.returncode}: {done.stderr[-2000:]}")
    return float(spent.read_text(encoding="utf-8"))


def waves_cost(directory: Path, hosts: int, runs: int) -> str:
    """Waves against none, in turns; a few hosts before that warm caches and are not counted."""
    with_, without = [], []
    controller_cpu(directory, WARM)
    for _ in range(runs):
        with_.append(controller_cpu(directory, hosts, "--waves", WAVES))
        without.append(controller_cpu(directory, hosts))
    more = (median(with_) / median(without) - 1) * 100
    return (
        f"- {hosts} hosts of this machine in waves of {WAVES}: {median(with_):.2f} s of CPU in the "
        f"controller ({min(with_):.2f} to {max(with_):.2f}), without {median(without):.2f} s "
        f"({min(without):.2f} to {max(without):.2f}): {more:+.1f} %"
    )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rollout_cost", description=__doc__)
    parser.add_argument("--hosts", type=int, default=HOSTS)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ccm-benchmark-") as scratch:
        print(waves_cost(Path(scratch), options.hosts, options.runs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
