"""The resources that took longest (controller)."""

from __future__ import annotations

from typing import NamedTuple

from orchestrator.report.grid import Grid


class SlowResource(NamedTuple):
    """One resource across all hosts; times are in seconds."""

    resource: str
    hosts: int
    mean: float
    longest: float
    where: str


def slowest_resources(grid: Grid) -> list[SlowResource]:
    """Every resource, the slowest one on any host first."""
    found: dict[str, list[tuple[float, str]]] = {}
    for host, cells in grid.cells.items():
        for name, cell in cells.items():
            found.setdefault(name, []).append((cell.seconds, host))
    slow = []
    for name, times in found.items():
        longest, where = max(times)
        mean = sum(seconds for seconds, _ in times) / len(times)
        slow.append(SlowResource(name, len(times), mean=mean, longest=longest, where=where))
    return sorted(slow, key=lambda one: -one.longest)
