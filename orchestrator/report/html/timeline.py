"""The timeline of each host, as bars in a drawing (controller)."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.outcome import HostResult
from orchestrator.report.durations import duration_text
from orchestrator.report.matrix import Cell, Grid
from orchestrator.report.summary_texts import shown_status

WIDTH = 1000.0
NARROWEST = 1.5  # of WIDTH: a resource that took less is part of its host's "run" bar
# The displayed name of each phase of a host's run; every other phase is part of connecting.
_STEPS = {
    Phase.GATHERING: "facts",
    Phase.PLANNING: "plan",
    Phase.RUNNING: "run",
    Phase.REBOOTING: "reboot",
}


class Bar(NamedTuple):
    """One bar: its position within ``WIDTH``, its color and its text."""

    x: float
    width: float
    kind: str
    title: str


class Row(NamedTuple):
    """One host's bars."""

    host: str
    outcome: str
    seconds: float
    bars: list[Bar]


class Timeline:
    """The bars of every host, with the first to start at the top; ``seconds`` is the total
    duration.

    WIDTH is four steps of the scale. The phases use the controller's clock. The resources use the
    host's clock, which may be wrong, so they are moved such that the last one ends with the host's
    run.
    """

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        spans = [_span(result) for result in grid.results.values() if result.phases]
        self._start = min((begin for begin, _ in spans), default=0.0)
        self.seconds = max((end for _, end in spans), default=0.0) - self._start
        self._step = _step(self.seconds / 4)

    def rows(self) -> Iterator[Row]:
        """One row for each host that was started."""
        results = [result for result in self._grid.results.values() if result.phases]
        for result in sorted(results, key=lambda result: _span(result)[0]):
            bars = [*self._steps(result), *self._resources(result)]
            yield Row(result.host, result.outcome, result.seconds, bars)

    def marks(self) -> list[str]:
        """The times to show above the bars, evenly spaced."""
        return [f"{self._step * part:g} s" for part in range(5)]

    def _steps(self, result: HostResult) -> Iterator[Bar]:
        _, end = _span(result)
        steps: list[tuple[str, float]] = []
        for phase, at in result.phases:
            step = _STEPS.get(phase, "connect")
            if not steps or steps[-1][0] != step:
                steps.append((step, at))
        for (step, begin), (_, until) in zip(steps, [*steps[1:], ("", end)]):
            bar = self._bar(begin, until, step, f"{step}: {duration_text(max(0.0, until - begin))}")
            yield bar

    def _resources(self, result: HostResult) -> Iterator[Bar]:
        cells = self._grid.cells[result.host]
        last = max((cell.ended for cell in cells.values()), default=0.0)
        shift = _span(result)[1] - last
        for name, cell in cells.items():
            bar = self._resource(name, cell, shift)
            if bar.width >= NARROWEST:
                yield bar

    def _resource(self, name: str, cell: Cell, shift: float) -> Bar:
        end = cell.ended + shift
        title = (
            f"{name}: {shown_status(cell.status, self._grid.noop)}, {duration_text(cell.seconds)}"
        )
        return self._bar(end - cell.seconds, end, cell.status, title)

    def _bar(self, begin: float, end: float, kind: str, title: str) -> Bar:
        scale = WIDTH / self._step / 4
        left = min(max((begin - self._start) * scale, 0.0), WIDTH)
        right = min(max((end - self._start) * scale, left), WIDTH)
        return Bar(round(left, 1), round(right - left, 1), kind, title)


def _step(least: float) -> float:
    """The next of 1, 2, 2.5, 5 and 10 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1.0
    return next((n * power for n in (1, 2, 2.5, 5) if n * power >= least), 10 * power)


def _span(result: HostResult) -> tuple[float, float]:
    """The start and end of the host's run."""
    begin = float(result.phases[0][1])
    return begin, max(begin + result.seconds, float(result.phases[-1][1]))
