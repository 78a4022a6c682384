"""Writes the page (controller)."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from orchestrator.fleet.store.stored_runs import ReportSource
from orchestrator.report.durations import duration_text
from orchestrator.report.grouping import ORDER
from orchestrator.report.html.matrix import HOST_LETTERS, LETTERS, Matrix
from orchestrator.report.html.sections import outcome_of, sections_of
from orchestrator.report.html.timeline import WIDTH, Timeline
from orchestrator.report.matrix import Grid
from orchestrator.report.summary_texts import diff_role, shown_status
from remote_runtime.version import VERSION

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_TEXT = 8 << 20  # bytes of messages and diffs
MAX_DIFF_LINES = 2_000
MAX_SLOWEST = 10
MAX_NAME_LENGTH = 40  # characters, above and next to the matrix


def environment(own: Callable[[str], str | None] = lambda name: None) -> Environment:
    """The templates of a run's page, with their filters; every value is escaped.

    ``own`` returns the text of an additional template that is not part of the page, None for
    others.
    """
    from jinja2 import ChoiceLoader, Environment, FunctionLoader, StrictUndefined

    made = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=ChoiceLoader([FunctionLoader(own), FunctionLoader(page_text)]),
    )
    made.filters.update(
        shortly=_shortly, middle=shorten_middle, shown=shown_status, outcome_of=outcome_of
    )
    made.filters.update(took=duration_text, diff=_diff_lines)
    return made


def write_html(source: ReportSource, out: TextIO) -> None:
    """Write a stored run as one self-contained page. InputError for a damaged directory."""
    grid = Grid(source, MAX_TEXT)
    template = environment().get_template("page.html")
    for piece in template.generate(_scope(grid)):
        out.write(piece)
    out.flush()


def _scope(grid: Grid) -> dict[str, Any]:
    matrix, timeline = Matrix(grid), Timeline(grid)
    style, script = page_text("page.css"), page_text("page.js")
    results = sorted(grid.results.values(), key=lambda result: ORDER.index(result.outcome))
    return {
        "version": VERSION,
        "sections": sections_of(grid),
        "results": results,
        "in_trouble": {result.host: result.outcome for result in results if result.outcome != "ok"},
        "letters": LETTERS,
        "marks": {**LETTERS, **HOST_LETTERS},
        "matrix": matrix,
        "details": _for_script(matrix.details()),
        "timeline": timeline,
        "width": WIDTH,
        "slow_hosts": sorted(results, key=lambda result: -result.seconds)[:MAX_SLOWEST],
        "slow_resources": slowest_resources(grid)[:MAX_SLOWEST],
        "style": style,
        "script": script,
        "policy": f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}",
    }


def _shortly(seconds: float) -> str:
    """A duration that may be too short for ``duration_text``."""
    if seconds >= 1:
        return duration_text(seconds)
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.0005 else "under 1 ms"


def shorten_middle(name: str) -> str:
    """A name shortened in the middle: paths differ at their end, types at the beginning."""
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[:12]}…{name[13 - MAX_NAME_LENGTH :]}"


def _diff_lines(text: str) -> list[tuple[str, str]]:
    """Each line of a diff with its kind."""
    lines = text.splitlines()
    told = [(diff_role(line), line) for line in lines[:MAX_DIFF_LINES]]
    remaining = len(lines) - len(told)
    return (
        [*told, ("place", f"… {remaining} more lines, see ccm report --json")]
        if remaining
        else told
    )


def page_text(name: str) -> str:
    """A template, the style or the script of the page, by the name of its file."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash of a style or script for the content security policy."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _for_script(data: dict[str, Any]) -> str:
    """JSON that cannot end the script element that contains it."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


class SlowResource(NamedTuple):
    """One resource across all hosts; times are in seconds."""

    resource: str
    hosts: int
    mean: float
    longest: float
    where: str


def slowest_resources(grid: Grid) -> list[SlowResource]:
    """Every resource, the slowest one on any host first."""
    result: dict[str, list[tuple[float, str]]] = {}
    for host, cells in grid.cells.items():
        for name, cell in cells.items():
            result.setdefault(name, []).append((cell.seconds, host))
    slow = []
    for name, times in result.items():
        longest, where = max(times)
        mean = sum(seconds for seconds, _ in times) / len(times)
        slow.append(SlowResource(name, len(times), mean=mean, longest=longest, where=where))
    return sorted(slow, key=lambda one: -one.longest)
