"""Charts of drift and of the accuracy of previews over time (controller)."""

from collections.abc import Sequence
from typing import NamedTuple

from orchestrator.studio.index.reader import Row
from orchestrator.studio.pages.run_list import RunFilter
from orchestrator.studio.pages.studio import Studio, moment

MAX_RUNS = 60
WIDTH, HEIGHT = 460, 120  # units of the drawing
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 10, 22  # its margins
_RUNS = """
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
    query = _RUNS.format(condition=found.condition, maximum=MAX_RUNS)
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
