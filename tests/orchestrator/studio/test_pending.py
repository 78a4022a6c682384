"""The refreshes that are pending on a host."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from orchestrator.fleet import events as run_events
from orchestrator.fleet.outcome import Tally
from tests.orchestrator.report.runs import Kept
from tests.orchestrator.studio.history import FIRST, SECOND, Site, plans, write_run

CHANGED = [{"what": "content", "from": None, "to": "sha256:" + "a" * 64}]


def pending(state: Path) -> list[tuple[str, str]]:
    """The resources that the page of web1 lists, each with the run since which."""
    site = Site(state)
    page = site.log_in().get("/hosts/web1").text
    site.close()
    section = page.partition('id="pending"')[2].partition("</section>")[0]
    rows = re.findall(r"<li>(.*)", section)
    return [(re.sub(r"<[^>]*>", "", row.partition(" since ")[0]), _run(row)) for row in rows]


def _run(row: str) -> str:
    (found,) = re.findall(r"/runs/([\w-]+)", row)
    return str(found)


def skipped(run_id: str, since: str, status: str = "skipped") -> None:
    """A run in which the subscriber has a refresh that is due since a run."""

    def fill(kept: Kept) -> None:
        kept.plan(*plans("web1"))
        kept.event("web1", "/etc/motd", "changed", changes=CHANGED)
        members: dict[str, Any] = {"due_since": since}
        if status == "skipped":
            members["unmet_requirements"] = ["file#/etc/motd"]
        kept.event("web1", "/etc/app.conf", status, **members)

    write_run(run_id, fill, "web1")


def test_a_subscriber_that_was_skipped_is_due_since_the_first_run(state: Path) -> None:
    """The run that changed what it subscribes to, however many pushes skipped it since."""
    skipped(FIRST, FIRST)
    skipped(SECOND, FIRST)
    assert pending(state) == [("file#/etc/app.conf", FIRST)]


def test_a_refresh_that_was_done_is_not_due(state: Path) -> None:
    """The push that refreshes it names the earlier run, too."""
    skipped(FIRST, FIRST)
    skipped(SECOND, FIRST, status="changed")
    assert pending(state) == []


def test_a_subscriber_that_did_not_run_is_due(state: Path) -> None:
    """With fail_on_error, a failure ends the run before the subscriber has its turn."""

    def fill(kept: Kept) -> None:
        kept.plan(*plans("web1"))
        kept.event("web1", "/etc/motd", "changed", changes=CHANGED)

    cut: dict[str, Any] = {"outcome": "failed", "untried": 1, "tally": Tally()}
    write_run(FIRST, fill, "web1", outcomes={"web1": cut})
    assert pending(state) == [("file#/etc/app.conf", FIRST)]


@pytest.mark.parametrize(("unmet", "number"), [(["file#/etc/motd"], 1), ([], 0)])
def test_what_a_skipped_apply_holds(state: Path, unmet: list[str], number: int) -> None:
    """A condition that switches it off drops the refresh; an unmet requirement does not."""

    def fill(kept: Kept) -> None:
        names = ("file#/etc/motd", "apply#app", "file#/etc/app.conf", "file#/etc/last")
        subscribed = (("file#/etc/app.conf", ("file#/etc/motd",)),)
        applied = (("apply#app", ("file#/etc/app.conf",)),)
        kept.plan(run_events.HostPlanned("web1", names, subscribed, (), applied))
        kept.event("web1", "/etc/motd", "changed", changes=CHANGED)
        kept.event("web1", "app", "skipped", type="apply", unmet_requirements=unmet)

    cut: dict[str, Any] = {"outcome": "failed", "untried": 1, "tally": Tally()}
    write_run(FIRST, fill, "web1", outcomes={"web1": cut})
    assert pending(state) == [("file#/etc/app.conf", FIRST)][:number]


def test_a_host_without_a_push_has_none(state: Path) -> None:
    """A preview leaves nothing to do."""
    write_run(FIRST, lambda kept: kept.plan(*plans("web1")), "web1", noop=True)
    assert pending(state) == []
