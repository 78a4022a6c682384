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
    others: Mapping[str, Sequence[int]] | None = None,
) -> Watched:
    """Run a command to its end; ``others`` are processes that have a part in it, by their names,
    with what they start."""
    others = others or {}
    before = {name: _spent(pids) for name, pids in others.items()}
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
    theirs: dict[str, dict[int, Share]] = {name: {} for name in others}
    over = threading.Event()
    watched = [([process.pid], seen), *((pids, theirs[name]) for name, pids in others.items())]
    sampler = threading.Thread(target=_sample, args=(watched, over))
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
    shares = {
        name: Share(_spent(pids) - before[name], sum(one.peak for one in theirs[name].values()))
        for name, pids in others.items()
    }
    return Watched(code, output, wall, Share(own, peak), workers, shares)


def _to_the_end(workers: list[Share], reaped: float) -> list[Share]:
    """The kernel says what all workers took together; each was last seen a moment before."""
    seen = sum(share.cpu for share in workers)
    if not workers or not seen:
        return workers
    return [share._replace(cpu=share.cpu * reaped / seen) for share in workers]


def _sample(
    watched: Sequence[tuple[Sequence[int], dict[int, Share]]], over: threading.Event
) -> None:
    while True:
        for pids, seen in watched:
            for each in (*pids, *(child for pid in pids for child in _children(pid))):
                try:
                    share = _share(each)
                except (OSError, ValueError):
                    continue  # it has just ended
                if share.peak:
                    seen[each] = share
        if over.wait(_PAUSE):
            return


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text("utf-8").split())
    except OSError:
        pass  # it, or one of its threads, has just ended
    return found


def _spent(pids: Sequence[int]) -> float:
    """Seconds of processor time of processes, and of what they have waited for."""
    return sum(sum(_cpu(pid)) for pid in pids)


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
