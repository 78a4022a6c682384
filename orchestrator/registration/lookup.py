"""Answers ``registrations()`` in templates (controller)."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

from orchestrator.registration.entry import Query
from orchestrator.registration.store import Store
from remote_runtime.errors import CcmError


class RegistrationLookup:
    """What one run knows of registrations: each question is asked once, at its first use.

    So every host of a run sees the same answer, however long the run takes. Thread-safe.
    """

    def __init__(self, opener: Callable[[], Store]) -> None:
        self._opener = opener
        self._store: Store | None = None
        self._lock = Lock()
        self._answers: dict[Query, list[dict[str, Any]] | CcmError] = {}

    def __call__(self, query: Query) -> list[dict[str, Any]]:
        """The entries as templates see them; CcmError, the same one for every host."""
        with self._lock:
            if query not in self._answers:
                self._answers[query] = self._ask(query)
            answer = self._answers[query]
        if isinstance(answer, CcmError):
            raise answer
        return [{**entry, "Annotations": dict(entry["Annotations"])} for entry in answer]

    def _ask(self, query: Query) -> list[dict[str, Any]] | CcmError:
        try:
            self._store = self._store or self._opener()
            return [entry.template_form() for entry in self._store.lookup(query)]
        except CcmError as error:
            return error
