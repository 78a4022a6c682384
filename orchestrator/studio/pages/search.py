"""A search for hosts, resources, runs and resource results (controller)."""

from orchestrator.studio.index.reader import like
from orchestrator.studio.pages.page import MARKS, Page, Parameters
from orchestrator.studio.pages.page_context import RUN_COLUMNS, Studio

MAX_RESULTS = 50  # of each
_TEXTS = """
SELECT found.*, runs.id FROM (
    SELECT words, resources.name, run_texts.status, count(DISTINCT run) AS number, max(run) AS last,
        count(DISTINCT text) AS texts
    FROM run_texts JOIN resources USING (resource) JOIN texts USING (text)
    WHERE text IN (SELECT text FROM texts WHERE words LIKE ? ESCAPE '\\'{own} LIMIT 500)
    GROUP BY resource, run_texts.status ORDER BY last DESC LIMIT ?
) AS found JOIN runs ON runs.run = found.last ORDER BY found.last DESC
"""
_OWN = " AND text IN (SELECT text FROM changes)"
"""Limits the result to strings of visible hosts, because ``texts`` has the strings of all hosts."""

_RUNS = f"""
SELECT {RUN_COLUMNS} FROM runs
WHERE id LIKE ? ESCAPE '\\' OR revision LIKE ? ESCAPE '\\' OR who LIKE ? ESCAPE '\\'
    OR manifest LIKE ? ESCAPE '\\' ORDER BY run DESC LIMIT ?
"""


def search_page(studio: Studio, parameters: Parameters) -> Page:
    """The results that contain the text ``q``."""
    word = parameters.text("q")
    values = {"q": word, "marks": MARKS, "max_results": MAX_RESULTS}
    if not word:
        empty: list[object] = []
        found = dict.fromkeys(("hosts", "resources", "runs", "texts"), empty)
        return Page("search.html", "Search", {**values, **found})
    pattern = like(word)
    select = "SELECT {} FROM {} WHERE name LIKE ? ESCAPE '\\' ORDER BY {} LIMIT ?"
    rows = studio.reader.rows
    return Page(
        "search.html",
        f"Search: {word}",
        {
            **values,
            "hosts": rows(select.format("name, outcome", "hosts", "sort"), (pattern, MAX_RESULTS)),
            "resources": rows(select.format("name", "resources", "name"), (pattern, MAX_RESULTS)),
            "runs": rows(_RUNS, (pattern, pattern[1:], pattern, pattern, MAX_RESULTS)),
            "texts": rows(
                _TEXTS.format(own=_OWN if studio.is_part else ""), (pattern, MAX_RESULTS)
            ),
        },
    )
