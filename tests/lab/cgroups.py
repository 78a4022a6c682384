"""A control group per host, in every hierarchy of this machine.

Without one, the systemd of a host would find its neighbours' processes in the group that it
believes to be its own, and stopping a unit would reach them. The groups also tell which processes
belong to a lab, and what CPU time a host has used.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from .machine import LabError

Group = tuple[Path, ...]
"""One group, as its directory in each hierarchy."""


def own() -> Group:
    """Return the group of this process in each hierarchy that is mounted."""
    mounts = _mounts()
    directories = []
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        wanted = frozenset(controllers.split(",")) if controllers else frozenset(["cgroup2"])
        for options, root, mountpoint in mounts:
            if wanted <= options:
                inside = os.path.relpath(path, root) if root != "/" else path.lstrip("/")
                directory = mountpoint / inside
                directories.append(
                    directory if ".." not in inside and directory.is_dir() else mountpoint
                )
                break
    return tuple(directories)


def _mounts() -> list[tuple[frozenset[str], str, Path]]:
    """Return (controllers, root, mount point) of each mounted hierarchy; `cgroup2` stands for the
    unified one.
    """
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, rest = line.partition(" - ")
        kind, _, options = rest.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            names = frozenset(["cgroup2"]) if kind == "cgroup2" else frozenset(options.split(","))
            found.append((names, fields.split()[3], Path(fields.split()[4])))
    return found


def child(parent: Group, name: str) -> Group:
    """Return the group `name` below another, created where it is missing."""
    directories = []
    for directory in parent:
        new = directory / name
        new.mkdir(exist_ok=True)
        for setting in ("cpuset.cpus", "cpuset.mems"):
            # A version 1 cpuset starts with neither, and takes no process until it has both.
            wanted = new / setting
            if (
                (directory / "tasks").exists()
                and wanted.exists()
                and not wanted.read_text().strip()
            ):
                wanted.write_text((directory / setting).read_text())
        directories.append(new)
    return tuple(directories)


def processes(directories: Iterable[Path]) -> set[int]:
    """Return the ids of all processes in these groups and the groups below them."""
    found: set[int] = set()
    for directory in directories:
        for base, _, files in os.walk(directory):
            if "cgroup.procs" in files:
                try:
                    found.update(
                        int(word) for word in Path(base, "cgroup.procs").read_text().split()
                    )
                except OSError:
                    continue
    found.discard(0)
    return found


def kill(directories: Sequence[Path], seconds: float = 15) -> None:
    """End every process in these groups and wait until they are gone. Raises LabError if they
    outlive `seconds`.
    """
    deadline = time.monotonic() + seconds
    while alive := processes(directories):
        _end(alive)
        if time.monotonic() > deadline:
            raise LabError(f"processes {sorted(alive)} of the lab do not end")
        time.sleep(0.01)


def _end(pids: Collection[int]) -> None:
    """All at once, as the power goes: none has the time to see that another one is gone."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def remove(directories: Iterable[Path]) -> None:
    """Remove these groups and the groups below them. All processes in them must have ended."""
    for directory in directories:
        for base, _, _ in os.walk(directory, topdown=False):
            _remove_one(Path(base))


def _remove_one(directory: Path) -> None:
    deadline = time.monotonic() + 15
    while time.monotonic() < deadline:
        try:
            directory.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError:
            # Either the kernel is still letting go of a process that has ended, or a host that was
            # on its way up had just started one more.
            _end(processes([directory]))
            time.sleep(0.01)
    raise LabError(f"control group {directory} cannot be removed")


def cpu_seconds(group: Group) -> float:
    """Return the CPU time that all processes of a group have used so far, ended ones included."""
    for directory in group:
        if (directory / "cpuacct.usage").exists():
            return int((directory / "cpuacct.usage").read_text()) / 1e9
    for directory in group:
        if (directory / "cpu.stat").exists():
            for line in (directory / "cpu.stat").read_text().splitlines():
                if line.startswith("usage_usec "):
                    return int(line.split()[1]) / 1e6
    raise LabError("this machine's control groups do not count CPU time")


def memory_bytes(group: Group) -> int:
    """Return the memory of all processes of a group, shared pages counted in proportion."""
    total = 0
    for pid in processes(group):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return total
