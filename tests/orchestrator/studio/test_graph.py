"""The dependency graph of a run."""

from __future__ import annotations

import re
from pathlib import Path

from orchestrator.fleet import events as run_events
from tests.orchestrator.report.runs import Kept
from tests.orchestrator.studio.history import FIRST, Site, write_run

PLAN = run_events.HostPlanned(
    "web1",
    ("apply#roles/a.yaml", "file#/a", "file#/b", "exec#c"),
    subscribed=(("exec#c", ("file#/a",)),),
    required=(("exec#c", ("apply#roles/a.yaml",)),),
    applied=(("apply#roles/a.yaml", ("file#/a", "file#/b")),),
)


def test_arcs_lead_to_what_is_required_subscribed_and_applied(state: Path) -> None:
    """Each in the color of the resource that it starts from."""

    def fill(kept: Kept) -> None:
        kept.plan(PLAN)
        kept.changed("web1", "/a")
        kept.event("web1", "/b", "failed", error=["no"])

    write_run(FIRST, fill, "web1")
    site = Site(state)
    page = site.log_in().get(f"/runs/{FIRST}").text
    site.close()
    arcs = re.findall(r'<path class="(\w+) (\w+)"[^>]*><title>([^<]*)</title>', page)
    assert sorted(arcs) == [
        ("changed", "apply", "file#/a is applied by apply#roles/a.yaml"),
        ("failed", "apply", "file#/b is applied by apply#roles/a.yaml"),
        ("stable", "require", "exec#c requires apply#roles/a.yaml"),
        ("stable", "subscribe", "exec#c subscribes to file#/a"),
    ]
