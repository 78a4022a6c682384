"""Answers ``registrations()`` in templates (controller)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from remote_runtime.errors import CcmError

if TYPE_CHECKING:
    from orchestrator.registration.entry import Query
    from orchestrator.registration.store import Store


class Endpoints(list[dict[str, Any]]):
    """The result of ``registrations()`` in a template: a list with a method."""

    METHODS = ("PrometheusFileSD",)

    def PrometheusFileSD(self) -> str:  # noqa: N802 - Choria CCM's own name
        """The entries with a port, as JSON for Prometheus's ``file_sd_configs``.

        Annotations become labels with valid names.
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
    """The registrations of one run: each query runs once, on first use.

    Every host of a run therefore gets the same answer, however long the run takes. If several
    processes of a run have one, all but one forward to that one (``forward_to``). Thread-safe.
    """

    def __init__(self, opener: Callable[[], Store]) -> None:
        self._opener = opener
        self._store: Store | None = None
        self._lock = Lock()
        self._answers: dict[Query, list[dict[str, Any]] | CcmError] = {}
        self._elsewhere: Callable[[Any], Any] | None = None

    def __call__(self, query: Query) -> list[dict[str, Any]]:
        """The entries in the form provided to templates; CcmError, the same one for every host."""
        answer = self._answer(query)
        if isinstance(answer, CcmError):
            raise answer
        return Endpoints({**entry, "Annotations": dict(entry["Annotations"])} for entry in answer)

    def forward_to(self, ask: Callable[[Any], Any]) -> None:
        """Forward questions to another process; ``ask`` returns the result of its ``answer``."""
        self._elsewhere = ask

    def answer(self, question: Sequence[str]) -> dict[str, Any]:
        """The answer for another process, as JSON."""
        from orchestrator.registration.entry import Query

        answer = self._answer(Query(*question))
        if isinstance(answer, CcmError):
            return {"error": [answer.message, answer.kind, answer.advice]}
        return {"entries": answer}

    def _answer(self, query: Query) -> list[dict[str, Any]] | CcmError:
        with self._lock:
            if query not in self._answers:
                self._answers[query] = self._ask(query)
            return self._answers[query]

    def _ask(self, query: Query) -> list[dict[str, Any]] | CcmError:
        try:
            if self._elsewhere is not None:
                told = self._elsewhere(list(query))
                return CcmError(*told["error"]) if "error" in told else list(told["entries"])
            self._store = self._store or self._opener()
            return [entry.template_form() for entry in self._store.lookup(query)]
        except CcmError as error:
            return error
