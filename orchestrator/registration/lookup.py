"""Answers ``registrations()`` in templates (controller)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any

from remote_runtime.errors import CcmError

if TYPE_CHECKING:
    from orchestrator.registration.entry import Query
    from orchestrator.registration.store import Store


class Endpoints(list[dict[str, Any]]):
    """What ``registrations()`` gives to a template: a list with a method."""

    METHODS = ("PrometheusFileSD",)

    def PrometheusFileSD(self) -> str:  # noqa: N802 - Choria CCM's own name
        """The entries that have a port, as JSON for Prometheus's ``file_sd_configs``.

        Annotations are labels, their names spelt as a label's may be.
        """
        groups = [
            {"targets": [entry["Endpoint"]], "labels": _labels(entry)}
            for entry in self
            if entry["Port"]
        ]
        return json.dumps(groups, indent=2, ensure_ascii=False)


def _labels(entry: Mapping[str, Any]) -> dict[str, str]:
    import re

    no_label = re.compile("[^A-Za-z0-9_]|^(?=[0-9])")
    named = {name.lower(): entry[name] for name in ("Cluster", "Service", "Protocol")}
    noted = {no_label.sub("_", key): value for key, value in entry["Annotations"].items()}
    return {**noted, **named}


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
        return Endpoints({**entry, "Annotations": dict(entry["Annotations"])} for entry in answer)

    def _ask(self, query: Query) -> list[dict[str, Any]] | CcmError:
        try:
            self._store = self._store or self._opener()
            return [entry.template_form() for entry in self._store.lookup(query)]
        except CcmError as error:
            return error
