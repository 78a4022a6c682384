"""A feed of runs, and badges of the fleet, for other programs (controller).

The strings come from hosts and files, and are escaped in JSON and SVG.
"""

import json
from collections.abc import Collection
from html import escape
from typing import Any, NamedTuple

from orchestrator.studio.index.host_state import FLAPPING, NEVER_REACHED, NO_RUN, TROUBLE
from orchestrator.studio.index.reader import IndexReader, Row
from orchestrator.studio.pages.page import Parameters
from orchestrator.studio.pages.page_context import RUN_COLUMNS, Studio

MAX_RUNS = 100  # runs of a feed
LOOKED_AT = 1_000  # runs, for a token of some hosts
_MEMBERS = ("id", "state", "command", "subject", "who", "start", "end", "hosts", "drifted")
_WIDTH = 6.5  # of a character, in pixels
_SPACE = 10  # next to a label, in pixels
_MAX_LENGTH = 40  # characters of a label


class Badge(NamedTuple):
    """The text of a badge; ``color`` is a name that browsers and shields.io support."""

    label: str
    message: str
    color: str


def feed(studio: Studio, parameters: Parameters, allowed: Collection[str] | None) -> dict[str, Any]:
    """The newest runs, or those after the run ``after``, newest first.

    Includes only runs whose hosts are all ``allowed``; None for all runs.
    """
    rows = studio.reader.rows(
        f"SELECT {RUN_COLUMNS} FROM runs WHERE run > coalesce("
        "(SELECT run FROM runs WHERE id = ?), -1) ORDER BY run DESC LIMIT ?",
        (parameters.text("after"), MAX_RUNS if allowed is None else LOOKED_AT),
    )
    shown = [row for row in rows if allowed is None or _is_allowed(studio, row, allowed)]
    return {"runs": [run_item(row) for row in shown[:MAX_RUNS]]}


def readable_runs(reader: IndexReader, hosts: Collection[str] | None) -> dict[str, bool]:
    """The runs of the index, and whether all of their hosts are among the given ones, None for any.
    Unreadable runs are omitted.
    """
    if hosts is None:
        rows = reader.rows("SELECT id, 1 FROM runs WHERE state != 'unreadable'")
    else:
        query = (
            "SELECT id, NOT EXISTS (SELECT 1 FROM host_runs JOIN hosts USING (host) WHERE"
            " host_runs.run = runs.run AND name NOT IN (SELECT value FROM json_each(?)))"
            " FROM runs WHERE state != 'unreadable'"
        )
        rows = reader.rows(query, (json.dumps(sorted(hosts)),))
    return {run_id: bool(readable) for run_id, readable in rows}


def run_item(row: Row) -> dict[str, Any]:
    """A run of the index in the feed and in a webhook."""
    return {
        **{name: row[name] for name in _MEMBERS},
        "noop": bool(row["noop"]),
        "verify": row["verified"],
        "commit": row["revision"],
        "outcomes": json.loads(row["outcomes"]),
        "resources": json.loads(row["statuses"]),
        "path": f"/runs/{row['id']}",
    }


def _is_allowed(studio: Studio, row: Row, allowed: Collection[str]) -> bool:
    """Whether a token may read a run; the hosts of an unreadable run are unknown."""
    found = studio.reader.rows(
        "SELECT name FROM host_runs JOIN hosts USING (host) WHERE run = ?", (row["run"],)
    )
    return bool(found) and all(one["name"] in allowed for one in found)


def badge(studio: Studio, parameters: Parameters, allowed: Collection[str] | None) -> Badge:
    """The state of the hosts, or of those of a ``group``."""
    group = parameters.text("group")
    names = allowed
    if group:
        of_group = studio.hosts.of_groups((group,))
        names = of_group if allowed is None else of_group & frozenset(allowed)
    label = group[:_MAX_LENGTH] or "ccm"
    counts = _counts(studio, names)
    bad = counts.get(TROUBLE, 0) + counts.get(NEVER_REACHED, 0)
    total = sum(number for rank, number in counts.items() if rank != NO_RUN)
    if not total:
        return Badge(label, "no runs", "lightgrey")
    hosts = f"{total:,} host{'' if total == 1 else 's'}"
    if bad:
        return Badge(label, f"{bad:,} of {hosts} in trouble", "red")
    flapping = counts.get(FLAPPING, 0)
    if flapping:
        return Badge(label, f"{flapping:,} of {hosts} flapping", "orange")
    return Badge(label, f"{hosts} ok", "green")


def _counts(studio: Studio, names: Collection[str] | None) -> dict[int, int]:
    """The hosts by rank."""
    where, values = "", []
    if names is not None:
        where = "WHERE name IN (SELECT value FROM json_each(?))"
        values = [json.dumps(sorted(names))]
    rows = studio.reader.rows(f"SELECT rank, count(*) FROM hosts {where} GROUP BY rank", values)
    return {row[0]: row[1] for row in rows}


def badge_document(found: Badge) -> dict[str, Any]:
    """A badge as a document in the format of shields.io."""
    return {"schemaVersion": 1, "label": found.label, "message": found.message,
            "color": found.color}  # fmt: skip


def badge_image(found: Badge) -> str:
    """A badge as SVG."""
    left, right = (round(len(text) * _WIDTH) + _SPACE for text in found[:2])
    label, message = map(escape, found[:2])
    text = '<text x="{0}" y="14" text-anchor="middle" fill="#fff">{1}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img"'
        f' aria-label="{label}: {message}" font-family="Verdana,sans-serif" font-size="11">'
        f'<rect width="{left + right}" height="20" rx="3" fill="#555"/>'
        f'<rect x="{left}" width="{right}" height="20" rx="3" fill="{found.color}"/>'
        f"{text.format(left / 2, label)}{text.format(left + right / 2, message)}</svg>"
    )
