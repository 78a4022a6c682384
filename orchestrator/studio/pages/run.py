"""A run: its report, its dependency graph, and details of hosts on request (controller)."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from orchestrator.report.html.matrix import LETTERS, Matrix
from orchestrator.report.html.sections import sections_of
from orchestrator.report.html.timeline import WIDTH, Timeline
from orchestrator.report.matrix import Grid
from orchestrator.studio.index.host_slice import HostPlace, HostSlice
from orchestrator.studio.index.reader import Row
from orchestrator.studio.index.run_reader import MAX_TROUBLED_HOSTS, at_work
from orchestrator.studio.pages.fleet import host_filter
from orchestrator.studio.pages.page import MARKS, MissingPageError, Page, Parameters, pager
from orchestrator.studio.pages.page_context import RUN_COLUMNS, Studio, place_of, resource_names

MAX_RESOURCES = 200
ROW = 22  # units of the drawing
LEFT = 130  # width of the arcs
_GRAPH_WIDTH = 760
_NARROW, _WIDE = 14, LEFT - 10
_VERBS = {"subscribe": "subscribes to", "require": "requires", "apply": "is applied by"}


class Edge(NamedTuple):
    """``resource`` refers to ``other``; ``kind`` is ``subscribe``, ``require``, or ``apply`` if
    ``other`` applies it."""

    resource: str
    other: str
    kind: str


class Node(NamedTuple):
    """A resource: the position of its text, and its status."""

    name: str
    status: str
    y: int


class Arc(NamedTuple):
    """A reference: the path of its line, the status of its resource, and its meaning."""

    path: str
    status: str
    kind: str
    title: str


class DependencyGraph:
    """The resources that refer to others or that others refer to; ``left_out`` counts those beyond
    ``MAX_RESOURCES``.
    """

    def __init__(self, resources: Sequence[tuple[str, str]], edges: Sequence[Edge]) -> None:
        linked = {name for edge in edges for name in edge[:2]}
        found = [one for one in resources if one[0] in linked]
        self.left_out = len(found[MAX_RESOURCES:])
        self.nodes = [
            Node(name, status, ROW * number + ROW // 2)
            for number, (name, status) in enumerate(found[:MAX_RESOURCES])
        ]
        self._at = {node.name: node for node in self.nodes}
        self.edges = [
            edge for edge in edges if edge.resource in self._at and edge.other in self._at
        ]
        self.width = _GRAPH_WIDTH
        self.left = LEFT
        self.height = max(ROW, ROW * len(self.nodes))

    def arcs(self) -> list[Arc]:
        """An arc for each reference, wider if the resources are further apart."""
        longest = max((abs(self._span(edge)) for edge in self.edges), default=1)
        return [self._arc(edge, longest) for edge in self.edges]

    def _span(self, edge: Edge) -> int:
        return self._at[edge.resource].y - self._at[edge.other].y

    def _arc(self, edge: Edge, longest: int) -> Arc:
        begin, end = self._at[edge.other], self._at[edge.resource]
        reach = _NARROW + (_WIDE - _NARROW) * abs(self._span(edge)) // max(longest, 1)
        x = LEFT - reach
        path = f"M {LEFT} {begin.y} C {x} {begin.y} {x} {end.y} {LEFT} {end.y}"
        verb = _VERBS[edge.kind]
        title = f"{edge.resource} {verb} {edge.other}"
        return Arc(path, end.status, kind=edge.kind, title=title)


ROWS = 40  # hosts whose resources are read for one page
MAX_TEXT = 4 << 20  # bytes of strings on a page
MAX_CELLS = 20_000
OUTCOMES = (
    "any", "failed", "unreachable", "refused", "defect", "interrupted", "waiting", "changed", "ok",
    "running",
)  # fmt: skip


def run_page(studio: Studio, run_id: str, parameters: Parameters) -> Page:
    """The sections of the report, the matrix and the timeline of some hosts, and the graph."""
    run = studio.run(run_id, f"{RUN_COLUMNS}, sections")
    title = f"{run['id']} {run['subject']}"
    if run["state"] == "unreadable":
        return Page("unreadable.html", title, {"run": run})
    hosts, at, problem = _hosts(studio, run, parameters)
    grid = grid_of(studio, run, hosts)
    sections = json.loads(run["sections"]) if run["sections"] else _own_sections(studio, run)
    live = run["id"] if run["state"] == "running" else None
    results = {row["name"]: row["outcome"] for row in hosts}
    return Page(
        "run.html",
        title,
        {
            "run": run,
            "sections": sections,
            "letters": LETTERS,
            "marks": MARKS,
            "matrix": Matrix(grid, MAX_CELLS),
            "timeline": Timeline(grid),
            "width": WIDTH,
            "in_trouble": {n: o for n, o in results.items() if o not in ("ok", "changed")},
            "unverified": {row["name"]: row["unverified"] for row in hosts if row["unverified"]},
            "pager": at,
            "problem": problem,
            "outcome_names": OUTCOMES,
            "groups": studio.hosts.groups(),
            "graph": _graph(studio, run, hosts),
            "before": _earlier(studio, run),
        },
        live=live,
    )


def _own_sections(studio: Studio, run: Row) -> dict[str, Any]:
    """The sections for the visible hosts of a run that also includes other hosts."""
    rows = studio.reader.rows(
        "SELECT hosts.name, host_runs.* FROM host_runs JOIN hosts USING (host) WHERE run = ?"
        " ORDER BY host_runs.rank, sort",
        (run["run"],),
    )
    saved = studio.saved(run["id"])
    source = HostSlice(saved, [place_of(row, row["name"]) for row in rows])
    source.about.pop("again", None)  # its words are about all hosts
    grid = Grid(source, MAX_TEXT, whole=False)
    found = sections_of(grid, max_troubled=MAX_TROUBLED_HOSTS, with_hosts=False)
    return {**found, "at_work": at_work(saved, grid) if saved.running else [], "rollout_now": ""}


def grid_of(studio: Studio, run: Row, hosts: list[Row]) -> Grid:
    """Every resource of these hosts in a run; the rows are those of ``host_runs`` with the name."""
    places: list[HostPlace] = [place_of(row, row["name"]) for row in hosts]
    return Grid(HostSlice(studio.saved(run["id"]), places), MAX_TEXT)


def _hosts(studio: Studio, run: Row, parameters: Parameters) -> tuple[list[Row], Any, str]:
    """The hosts on this page: trouble first, with equal results next to each other."""
    condition, values, problem = host_filter(studio, parameters)
    if condition.startswith("listed"):  # a run also has hosts that the inventory no longer has
        condition = condition.replace("listed", "1", 1)
    outcome = parameters.choice("outcome", OUTCOMES)
    if outcome != "any":
        condition += " AND host_runs.outcome = ?"
        values = [*values, outcome]
    tables = f"host_runs JOIN hosts USING (host) WHERE run = ? AND {condition}"
    values = [run["run"], *values]
    at = pager(studio.reader.value(f"SELECT count(*) FROM {tables}", values), parameters, ROWS)
    rows = studio.reader.rows(
        f"SELECT hosts.name, host_runs.* FROM {tables}"
        " ORDER BY host_runs.rank, groups, sort LIMIT ? OFFSET ?",
        [*values, at.size, at.offset],
    )
    return rows, at, problem


def _graph(studio: Studio, run: Row, hosts: list[Row]) -> DependencyGraph | None:
    """The references between resources in the plan of the page's first host."""
    plan = next((row["plan"] for row in hosts if row["plan"] is not None), None)
    found = studio.reader.row("SELECT resources, edges FROM plans WHERE plan = ?", (plan,))
    if found is None:
        return None
    statuses = {
        row["resource"]: row["status"]
        for row in studio.reader.rows(
            "SELECT resource, max(CASE status WHEN 'failed' THEN 3 WHEN 'skipped' THEN 2 ELSE 1"
            " END), status FROM run_texts WHERE run = ? GROUP BY resource",
            (run["run"],),
        )
    }
    numbers: list[int] = json.loads(found["resources"])
    names = resource_names(studio, found["resources"])
    edges = [Edge(names[one], names[other], kind) for one, other, kind in json.loads(found["edges"])
             if one in names and other in names]  # fmt: skip
    ordered = [(names[n], statuses.get(n, "stable")) for n in dict.fromkeys(numbers) if n in names]
    return DependencyGraph(ordered, edges)


def _earlier(studio: Studio, run: Row) -> str:
    """The previous run of the same manifest, for comparison; "" if there is none."""
    found = studio.reader.value(
        "SELECT id FROM runs WHERE run < ? AND manifest = ? AND command = ? AND noop = ?"
        " ORDER BY run DESC LIMIT 1",
        (run["run"], run["manifest"], run["command"], run["noop"]),
    )
    return found or ""


def host_in_run_page(studio: Studio, run_id: str, name: str) -> Page:
    """Everything that one host reported in a run."""
    run = studio.run(run_id)
    row = studio.reader.row(
        "SELECT hosts.name, host_runs.* FROM host_runs JOIN hosts USING (host)"
        " WHERE run = ? AND hosts.name = ?",
        (run["run"], name),
    )
    if row is None:
        raise MissingPageError(f"Host {name[:80]!r} is not part of run {run['id']}.")
    grid = grid_of(studio, run, [row])
    return Page(
        "host_run.html",
        f"{name} in {run['id']}",
        {
            "run": run,
            "host": name,
            "row": row,
            "cells": [(one, list(grid.cells[one].items())) for one in grid.hosts],
            "results": grid.results,
            "letters": LETTERS,
            "marks": MARKS,
            "timeline": Timeline(grid),
            "width": WIDTH,
        },
    )
