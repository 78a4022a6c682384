"""The table of the corpus: printed, and kept in docs/preview.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from docs.generate import fill

from .judging import ASSUMED, CLASSES, EXACT, INHERENT, RECORD, UNKNOWN, WRONG, Verdict
from .running import Result

_HEADINGS = {
    EXACT: "Certain and exact",
    RECORD: "Other record",
    ASSUMED: "Assumed",
    UNKNOWN: "Unknown",
    WRONG: "Wrong",
    INHERENT: "Only by running",
}


def table(results: Iterable[Result]) -> str:
    """How the predictions of each type came out, as a Markdown table with a line of totals."""
    verdicts = [verdict for result in results for verdict in result.verdicts]
    types = sorted({verdict.type for verdict in verdicts})
    rows = [["Type", "Resources", *_HEADINGS.values()]]
    rows += [_row(f"`{kind}`", [v for v in verdicts if v.type == kind]) for kind in types]
    rows.append(_row("All", verdicts))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths)) + " |" for row in rows
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _row(first: str, verdicts: Sequence[Verdict]) -> list[str]:
    counts = [sum(1 for v in verdicts if v.kind == kind) for kind in CLASSES]
    return [first, str(len(verdicts)), *map(str, counts)]


def share(results: Iterable[Result]) -> str:
    """How much of what can be known was certain and exact, in words."""
    verdicts = [v for result in results for v in result.verdicts]
    knowable = [v for v in verdicts if v.kind == EXACT or not v.open]
    exact = sum(1 for v in knowable if v.kind == EXACT)
    percent = 100 * exact / len(knowable) if knowable else 100.0
    return f"{exact} of {len(knowable)} predictable ones are certain and exact: {percent:.1f}%"


def write(page: Path, results: Sequence[Result]) -> None:
    """Put the table into a page, between its markers, with what only running can tell."""
    reasons = {
        f"- `{result.scenario.name}`, {verdict.resource}: "
        f"{result.scenario.inherent[verdict.resource]}"
        for result in results
        for verdict in result.verdicts
        if verdict.kind == INHERENT
    }
    parts = {
        "corpus": f"{len(results)} scenarios. {share(results)}.\n\n{table(results)}",
        "inherent": "\n".join(sorted(reasons)) or "Nothing.",
    }
    page.write_text(fill(page.read_text(encoding="utf-8"), parts), encoding="utf-8")
