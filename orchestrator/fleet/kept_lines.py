"""Lines of a run's folder, read back (controller); ``run_folder`` says what they are."""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orchestrator.fleet.event_check import kept_problem
from orchestrator.fleet.stable_turns import PREFIX, Form, StableTurns, read_line
from remote_runtime.errors import ProtocolError

_DAMAGED = (
    LookupError, TypeError, AttributeError, OverflowError, RecursionError, ProtocolError,
)  # fmt: skip


def whole_lines(path: Path) -> Iterator[str]:
    """The lines of a file that have an end; OSError."""
    with open(path, encoding="utf-8") as source:
        for line in source:
            if line.endswith("\n"):
                yield line[:-1]


def ends_in_half_a_line(path: Path) -> bool:
    """Whether the last line of a file has no end; OSError."""
    with open(path, "rb") as source:
        if not source.seek(0, os.SEEK_END):
            return False
        source.seek(-1, os.SEEK_END)
        return source.read() != b"\n"


def told_lines(folder: Path, run_id: str) -> Iterator[tuple[int, str, StableTurns | None]]:
    """Each line of its events with its number, from 1, and the turns of one that tells of resources
    that are as desired. OSError, ValueError."""
    forms = _Forms(folder / "resources.jsonl")
    for number, line in enumerate(whole_lines(folder / "events.jsonl"), 1):
        stable = line.startswith(PREFIX)
        try:
            turns = read_line(line, run_id, forms.form) if stable else None
        except _DAMAGED as error:
            raise ValueError(f"line {number}: {error}") from error
        yield number, line, turns


def expanded(turns: StableTurns, number: int) -> Iterator[tuple[dict[str, Any], str]]:
    """The events of a line; ValueError where it is damaged."""
    try:
        yield from turns.events()
    except _DAMAGED as error:
        raise ValueError(f"line {number}: {error}") from error


def sound(event: Any, number: int) -> dict[str, Any]:
    """A transaction event; ValueError for the line of that ``number`` where it is none."""
    problem = kept_problem(event)
    if problem:
        raise ValueError(f"line {number}: {problem}")
    found: dict[str, Any] = event
    return found


class _Forms:
    """What plans imply of resources, by the number of the line; of a run that goes on, too."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._forms: list[Form] = []

    def form(self, number: int) -> Form:
        """That of a number; LookupError, OSError, ValueError."""
        if number >= len(self._forms):
            # It was written before the event that names it.
            known = len(self._forms)
            lines = itertools.islice(whole_lines(self._path), known, None)
            self._forms += map(Form.read, lines)
        return self._forms[number]
