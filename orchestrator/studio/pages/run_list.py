"""All runs, newest first, and the selection of runs by a page (controller)."""

import json
from typing import Any, NamedTuple

from orchestrator.studio.index.reader import like
from orchestrator.studio.pages.page import Page, Parameters, pager
from orchestrator.studio.pages.page_context import RUN_COLUMNS, Studio

KINDS = ("all", "pushes", "previews", "drift", "others")
_OF_KIND = {
    "pushes": "is_push",
    "previews": "noop AND command != 'drift'",
    "drift": "command = 'drift'",
    "others": "NOT is_push AND NOT noop",
}


class RunFilter(NamedTuple):
    """A condition on ``runs`` with the values for its placeholders."""

    condition: str
    values: list[Any]


def run_filter(parameters: Parameters) -> RunFilter:
    """The filter for ``kind``, ``who``, ``commit`` and ``manifest``."""
    parts: list[str] = []
    values: list[Any] = []
    kind = parameters.choice("kind", KINDS)
    if kind in _OF_KIND:
        parts.append(_OF_KIND[kind])
    for name, column in (("who", "who"), ("manifest", "manifest")):
        if text := parameters.text(name):
            parts.append(f"{column} LIKE ? ESCAPE '\\'")
            values.append(like(text))
    if commit := parameters.text("commit").rstrip("+"):
        parts.append("revision LIKE ? ESCAPE '\\'")
        values.append(like(commit)[1:])
    return RunFilter(" AND ".join(parts) or "1", values)


ROWS = 50


def run_list_page(studio: Studio, parameters: Parameters) -> Page:
    """The runs with their results: hosts by outcome, changes, drift and the accuracy of
    previews.
    """
    found = run_filter(parameters)
    total = studio.reader.value(f"SELECT count(*) FROM runs WHERE {found.condition}", found.values)
    at = pager(total, parameters, ROWS)
    runs = studio.reader.rows(
        f"SELECT {RUN_COLUMNS} FROM runs WHERE {found.condition}"
        " ORDER BY run DESC LIMIT ? OFFSET ?",
        [*found.values, at.size, at.offset],
    )
    return Page(
        "runs.html",
        "Runs",
        {
            "runs": [
                (run, json.loads(run["outcomes"]), json.loads(run["statuses"])) for run in runs
            ],
            "pager": at,
            "kinds": KINDS,
        },
        live="*",
    )
