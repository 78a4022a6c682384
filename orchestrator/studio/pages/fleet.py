"""The fleet: hosts as rows, runs as columns, trouble first; charts of drift (controller)."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from orchestrator.report.host_names import fold
from orchestrator.report.text_normalization import HOST, normalized
from orchestrator.studio.index.host_state import (
    FINE,
    FLAPPING,
    NEVER_REACHED,
    NO_RUN,
    TROUBLE,
)
from orchestrator.studio.index.reader import Row
from orchestrator.studio.pages.page import (
    MARKS,
    MAX_PARAMETER_LENGTH,
    Page,
    Parameters,
    outcome_words,
    pager,
)
from orchestrator.studio.pages.page_context import (
    RUN_COLUMNS,
    Studio,
    hosts_text,
    moment,
    runs_by_number,
)
from orchestrator.studio.pages.run_list import KINDS, RunFilter, run_filter

MAX_RUNS = 60
WIDTH, HEIGHT = 460, 120  # units of the drawing
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 10, 22  # its margins
_CHARTED = """
SELECT id, start, drifted, compared, as_predicted, command FROM runs
WHERE {condition} AND state = 'ended' AND (is_push OR noop) ORDER BY run DESC LIMIT {maximum}
"""


class Point(NamedTuple):
    """A run in a chart: its position, its ``run`` and ``moment``, and its value as text."""

    x: float
    y: float
    run: str
    moment: str
    words: str


class Chart(NamedTuple):
    """A line over time; ``top`` and ``bottom`` are the values at its ends, ``column`` is the
    heading of the values in a table.
    """

    name: str
    title: str
    column: str
    points: list[Point]
    top: str
    bottom: str = "0"

    @property
    def line(self) -> str:
        """The points of the line."""
        return " ".join(f"{one.x:g},{one.y:g}" for one in self.points)

    @property
    def summary(self) -> str:
        """The content of the drawing as text, for accessibility."""
        first, last = self.points[0], self.points[-1]
        count = len(self.points)
        return (
            f"{self.title}: {first.words} on {first.moment}, {last.words} on {last.moment},"
            f" {count} run{'' if count == 1 else 's'}"
        )


class _Value(NamedTuple):
    run: Row
    value: float
    words: str


def charts(studio: Studio, found: RunFilter) -> list[Chart]:
    """The charts of the latest runs that match a filter; none if nothing was compared."""
    query = _CHARTED.format(condition=found.condition, maximum=MAX_RUNS)
    runs = studio.reader.rows(query, found.values)[::-1]
    made = []
    if any(run["drifted"] or run["command"] == "drift" for run in runs):
        drift = [_Value(run, run["drifted"], f"{run['drifted']:,} drifted") for run in runs]
        maximum = max(one.value for one in drift)
        title = "Resources that differ from the last push"
        points = _points(drift, maximum or 1)
        made.append(Chart("drift", title, "Drifted", points=points, top=f"{maximum or 1:,}"))
    compared = [run for run in runs if run["compared"]]
    if compared:
        shares = [(run, run["as_predicted"] / run["compared"]) for run in compared]
        values = [_Value(run, share, f"{share:.0%} as predicted") for run, share in shares]
        points = _points(values, 1)
        title = "Changes that match the prediction of the plan"
        made.append(
            Chart("accuracy", title, "As predicted", points=points, top="100%", bottom="0%")
        )
    return made


def _points(values: Sequence[_Value], maximum: float) -> list[Point]:
    """The points of the values, equally spaced in the order of their runs."""
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    step = across / max(len(values) - 1, 1)
    return [
        Point(
            round(LEFT + step * at, 1),
            round(TOP + down * (1 - one.value / maximum), 1),
            run=one.run["id"],
            moment=moment(one.run["start"]),
            words=one.words,
        )
        for at, one in enumerate(values)
    ]


COLUMNS = 30  # runs
MAX_TROUBLED_HOSTS = 500  # hosts whose reasons are grouped
MAX_LINKED_GROUPS = 20  # groups of these hosts with a link: a pattern looks at every host
_CONDITIONS = {
    "any": "1",
    "trouble": f"rank = {TROUBLE}",
    "never": f"rank = {NEVER_REACHED}",
    "flapping": "flaps_since IS NOT NULL",  # in trouble, too, after a failure
    "none": f"rank = {NO_RUN}",
    "fine": f"rank = {FINE}",
}
STATES = tuple(_CONDITIONS)
WORDS = {
    TROUBLE: "in trouble",
    NEVER_REACHED: "never reached",
    FLAPPING: "flapping",
    NO_RUN: "without a run",
    FINE: "fine",
}
_TROUBLED = """
SELECT hosts.name, hosts.outcome, hosts.since, hosts.flaps_since, host_runs.message, hosts.last,
    host_runs.unverified,
    (SELECT words FROM changes JOIN texts USING (text)
     WHERE changes.host = hosts.host AND changes.run = hosts.last AND changes.status = 'failed'
     LIMIT 1) AS reason
FROM hosts JOIN host_runs ON host_runs.host = hosts.host AND host_runs.run = hosts.last
WHERE hosts.rank IN (?, ?) AND {where} ORDER BY hosts.sort LIMIT ?
"""


def fleet_page(studio: Studio, parameters: Parameters) -> Page:
    """The matrix, with the filters of hosts and runs."""
    runs = _runs(studio, parameters)
    condition, values, problem = host_filter(studio, parameters)
    state = parameters.choice("state", STATES)
    counts = _counts(studio, condition, values)
    at = pager(counts[state], parameters)
    narrowed = f"{condition} AND {_CONDITIONS[state]}"
    hosts = studio.reader.rows(
        f"SELECT * FROM hosts WHERE {narrowed} ORDER BY rank, sort LIMIT ? OFFSET ?",
        [*values, at.size, at.offset],
    )
    return Page(
        "fleet.html",
        "Fleet",
        {
            "runs": runs,
            "hosts": hosts,
            "cells": _cells(studio, hosts, runs),
            "since": runs_by_number(
                studio, [host["flaps_since"] or host["since"] for host in hosts]
            ),
            "counts": counts,
            "troubled": _troubled(studio, condition, values),
            "charts": charts(studio, run_filter(parameters)),
            "frame": (LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM),
            "size": (WIDTH, HEIGHT),
            "pager": at,
            "problem": problem or studio.hosts.problem,
            "has_inventory": studio.hosts.inventory is not None,
            "groups": studio.hosts.groups(),
            "kinds": KINDS,
            "words": WORDS,
        },
        live="*",
    )


def _counts(studio: Studio, condition: str, values: list[Any]) -> dict[str, int]:
    """The number of hosts in each state; a flapping host may also be in trouble."""
    numbers = ", ".join(
        f"count(CASE WHEN {each} THEN 1 END) AS {name}" for name, each in _CONDITIONS.items()
    )
    row = studio.reader.row(f"SELECT {numbers} FROM hosts WHERE {condition}", values)
    return {name: row[name] if row else 0 for name in STATES}


def host_filter(studio: Studio, parameters: Parameters) -> tuple[str, list[Any], str]:
    """The condition on ``hosts`` for ``hosts`` (a pattern) and ``group``, with its
    values and any problems.
    """
    listed_only = studio.hosts.inventory is not None and not parameters.text("former")
    condition = "listed" if listed_only else "1"
    pattern, group = parameters.text("hosts"), parameters.text("group")
    if not pattern and not group:
        return condition, [], ""
    found = studio.hosts.select(pattern, group, _known(studio))
    names = json.dumps(sorted(found.names or ()))
    return f"{condition} AND name IN (SELECT value FROM json_each(?))", [names], found.problem


def _known(studio: Studio) -> list[str]:
    return [row["name"] for row in studio.reader.rows("SELECT name FROM hosts")]


def _runs(studio: Studio, parameters: Parameters) -> list[Row]:
    """The columns, newest first, starting with the run ``before``."""
    found = run_filter(parameters)
    condition, values = found.condition, list(found.values)
    if before := parameters.text("before"):
        condition += " AND id < ?"
        values.append(before)
    query = f"SELECT {RUN_COLUMNS} FROM runs WHERE {condition} ORDER BY run DESC LIMIT {COLUMNS}"
    return studio.reader.rows(query, values)


class Cell(NamedTuple):
    """A host in a run: the class and the letter of its outcome, its tooltip, and the number of
    failed checks of a verify.
    """

    style: str
    mark: str
    title: str
    unverified: int | None


def _cells(studio: Studio, hosts: list[Row], runs: list[Row]) -> dict[int, dict[int, Cell]]:
    """The cells by host and run."""
    rows = studio.reader.rows(
        "SELECT host, run, outcome, changed, failed, message, unverified FROM host_runs"
        " WHERE host IN (SELECT value FROM json_each(?))"
        " AND run IN (SELECT value FROM json_each(?))",
        [json.dumps([one["host"] for one in hosts]), json.dumps([one["run"] for one in runs])],
    )
    previews = {run["run"] for run in runs if run["noop"]}
    found: dict[int, dict[int, Cell]] = {host["host"]: {} for host in hosts}
    for host, run, outcome, changed, failed, message, unverified in rows:
        noop = run in previews
        count = f"{failed} failed" if failed else f"{changed} resources" if changed else ""
        title = ": ".join(filter(None, (outcome_words(outcome, noop), message or count)))
        style = f"{outcome} noop" if noop else outcome
        found[host][run] = Cell(style, MARKS[outcome], title, unverified)
    return found


def _troubled(studio: Studio, condition: str, values: list[Any]) -> list[dict[str, Any]]:
    """The problems with their start, the users of their runs and their hosts, each once; the most
    hosts first.
    """
    rows = studio.reader.rows(
        _TROUBLED.format(where=condition), [TROUBLE, NEVER_REACHED, *values, MAX_TROUBLED_HOSTS]
    )
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        name = row["name"]
        reason = normalized(_reason(row).replace(name, HOST), name)
        flaps = row["flaps_since"]
        key = (row["outcome"], flaps is not None, flaps or row["since"], reason)
        groups.setdefault(key, []).append(row)
    since = runs_by_number(studio, [row["flaps_since"] or row["since"] for row in rows])
    known = _known(studio)
    return [
        {
            "outcome": same[0]["outcome"],
            "where": hosts_text([one["name"] for one in same], 200),
            "pattern": _pattern(studio, [one["name"] for one in same], known)
            if at < MAX_LINKED_GROUPS
            else "",
            "total": len(same),
            "host": same[0]["name"],
            "flapping": same[0]["flaps_since"] is not None,
            "since": since.get(same[0]["flaps_since"] or same[0]["since"]),
            "reason": _reason(same[0]),
        }
        for at, same in enumerate(sorted(groups.values(), key=lambda same: -len(same)))
    ]


def _pattern(studio: Studio, names: list[str], known: list[str]) -> str:
    """A filter that selects exactly these hosts; "" if there is no short one."""
    pattern = ",".join(fold(names))
    if len(pattern) > MAX_PARAMETER_LENGTH:
        return ""
    return pattern if studio.hosts.select(pattern, "", known).names == frozenset(names) else ""


def _reason(row: Row) -> str:
    """The reason why a host is in trouble."""
    checks = f"verify: {row['unverified']} failed" if row["unverified"] else ""
    return row["message"] or row["reason"] or checks
