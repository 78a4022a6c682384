"""The resources that a host has not reported yet, by name (controller)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class MissingReports(NamedTuple):
    """Resources by name: how many reports of each are missing, and which were reported."""

    missing: Counter[str]
    reported: set[str]

    @classmethod
    def of(cls, planned: Sequence[str], reported: Iterable[int]) -> "MissingReports":
        """The resources of a plan, without those that were already ``reported``."""
        reports = cls(Counter(planned), set())
        for name, has_report in zip(planned, reported, strict=True):
            if has_report:
                reports.take(name)
        return reports

    def take(self, name: str) -> bool:
        """Record the report of an expected resource; return whether one with that name was reported
        before.
        """
        self.missing[name] -= 1
        if not self.missing[name]:
            del self.missing[name]  # the next one is found first
        again = name in self.reported
        self.reported.add(name)
        return again
