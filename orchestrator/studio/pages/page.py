"""Pages, requests of browsers, and the labels of outcomes (controller)."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from orchestrator.report.html.matrix import HOST_LETTERS, LETTERS
from orchestrator.report.summary_texts import shown_status

MARKS = {**LETTERS, **HOST_LETTERS, "ok": "·", "waiting": "H", "running": "…"}
"""A letter for each outcome, so that no outcome is distinguished by color alone."""
_WORDS = {"ok": "unchanged", "defect": "internal error", "waiting": "not started"}


def outcome_words(outcome: str, noop: bool) -> str:
    """The labels of host outcomes and resource statuses."""
    return _WORDS.get(outcome) or shown_status(outcome, bool(noop))


MAX_PARAMETER_LENGTH = 300  # characters of a parameter
MAX_PAGE = 100_000
ROWS = 100  # hosts on a page of the matrix


class Page(NamedTuple):
    """A template with its values; ``live`` is the run, or "*" for any, whose updates affect it."""

    template: str
    title: str
    values: dict[str, Any]
    status: int = 200
    live: str | None = None


class MissingPageError(Exception):
    """The requested object does not exist; the message names it."""


class Parameters:
    """The parameters of an address: untrusted strings of limited length."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = {name: text[:MAX_PARAMETER_LENGTH].strip() for name, text in values.items()}

    def text(self, name: str) -> str:
        """Return the value of a parameter; "" if it is missing."""
        return self._values.get(name, "")

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """One of the allowed words; the first one if the value is not allowed."""
        found = self.text(name)
        return found if found in choices else choices[0]

    @property
    def page(self) -> int:
        """The page number, starting at 1."""
        text = self.text("page")
        number = int(text) if text.isdecimal() and len(text) < 7 else 1
        return min(max(1, number), MAX_PAGE)

    def changed(self, **members: str | int) -> str:
        """The query with changed values; empty values are omitted."""
        values = {**self._values, **{name: str(value) for name, value in members.items()}}
        return urlencode({name: text for name, text in values.items() if text})


class Pager(NamedTuple):
    """The position of a page: ``first`` to ``last`` of ``total`` rows, counted from 1."""

    total: int
    page: int
    size: int

    @property
    def offset(self) -> int:
        """The number of rows before this page."""
        return (self.page - 1) * self.size

    @property
    def first(self) -> int:
        """The number of the first row."""
        return self.offset + 1

    @property
    def last(self) -> int:
        """The number of the last row."""
        return min(self.total, self.offset + self.size)

    @property
    def before(self) -> int:
        """The number of the previous page; 0 if there is none."""
        return self.page - 1

    @property
    def after(self) -> int:
        """The number of the next page; 0 if there is none."""
        return self.page + 1 if self.last < self.total else 0


def pager(total: int, parameters: Parameters, size: int = ROWS) -> Pager:
    """The requested page, or the last one."""
    last = max(1, -(-total // size))
    return Pager(total, min(parameters.page, last), size)
