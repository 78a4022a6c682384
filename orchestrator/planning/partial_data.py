"""Data that is unknown because it comes from a host or another machine that is not contacted
(controller).
"""

from __future__ import annotations

from typing import Any, NoReturn

from orchestrator.language.errors import (
    NEEDS,
    NEEDS_DATA,
    NEEDS_STORE,
    EvaluationError,
    FactsUnavailableError,
)
from orchestrator.language.facts import Facts
from orchestrator.manifest.deferred_values import Deferred, DeferredMap, plain, raw_items


class PartialData(Facts):
    """Data with some unknown top-level keys: reading one raises an error with the reason."""

    are_partial = True

    def __init__(self, values: dict[str, Any], reasons: dict[str, FactsUnavailableError]) -> None:
        super().__init__(values, dict.fromkeys(reasons, ""))
        self.reasons = reasons

    def refuse(self, key: object) -> None:
        """Raise FactsUnavailableError for unknown facts."""
        if isinstance(key, str) and key in self.reasons:
            raise self.reasons[key]

    def handed(self, key: str) -> Any:
        """Return the value of a key for a child manifest; an unknown value stays unknown."""
        if key in self.reasons:
            return Deferred([], f"data.{key}", lambda: self.refuse(key))
        return dict.__getitem__(self, key)


def resolve_known(root: DeferredMap) -> PartialData:
    """Return the data with every known value computed; EvaluationError for a wrong value."""
    values: dict[str, Any] = {}
    reasons: dict[str, FactsUnavailableError] = {}
    for key, value in raw_items(root):
        try:
            values[key] = plain(value)
        except FactsUnavailableError as error:
            if error.kind not in NEEDS:
                raise
            reasons[key] = error
    return PartialData(values, reasons)


class NotContactedError(FactsUnavailableError):
    """A template needs another machine, but no machine may be contacted."""

    default_kind = NEEDS_STORE

    def __init__(self) -> None:
        EvaluationError.__init__(self, "this command contacts no other machine")


class UnreadDataError(FactsUnavailableError):
    """A template reads data of which a part is on another machine and was not read."""

    default_kind = NEEDS_DATA

    def __init__(self, key: str) -> None:
        EvaluationError.__init__(
            self, f"data.{key} is not known: this command contacts no data source"
        )


class UnknownData(Facts):
    """The data of a manifest of which a part was not read; reading it raises an error."""

    are_partial = True

    def __init__(self) -> None:
        super().__init__({}, {})

    def refuse(self, key: object) -> NoReturn:
        """Raise UnreadDataError."""
        raise UnreadDataError(str(key))

    def refuse_any(self) -> NoReturn:
        """Raise FactsUnavailableError for any member."""
        self.refuse("data")

    def __getitem__(self, key: str) -> Any:
        self.refuse(key)
