"""Times whole commands from outside: wall, CPU and peak memory, as the kernel accounts for them."""

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Sample:
    """One run: wall and CPU seconds of the controller, of all hosts together, and peak memory."""

    wall: float
    cpu: float
    hosts_cpu: float
    peak_mib: float


@dataclass
class Series:
    """The samples of one contestant in one phase."""

    samples: list[Sample] = field(default_factory=list)

    def median(self, figure: str) -> float:
        """The median of a figure over the samples."""
        return float(statistics.median(getattr(sample, figure) for sample in self.samples))

    def spread(self, figure: str) -> tuple[float, float]:
        """The smallest and largest sample of a figure."""
        values = [getattr(sample, figure) for sample in self.samples]
        return min(values), max(values)


def prepare() -> None:
    """Leave out of the environment what would change what is measured."""
    os.environ.pop("SSH_AUTH_SOCK", None)  # an agent has keys of its own
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed runs from compiled modules


def run(
    commands: Sequence[Sequence[str]],
    hosts_cpu: Callable[[], float],
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    expected: tuple[int, ...] = (0,),
) -> Sample:
    """Run commands side by side and wait for all; ``RuntimeError`` with the output if one fails."""
    before, start = hosts_cpu(), time.monotonic()
    log = Path(os.environ.get("TMPDIR", "/tmp")) / f"ccm-benchmark-{os.getpid()}.log"
    with log.open("wb") as sink:
        children = [
            subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                env={**os.environ, **(environment or {})},
                cwd=cwd,
            )
            for command in commands
        ]
        cpu, peak = 0.0, 0.0
        for child in children:
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            cpu += usage.ru_utime + usage.ru_stime
            peak = max(peak, usage.ru_maxrss / 1024)
    wall = time.monotonic() - start
    failed = [child for child in children if child.returncode not in expected]
    if failed:
        text = log.read_text(errors="replace")[-2000:]
        raise RuntimeError(f"{failed[0].args!r} exited {failed[0].returncode}:\n{text}")
    log.unlink()
    return Sample(wall, cpu, hosts_cpu() - before, peak)
