"""What the actions that noop only described would have provided (target)."""

import os
from typing import Iterable, Set

from remote_runtime.changes import Condition

ANYTHING = "anything"


class Pending(object):
    """Conditions that earlier pending actions of this run make true, for certain or perhaps."""

    def __init__(self) -> None:
        self._certain: Set[Condition] = set()
        self._possible: Set[Condition] = set()
        self._names: Set[str] = set()

    def add(self, conditions: Iterable[Condition], certain: bool = True) -> None:
        """Note what a described action provides; ``certain`` as far as its prediction is."""
        for condition in conditions:
            if condition.kind == ANYTHING or not certain:
                self._possible.add(condition)
            else:
                self._certain.add(condition)
            if condition.kind in ("path", "program"):
                self._names.add(os.path.basename(condition.value))

    def holds(self, condition: Condition) -> bool:
        """Whether it is planned and known, so that it counts as there."""
        return _found(condition, self._certain)

    def may_hold(self, condition: Condition) -> bool:
        """Whether an earlier pending action may satisfy it."""
        if any(c.kind == ANYTHING for c in self._possible):
            return True
        if condition.kind == "program" and os.path.basename(condition.value) in self._names:
            return True
        return _found(condition, self._certain) or _found(condition, self._possible)


def _found(condition: Condition, among: Set[Condition]) -> bool:
    if condition in among:
        return True
    if condition.kind == "program" and "/" in condition.value:
        return Condition("path", condition.value) in among
    return condition.kind == "path" and Condition("directory", condition.value) in among
