"""All runs, newest first (controller)."""

import json

from orchestrator.studio.pages.page import Page, Parameters, pager
from orchestrator.studio.pages.run_filter import KINDS, run_filter
from orchestrator.studio.pages.studio import RUN_COLUMNS, Studio

ROWS = 50


def run_list_page(studio: Studio, parameters: Parameters) -> Page:
    """The runs with their results: hosts by outcome, changes, drift and the accuracy
    of previews.
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
