"""The resources that a host has not reported yet, by name (controller)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class MissingReports(NamedTuple):
    """Resources by name: how many reports of each are missing, and which were reported."""

    left: Counter[str]
    seen: set[str]

    @classmethod
    def of(cls, planned: Sequence[str], told: Iterable[int]) -> MissingReports:
        """The resources of a plan, without those already ``told``."""
        due = cls(Counter(planned), set())
        for name, has_report in zip(planned, told, strict=True):
            if has_report:
                due.take(name)
        return due

    def take(self, name: str) -> bool:
        """Record a report of a due resource; whether one of that name was reported before."""
        self.left[name] -= 1
        if not self.left[name]:
            del self.left[name]  # what is due next is found first
        again = name in self.seen
        self.seen.add(name)
        return again
