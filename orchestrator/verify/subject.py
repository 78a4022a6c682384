"""A resource as provided to a check: its name and its desired values (controller)."""

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from remote_runtime.plan_item import Item


class Subject(NamedTuple):
    """``properties`` are the final ones of the plan; properties that are not set are missing.

    ``run`` has every resource of the plan.
    """

    name: str
    properties: dict[str, Any]
    run: Sequence[Item] = ()

    def get(self, key: str, default: Any = None) -> Any:
        """The desired value of a property."""
        return self.properties.get(key, default)

    def text(self, key: str) -> str:
        """Return the desired value as text; "" if there is none."""
        value = self.properties.get(key)
        return "" if value is None else str(value)


def content_hash(value: Any) -> str:
    """The SHA-256 of desired content, from a reference in the plan or from the text itself."""
    if isinstance(value, dict):
        return str(value["$blob"])
    return hashlib.sha256(str(value).encode("utf-8")).hexdigest()
