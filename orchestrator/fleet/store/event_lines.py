"""Reads the lines of a run directory (controller); see ``run_directory``."""

import itertools
import json
import os
from array import array
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from orchestrator.fleet.checks.event_check import stored_event_problem
from orchestrator.fleet.checks.unchanged_resources import PREFIX, UnchangedResources, read_line
from orchestrator.fleet.store.field_checks import problem_text
from remote_runtime.errors import ProtocolError

_BLOCK = 256  # lines
_MAX_BLOCKS = 64
_DAMAGED = (
    LookupError, TypeError, AttributeError, OverflowError, RecursionError, ProtocolError,
)  # fmt: skip


def whole_lines(path: Path) -> Iterator[str]:
    """The lines of a file that have a line end; OSError."""
    with open(path, encoding="utf-8") as source:
        for line in source:
            if line.endswith("\n"):
                yield line[:-1]


def has_partial_last_line(path: Path) -> bool:
    """Whether the last line of a file has no line end; OSError."""
    with open(path, "rb") as source:
        if not source.seek(0, os.SEEK_END):
            return False
        source.seek(-1, os.SEEK_END)
        return source.read() != b"\n"


def event_lines(
    directory: Path, run_id: str
) -> Iterator[tuple[int, str, UnchangedResources | None]]:
    """Each line of a run's events with its number, counted from 1, and the rows of a line with
    converged resources. OSError, ValueError.
    """
    texts = ImpliedTexts(directory / "resources.jsonl")
    for number, line in enumerate(whole_lines(directory / "events.jsonl"), 1):
        stable = line.startswith(PREFIX)
        try:
            unchanged = read_line(line, run_id, texts.text) if stable else None
        except _DAMAGED as error:
            raise ValueError(f"line {number}: {problem_text(error)}") from error
        yield number, line, unchanged


def expanded(unchanged: UnchangedResources, number: int) -> Iterator[tuple[dict[str, Any], str]]:
    """The events of a line; ValueError if it is damaged."""
    try:
        yield from unchanged.events()
    except _DAMAGED as error:
        raise ValueError(f"line {number}: {problem_text(error)}") from error


def checked_event(event: Any, number: int) -> dict[str, Any]:
    """A transaction event; ValueError with the ``number`` of the line for anything else."""
    problem = stored_event_problem(event)
    if problem:
        raise ValueError(f"line {number}: {problem}")
    checked: dict[str, Any] = event
    return checked


class LineReader:
    """Reads single lines of the events of a run."""

    def __init__(self, directory: Path, run_id: str) -> None:
        self._texts = ImpliedTexts(directory / "resources.jsonl")
        self._run_id = run_id

    def unchanged(self, line: str) -> UnchangedResources:
        """The rows of a line with converged resources. OSError, ValueError."""
        try:
            return read_line(line, self._run_id, self._texts.text)
        except _DAMAGED as error:
            raise ValueError(problem_text(error)) from error

    def events(self, line: str) -> Iterator[tuple[dict[str, Any], str]]:
        """The events of a line, each with its JSON text. OSError, ValueError."""
        if line.startswith(PREFIX):
            yield from expanded(self.unchanged(line), 0)
        else:
            yield checked_event(json.loads(line), 0), line


class ImpliedTexts:
    """The strings that plans imply, by line number, including those of a run in progress.

    Only some blocks of lines are in memory, with the offsets of the others, because hosts may have
    many different resources.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begins = array("q", [0])  # of blocks
        self._block = lru_cache(_MAX_BLOCKS)(self._read)

    def text(self, number: int) -> str:
        """Return the string with a number; LookupError, OSError, ValueError."""
        block, place = divmod(number, _BLOCK)
        if place >= len(self._block(block)):
            self._block.cache_clear()  # it was written before the event that names it
        return self._block(block)[place]

    def _read(self, block: int) -> list[str]:
        """The complete lines of a block."""
        last = min(block, len(self._begins) - 1)
        with open(self._path, "rb") as source:
            source.seek(self._begins[last])
            while True:
                lines = list(itertools.islice(source, _BLOCK))
                whole = [line[:-1].decode("utf-8") for line in lines if line.endswith(b"\n")]
                if last == block or len(whole) < _BLOCK:
                    return whole if last == block else []
                last += 1
                if last == len(self._begins):
                    self._begins.append(self._begins[-1] + sum(map(len, lines)))
