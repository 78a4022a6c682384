"""What hosts at work hold in the controller, and what differences and a single host cost; no lab.

python -m benchmarks.controller_costs
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from remote_runtime.options import RunOptions

from .command_timing import Series, prepare, run
from .competitors import OWN
from .engine_scaling import push
from .replay import Recording, record, write_site
from .report import machine
from .simulated_fleet import StandIns, allow_files
from .ssh_scaling import Ground

STAND_INS = 1000
FEW, MANY = 16, 256  # of --forks
DIFFERENT, PLAYED = 84, 200  # files, and hosts on which they differ
ALONE = 4  # times as many runs of what takes a tenth of a second


def rows(directory: Path, runs: int) -> list[str]:
    """One line for each figure."""
    for name in ("held", "different", "alone"):
        (directory / name).mkdir()
    return [
        *held(directory / "held", min(runs, 3)),
        different(directory / "different", runs),
        alone(directory / "alone", ALONE * runs),
    ]


def held(directory: Path, runs: int) -> list[str]:
    """Memory of pushes to stand-ins of which few and many are at work at a time, in turns."""
    allow_files()
    ground = Ground(directory)
    peaks: dict[int, list[float]] = {FEW: [], MANY: []}
    with StandIns(directory, ground.recording, STAND_INS) as played:
        for _ in range(runs):
            for forks, found in peaks.items():
                found.append(ground.push(played, "threads", forks).watched.own.peak)
    few, many = median(peaks[FEW]), median(peaks[MANY])
    each = (many - few) * (1 << 20) / 1e6 / (MANY - FEW)
    return [
        f"- {STAND_INS:,} [simulated hosts](cost-model.md#simulated-hosts), `--engine threads "
        f"--forks {MANY}`: peak {many:.1f} MiB, {many * (1 << 20) / 1e6:.1f} MB",
        f"- memory per concurrent host (`--forks` {FEW} → {MANY}: {few:.1f} → {many:.1f} MiB): "
        f"{each:.3f} MB",
    ]


def different(directory: Path, runs: int) -> str:
    """Processor time of a preview in which files differ, without the network."""
    site = write_site(directory, DIFFERENT, name="any host")
    kept, inventory = directory / "recording.json", directory / "hosts.json"
    recording = record(site, RunOptions(noop=True))
    kept.write_text(json.dumps(recording.record()), encoding="utf-8")
    names = [f"host{number:03}" for number in range(PLAYED)]
    inventory.write_text(json.dumps({"hosts": names}), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "benchmarks.controller_costs",
        "--one",
        *map(str, (site, inventory, kept)),
    ]
    environment = {**os.environ, "XDG_STATE_HOME": str(directory / "state")}
    costs = []
    for _ in range(runs):
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode:
            raise RuntimeError(done.stderr[-2000:])
        costs.append(float(done.stdout))
    return (
        f"- {DIFFERENT} diffs per host, controller in process, `--forks 1`: "
        f"{median(costs):.1f} ms of CPU"
    )


def alone(directory: Path, runs: int) -> str:
    """A whole push of one resource, which is as desired, to this machine."""
    site, inventory = write_site(directory, 1), directory / "hosts.yaml"
    inventory.write_text("hosts: {here: {connection: local}}\n", encoding="utf-8")
    environment = {"XDG_STATE_HOME": str(directory / "state"), "NO_COLOR": "1"}
    command = [str(OWN), "push", "-i", str(inventory), str(site)]
    samples = [run([command], lambda: 0.0, environment) for _ in range(runs + 1)]
    series = Series(samples[1:])  # the first one makes the file
    return f"- `ccm push` of one resource to one local host: {series.median('wall'):.3f} s"


def main() -> int:
    """Measure and print."""
    if sys.argv[1:2] == ["--one"]:
        site, inventory, kept = map(Path, sys.argv[2:])
        recording = Recording.of(json.loads(kept.read_text("utf-8")))
        options = RunOptions(noop=True)
        print(push(site, inventory, recording, "threads", forks=1, options=options).cpu)
        return 0
    with tempfile.TemporaryDirectory(prefix="ccm-at-work-") as directory:
        print(machine())
        print("\n".join(rows(Path(directory), 5)))
    return 0


if __name__ == "__main__":
    prepare()
    sys.exit(main())
