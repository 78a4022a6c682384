"""Drift and the accuracy of previews over time."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from tests.orchestrator.report.runs import Kept
from tests.orchestrator.studio.history import ALICE, Site, three_runs, write_run

RUNS = [f"20260922T1{hour}3640Z-ccccccc" for hour in range(4)]


def drift_run(run_id: str, drifted: int) -> None:
    """A drift run in which so many resources of two hosts drifted."""

    def fill(kept: Kept) -> None:
        """The events of the run."""
        for number in range(2):
            more: dict[str, Any] = {"drift": {"by": "someone"}} if number < drifted else {}
            status = "changed" if number < drifted else "stable"
            kept.event(f"web{number + 1}", "/etc/motd", status, **more)

    write_run(run_id, fill, "web1", "web2", command="drift", noop=True)


def planned_run(run_id: str, as_predicted: int) -> None:
    """A push of four files, of which so many came as the plan predicted."""

    def fill(kept: Kept) -> None:
        """The events of the run."""
        for number in range(4):
            misprediction = "" if number < as_predicted else "another mode"
            kept.event("web1", f"/etc/{number}", "changed", misprediction=misprediction)

    write_run(run_id, fill, "web1", origin=ALICE)


def drawn(page: str, name: str) -> tuple[list[float], list[str], str]:
    """The heights of the points of a chart, their titles, and what it says in words."""
    found = re.search(rf'(?s)<svg class="chart {name}".*?</svg>', page)
    assert found is not None, page
    circles = re.findall(r'cy="([\d.]+)" r="3"><title>([^<]*)', found[0])
    label = re.search('aria-label="([^"]*)"', found[0])
    assert label is not None
    return [float(y) for y, _ in circles], [one for _, one in circles], html.unescape(label[1])


def test_charts_show_drift_and_accuracy(state: Path) -> None:
    """More drift is higher, fewer right predictions are lower, and tables say the same."""
    for run_id, drifted in zip(RUNS, (0, 2), strict=False):
        drift_run(run_id, drifted)
    for run_id, right in zip(RUNS[2:], (4, 3), strict=True):
        planned_run(run_id, right)
    site = Site(state)
    page = site.log_in().get("/").text
    heights, titles, label = drawn(page, "drift")
    assert heights == [98, 10, 98, 98]
    assert titles[1] == "2026-09-21 14:13: 2 drifted"
    assert label == (
        "Resources that differ from the last push: 0 drifted on 2026-09-21 14:13,"
        " 0 drifted on 2026-09-21 14:13, 4 runs"
    )
    heights, titles, label = drawn(page, "accuracy")
    assert heights == [10, 32]
    assert label.endswith("75% as predicted on 2026-09-21 14:13, 2 runs")
    rows = re.findall(r'href="/runs/([\w-]+)">[^<]*</a><td class="number">([\w%]+)', page)
    assert rows == [
        *zip(RUNS[::-1], ("0", "0", "2", "0"), strict=True),
        (RUNS[3], "75%"),
        (RUNS[2], "100%"),
    ]
    filtered = site.browser.get("/?kind=drift").text
    assert len(drawn(filtered, "drift")[0]) == 2
    assert "chart accuracy" not in filtered
    site.close()


def test_a_history_without_drift_has_no_charts(state: Path) -> None:
    """Nothing was compared, so there is nothing to draw."""
    three_runs()
    site = Site(state)
    assert "over-time" not in site.log_in().get("/").text
    site.close()
