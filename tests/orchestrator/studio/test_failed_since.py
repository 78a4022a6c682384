"""Since when a resource of a host fails."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.orchestrator.report.runs import Kept
from tests.orchestrator.studio.history import FIRST, SECOND, THIRD, Site, plans, write_run

FOURTH = "20260921T163640Z-aaaaaaa"
RUNS = (FIRST, SECOND, THIRD, FOURTH)


@pytest.mark.parametrize(
    ("statuses", "since"),
    [
        (("failed", "stable", "failed", "failed"), THIRD),
        (("stable", "failed", "skipped", "failed"), SECOND),
        (("failed", "changed", "changed", "failed"), FOURTH),
        (("failed", "failed", "absent", "failed"), FIRST),
    ],
)
def test_a_resource_fails_since_the_first_failure_in_a_row(
    state: Path, statuses: tuple[str, ...], since: str
) -> None:
    """A push that skips the resource or does not have it says nothing; a success ends it."""
    for run_id, status in zip(RUNS, statuses, strict=True):

        def fill(kept: Kept, status: str = status) -> None:
            """One status of a file; absent from the plan without one."""
            if status == "absent":
                kept.event("web1", "/etc/other")
                return
            kept.plan(*plans("web1"))
            kept.event("web1", "/etc/motd", status, error=["no"] if status == "failed" else [])

        write_run(run_id, fill, "web1")
    site = Site(state)
    page = site.log_in().get("/hosts/web1").text
    (row,) = re.findall(r'<code>file#/etc/motd</code></a><td class="reason">(.*)', page)
    assert re.findall(r'failed since <a class="moment" href="/runs/([\w-]+)">', row) == [since]
    site.close()
