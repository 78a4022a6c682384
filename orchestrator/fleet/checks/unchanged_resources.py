"""Converged resources, as a host reports them and a run stores them (controller).

A host sends rows (``remote_runtime/protocol/unchanged_batch.py``). A run directory and the messages
of a worker have the same rows. Each row has the number of the string that the plan implies for its
resource. An event is created only on request.
"""

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from orchestrator.fleet.checks.event_check import MAX_DURATION, EventCheck, finished, refuse
from orchestrator.support.plain_text import plain
from remote_runtime.errors import ProtocolError
from remote_runtime.protocol import wire
from remote_runtime.protocol.unchanged_batch import CERTAIN, MAX_ROWS, MAX_TEXT_LENGTH
from remote_runtime.protocol.unchanged_events import LATEST, whole_events
from remote_runtime.reporting.events import encode_id

PREFIX = '{"stable":'
_MAX_PARSED = 1_000
_MESSAGE = frozenset(["t", "seq", "id", "at", "noop", "prediction", "rows"])
_HIGHEST = 1 << 130  # the capacity of 26 characters

_encode = json.JSONEncoder(separators=(",", ":")).encode
_parsed: Callable[[str], dict[str, Any]] = lru_cache(_MAX_PARSED)(json.loads)


class PlannedFields(NamedTuple):
    """The part of one resource's event that comes from its plan, as JSON text on one line.
    ``ensures``: the plan has the desired state."""

    text: str
    ensures: bool


class UnchangedResources(NamedTuple):
    """Resources of one host, in the order of the run; ``number`` is the ID of the first event and
    ``at`` its end, in microseconds since the epoch. ``implied`` has a string for each row.
    """

    host: str
    run_id: str
    number: int
    at: int
    noop: bool
    prediction: str
    rows: list[list[Any]]
    implied: tuple[str, ...]

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.rows)

    @property
    def indices(self) -> list[int]:
        """The index of each resource in the plan."""
        return [row[0] for row in self.rows]

    def events(self) -> Iterator[tuple[dict[str, Any], str]]:
        """Their transaction events, each with its JSON text on one line; the result is always the
        same.
        """
        origin = {"host": self.host, "run_id": self.run_id}
        for event in whole_events(self._head(), map(_parsed, self.implied)):
            yield finished({**event, **origin})

    def line(self, numbers: "TextNumbers") -> str:
        """The line in a run directory."""
        return _encode({"stable": {"host": self.host, **self.message(numbers)}})

    def message(self, numbers: "TextNumbers") -> dict[str, Any]:
        """The form that ``read_unchanged`` reads."""
        return {**self._head(), "resources": list(map(numbers.of, self.implied))}

    def _head(self) -> dict[str, Any]:
        return {
            "id": self.number,
            "at": self.at,
            "noop": self.noop,
            "prediction": self.prediction,
            "rows": self.rows,
        }


class TextNumbers:
    """Numbers strings from 0. ``new`` are those numbered since the last reset."""

    def __init__(self) -> None:
        self.new: list[str] = []
        self._numbers: dict[str, int] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, text: str) -> int:
        """Return the number of a string."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = self._next
            self._next += 1
            self.new.append(text)
        return number

    def forget(self, first: int | None = None) -> None:
        """Restart the numbering, at ``first`` or after the numbers used so far."""
        self._numbers.clear()
        self._next = self._next if first is None else first


def rows_problem(noop: Any, prediction: Any, rows: Any) -> str:
    """The problem of such rows from any source, "" for none."""
    if type(noop) is not bool or prediction not in ("", CERTAIN):
        return "noop or prediction is invalid"
    if type(rows) is not list or not 0 < len(rows) <= MAX_ROWS:
        return f"expected 1 to {MAX_ROWS} rows"
    return "" if all(map(_is_row, rows)) else "a row is invalid"


def _is_row(row: Any) -> bool:
    if type(row) is not list or len(row) not in (3, 5):
        return False
    index, duration, provider, *states = row
    return (
        type(index) is int
        and index >= 0
        and type(duration) is int
        and 0 <= duration <= MAX_DURATION
        and _is_short(provider)
        and all(state is None or _is_short(state) for state in states)
    )


def _is_short(text: Any) -> bool:
    return type(text) is str and len(text) <= MAX_TEXT_LENGTH


def read_unchanged(
    host: str, run_id: str, message: dict[str, Any], text: Callable[[int], str]
) -> UnchangedResources:
    """The rows of a message with ``resources``; ``text`` returns the string with a number.

    ValueError, LookupError or TypeError for a damaged message, and errors of ``text``.
    """
    rows, numbers = message["rows"], message["resources"]
    problem = rows_problem(message["noop"], message["prediction"], rows)
    if problem:
        raise ValueError(problem)
    if len(numbers) != len(rows) or not all(type(n) is int and n >= 0 for n in numbers):
        raise ValueError("expected one resource number per row")
    if type(message["id"]) is not int or type(message["at"]) is not int:
        raise TypeError("id and time must be numbers")
    return UnchangedResources(
        host=host,
        run_id=run_id,
        number=message["id"],
        at=message["at"],
        noop=message["noop"],
        prediction=message["prediction"],
        rows=rows,
        implied=tuple(map(text, numbers)),
    )


def read_line(line: str, run_id: str, text: Callable[[int], str]) -> UnchangedResources:
    """The rows of a line of a run directory; see ``read_unchanged``."""
    message = json.loads(line)["stable"]
    return read_unchanged(message["host"], run_id, message, text)


def check_unchanged(
    check: EventCheck, message: wire.Message, implied: Callable[[int], PlannedFields | None]
) -> tuple[UnchangedResources, int]:
    """Check a report of unchanged resources as ``check`` does for events; ProtocolError.

    Returns resources that may be shown and stored, and how many of them were reported before.

    ``implied`` returns the members of an event that follow from the plan, None if they do not.
    """
    number, at, rows = message.get("id"), message.get("at"), message.get("rows")
    if message.keys() != _MESSAGE or type(at) is not int or type(number) is not int:
        raise _wrong(check)
    noop, prediction = message["noop"], message["prediction"]
    if rows_problem(noop, prediction, rows) or not 0 <= number <= _HIGHEST - MAX_ROWS:
        raise _wrong(check)
    assert isinstance(rows, list)
    check.require_next(message["seq"], encode_id(number))
    if not 0 <= at < LATEST - sum(row[1] for row in rows) // 1000:
        raise _wrong(check)
    again, texts = 0, []
    for row in rows:
        again += check.take_turn(row[0])
        texts.append(_implied(check, row, implied))
    check.counted(len(rows), encode_id(number + len(rows) - 1))
    plain_rows = [[index, duration, *map(_plain, rest)] for index, duration, *rest in rows]
    host, run_id = check.origin
    unchanged = UnchangedResources(
        host,
        run_id,
        number,
        at,
        noop=noop,
        prediction=prediction,
        rows=plain_rows,
        implied=tuple(texts),
    )
    return unchanged, again


def _implied(
    check: EventCheck, row: list[Any], implied: Callable[[int], PlannedFields | None]
) -> str:
    """The members that the plan implies for the resource of a row; the row has the others."""
    of_plan = implied(row[0])
    says_requested = len(row) == 5 and row[4] is not None
    if of_plan is None or of_plan.ensures == says_requested:
        raise _wrong(check)
    return of_plan.text


def _plain(text: str | None) -> str | None:
    return None if text is None else plain(text)


def _wrong(check: EventCheck) -> ProtocolError:
    return refuse(f"event {check.count + 1}: the batch of unchanged resources is invalid")
