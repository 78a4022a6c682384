"""Values that an Ansible expression can have (controller)."""

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
    """Known values, the kinds of other values, and whether any other value is possible."""

    values: list[Any] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    open: bool = False

    def all_kinds(self) -> set[str]:
        """The kinds of all known values."""
        return self.kinds | {kind_of(one) for one in self.values}


OPEN = Sample(open=True)
