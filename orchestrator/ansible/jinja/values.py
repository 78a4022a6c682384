"""Values that an expression of Ansible can have (controller)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def kind_of(value: Any) -> str:
    """``bool``, ``number``, ``text``, ``list``, ``map`` or ``none``."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    if value is None:
        return "none"
    if isinstance(value, str):
        return "text"
    return "map" if isinstance(value, dict) else "list"


@dataclass
class Sample:
    """Values that were seen, the kinds of others, and whether there may be any other value."""

    values: list[Any] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    open: bool = False

    def all_kinds(self) -> set[str]:
        """The kinds of all values that are known of."""
        return self.kinds | {kind_of(one) for one in self.values}


OPEN = Sample(open=True)
