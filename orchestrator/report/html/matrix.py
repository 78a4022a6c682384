"""The matrix of hosts by resources, laid out for a page (controller)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from orchestrator.fleet import outcome
from orchestrator.report.matrix import Cell, Grid
from orchestrator.report.run_collector import Entry

MAX_CELLS = 250_000
# The letter of a cell: outcomes must be distinguishable without color.
LETTERS = {"failed": "F", "skipped": "S", "changed": "C", "stable": "·"}
# The same for a host whose resources did not run.
HOST_LETTERS = {
    outcome.DEFECT: "D",
    outcome.REFUSED: "R",
    outcome.UNREACHABLE: "U",
    outcome.INTERRUPTED: "I",
    outcome.NOT_STARTED: "H",
}


class MatrixLine(NamedTuple):
    """One row: its name, and the outcome of each of its cells. The outcome is that of the host if a
    resource did not run, "" if there is none.
    """

    name: str
    statuses: list[str]


class Matrix:
    """The larger dimension of hosts and resources becomes the rows, because pages scroll down.

    Hosts with problems come first.

    ``left_out`` counts resources without a column or row: beyond ``maximum`` cells, resources that
    are converged everywhere are dropped first.
    """

    def __init__(self, grid: Grid, maximum: int = MAX_CELLS) -> None:
        self._grid = grid
        chosen = _chosen(grid, maximum)
        self.left_out = len(grid.resources) - len(chosen)
        self.rows_are_hosts = len(grid.hosts) > len(chosen)
        failed = {
            host: sum(cell.status == "failed" for cell in cells.values())
            for host, cells in grid.cells.items()
        }
        self.hosts = sorted(grid.hosts, key=lambda host: (not self._outcome(host), -failed[host]))
        self.resources = chosen

    @property
    def columns(self) -> list[str]:
        """The names above the columns."""
        return self.resources if self.rows_are_hosts else self.hosts

    @property
    def _names(self) -> list[str]:
        return self.hosts if self.rows_are_hosts else self.resources

    def lines(self) -> Iterator[MatrixLine]:
        """The rows."""
        for name in self._names:
            yield MatrixLine(name, [self._status(name, column) for column in self.columns])

    def details(self) -> dict[str, Any]:
        """Return the data for a script: the entries, and the entry and duration of each cell."""
        numbers: dict[Any, int] = {}
        cells: dict[str, list[int]] = {}
        for row, name in enumerate(self._names):
            for column, other in enumerate(self.columns):
                cell = self._cell(name, other)
                if cell is not None and cell.entry is not None:
                    number = numbers.setdefault(cell.entry, len(numbers))
                    cells[f"{row},{column}"] = [number, round(cell.seconds * 1000)]
        entries = [entry_record(entry) for entry in numbers]
        return {"rows_are_hosts": self.rows_are_hosts, "entries": entries, "cells": cells}

    def _status(self, row: str, column: str) -> str:
        cell = self._cell(row, column)
        return cell.status if cell else self._outcome(row if self.rows_are_hosts else column)

    def _outcome(self, host: str) -> str:
        result = self._grid.results.get(host)
        return result.outcome if result and result.outcome in HOST_LETTERS else ""

    def _cell(self, row: str, column: str) -> Cell | None:
        host, resource = (row, column) if self.rows_are_hosts else (column, row)
        return self._grid.cells[host].get(resource)


def entry_record(entry: Entry) -> dict[str, Any]:
    """The members of an entry as plain data."""
    parts = {
        name: [one._asdict() for one in getattr(entry, name)] for name in ("changes", "health")
    }
    return {**entry._asdict(), **parts}


def _chosen(grid: Grid, maximum: int) -> list[str]:
    """The resources that are included."""
    if len(grid.hosts) * len(grid.resources) <= maximum:
        return grid.resources
    told = {n for cells in grid.cells.values() for n, c in cells.items() if c.status != "stable"}
    return [name for name in grid.resources if name in told][: max(1, maximum // len(grid.hosts))]
