"""What a host has yet to tell of, by the names of its resources (controller)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Due(NamedTuple):
    """Resources by name: how often each is due yet, and those that were told of."""

    left: Counter[str]
    seen: set[str]

    @classmethod
    def of(cls, planned: Sequence[str], told: Iterable[int]) -> Due:
        """Those of a plan, of which some were ``told`` of already."""
        due = cls(Counter(planned), set())
        for name, is_told in zip(planned, told, strict=True):
            if is_told:
                due.take(name)
        return due

    def take(self, name: str) -> bool:
        """Take one that is due; whether another one of that name was told before."""
        self.left[name] -= 1
        if not self.left[name]:
            del self.left[name]  # what is due next is found first
        again = name in self.seen
        self.seen.add(name)
        return again
