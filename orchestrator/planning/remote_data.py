"""Data from other machines, read once for all manifests of a run (controller)."""

from __future__ import annotations

from typing import Any, NoReturn

from orchestrator.language.errors import (
    NEEDS_DATA,
    NEEDS_STORE,
    EvaluationError,
    FactsUnavailableError,
)
from orchestrator.language.facts import Facts
from orchestrator.planning.options import PlanOptions
from orchestrator.sources.address import SourceError, is_url, parse_address
from orchestrator.sources.text import Access, read_text
from remote_runtime.errors import InputError, Problem


def fetched(options: PlanOptions) -> PlanOptions:
    """The options with the text of each URL in ``hiera``. InputError with every problem.

    Without ``contact``, some may be missing.
    """
    wanted = [name for name in options.hiera if is_url(name) and name not in options.fetched]
    if not wanted:
        return options
    access = Access(options.source_hosts, options.contact, options.nats or "", options.registration)
    texts = dict(options.fetched)
    problems: list[Problem] = []
    for name in dict.fromkeys(wanted):
        try:
            text = read_text(name, access)
        except SourceError as error:
            message = f"--hiera: {error.message}"
            problems.append(Problem(message, None, error.hint, error.kind))
            continue
        if text is not None:
            texts[name] = text
    if problems:
        raise InputError(problems)
    return options._replace(fetched=texts)


def shown(name: str) -> str:
    """A data source as positions and reports name it."""
    return parse_address(name).shown if is_url(name) else name


class NotContactedError(FactsUnavailableError):
    """A template needs another machine, and none may be contacted."""

    default_kind = NEEDS_STORE

    def __init__(self) -> None:
        EvaluationError.__init__(self, "no other machine is contacted")
        self.family = "kvGet"


class UnreadDataError(FactsUnavailableError):
    """A template reads data of which a part is on another machine and was not read."""

    default_kind = NEEDS_DATA

    def __init__(self, key: str) -> None:
        EvaluationError.__init__(self, f"data.{key} is not known: no source of data is contacted")
        self.family = key


class UnknownData(Facts):
    """The data of a manifest of which a part was not read: reading it raises."""

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
