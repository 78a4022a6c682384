"""The data of a host that is not contacted: values that only the host decides are not known
(controller)."""

from __future__ import annotations

from typing import Any

from orchestrator.language.errors import NEEDS, FactsUnavailableError
from orchestrator.language.facts import Facts
from orchestrator.manifest.deferred import Deferred, DeferredMap, plain, raw_items


class PartialData(Facts):
    """Data of which some top-level keys are not known: asking for one raises why."""

    are_partial = True

    def __init__(self, known: dict[str, Any], reasons: dict[str, FactsUnavailableError]) -> None:
        super().__init__(known, dict.fromkeys(reasons, ""))
        self.reasons = reasons

    def refuse(self, key: object) -> None:
        """Raise FactsUnavailableError for what is not known."""
        if isinstance(key, str) and key in self.reasons:
            raise self.reasons[key]

    def handed(self, key: str) -> Any:
        """The value of a key for a child manifest, where one that is not known stays so."""
        if key in self.reasons:
            return Deferred([], f"data.{key}", lambda: self.refuse(key))
        return dict.__getitem__(self, key)


def finish_partly(root: DeferredMap) -> PartialData:
    """The data with every value computed that can be; EvaluationError for one that is wrong."""
    known: dict[str, Any] = {}
    reasons: dict[str, FactsUnavailableError] = {}
    for key, value in raw_items(root):
        try:
            known[key] = plain(value)
        except FactsUnavailableError as error:
            if error.kind not in NEEDS:
                raise
            reasons[key] = error
    return PartialData(known, reasons)
