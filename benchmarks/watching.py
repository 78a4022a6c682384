"""What a command and the processes that it starts cost, each of them (Linux)."""

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")
_PAUSE = 0.2


class Share(NamedTuple):
    """Of one process: seconds of processor time, and the most memory in MiB."""

    cpu: float
    peak: float


class Watched(NamedTuple):
    """A command that has ended. ``workers`` are what it started; ``others`` run by themselves."""

    code: int
    output: str
    wall: float
    own: Share
    workers: Sequence[Share]
    others: Mapping[str, Share]

    @property
    def cpu(self) -> float:
        """Seconds of processor time of the command and its workers."""
        return self.own.cpu + sum(share.cpu for share in self.workers)

    @property
    def peak(self) -> float:
        """The most memory of the command and its workers, each at its own worst moment, in MiB."""
        return self.own.peak + sum(share.peak for share in self.workers)


def watch(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    others: Mapping[str, int] | None = None,
) -> Watched:
    """Run a command to its end; ``others`` are processes that have a part in it, by their names."""
    before = {name: _share(pid) for name, pid in (others or {}).items()}
    began = time.monotonic()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    seen: dict[int, Share] = {}
    over = threading.Event()
    sampler = threading.Thread(target=_sample, args=(process.pid, seen, over))
    sampler.start()
    assert process.stdout is not None
    output = process.stdout.read()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # its figures are there still
    wall = time.monotonic() - began
    over.set()
    sampler.join()
    own, reaped = _cpu(process.pid)
    code = process.wait()
    peak = seen.pop(process.pid, Share(0.0, 0.0)).peak
    workers = _to_the_end(list(seen.values()), reaped)
    after = {name: _share(pid) for name, pid in (others or {}).items()}
    shares = {name: Share(now.cpu - before[name].cpu, now.peak) for name, now in after.items()}
    return Watched(code, output, wall, Share(own, peak), workers, shares)


def _to_the_end(workers: list[Share], reaped: float) -> list[Share]:
    """The kernel says what all workers took together; each was last seen a moment before."""
    seen = sum(share.cpu for share in workers)
    if not workers or not seen:
        return workers
    return [share._replace(cpu=share.cpu * reaped / seen) for share in workers]


def _sample(pid: int, seen: dict[int, Share], over: threading.Event) -> None:
    while True:
        for each in (pid, *_children(pid)):
            try:
                share = _share(each)
            except (OSError, ValueError):
                continue  # it has just ended
            if share.peak:
                seen[each] = share
        if over.wait(_PAUSE):
            return


def _children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8")
    except OSError:
        return []
    return [int(word) for word in text.split()]


def _share(pid: int) -> Share:
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    lines = dict(line.split(":", 1) for line in status.splitlines())
    peak = int(lines.get("VmHWM", "0 kB").split()[0]) / 1024
    return Share(_cpu(pid)[0], peak)


def _cpu(pid: int) -> tuple[float, float]:
    """Seconds of a process itself, and of the children that it has waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    own, reaped = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
    return own / _TICKS, reaped / _TICKS
