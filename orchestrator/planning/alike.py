"""Resources that came to the same on several hosts, compiled once for all of these (controller)."""

from __future__ import annotations

import re
from collections.abc import Hashable
from threading import Lock

from orchestrator.manifest.declared import Declared
from orchestrator.manifest.values import expressions_in
from orchestrator.planning.compiled import Compiled

MOST_BYTES = 8 << 20
_EACH = 2000
"""Bytes that any of them takes, its text aside."""
_OWN = r"\bHost\.(name|address)\b"


class AlikeResources:
    """What the resources of a manifest were compiled to, by all that this depends on. Thread-safe.

    It forgets all that it knows when that takes more than ``most`` bytes.
    """

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._lock = Lock()
        self._known: dict[Hashable, Compiled] = {}
        self._bytes = 0
        self._shareable: dict[Declared, bool] = {}

    def is_shareable(self, declared: Declared) -> bool:
        """Whether it may come to the same on several hosts: a guess, by what it spells out.

        A wrong one costs time and nothing else.
        """
        known = self._shareable.get(declared)
        if known is None:
            values = (declared.name, *(declared.values[key] for key in declared.templated))
            found = (expression for value in values for expression in expressions_in(value))
            known = not any(re.search(_OWN, expression.source) for expression in found)
            self._shareable[declared] = known
        return known

    def get(self, key: Hashable) -> Compiled | None:
        """What was compiled for a host whose key was the same."""
        return self._known.get(key)

    def keep(self, key: Hashable, made: Compiled) -> None:
        """Have it at hand for hosts to come."""
        size = _EACH + len(made.json) + sum(blob.size for blob in made.blobs)
        if size > self._most:
            return
        with self._lock:
            if self._bytes + size > self._most:
                self._known = {}
                self._bytes = 0
            self._known[key] = made
            self._bytes += size
