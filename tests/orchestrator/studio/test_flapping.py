"""Hosts that change between success and failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.studio.index.host_state import state_of
from tests.orchestrator.report.runs import Kept
from tests.orchestrator.studio.history import Site, write_run
from tests.orchestrator.studio.test_index import results
from tests.orchestrator.studio.test_pages import words
from tests.texts import expect_text


def flapping_runs(count: int) -> None:
    """web1 is always well; web2 fails in the first run and in each second one after it."""
    for number in range(count):

        def fill(kept: Kept, is_bad: bool = number % 2 == 0) -> None:
            """One file on both hosts."""
            kept.event("web1", "/etc/motd")
            if is_bad:
                kept.event("web2", "/etc/motd", "failed", error=["No space left on device"])
            else:
                kept.event("web2", "/etc/motd")

        write_run(f"2026092{number}T133640Z-aaaaaaa", fill, "web1", "web2")


def test_a_flapping_host_that_fails_now_is_found_and_marked(state: Path) -> None:
    """The filter, the table of trouble and the page of the host agree; no user is blamed."""
    flapping_runs(5)
    site = Site(state)
    browser = site.log_in()
    fleet = words(browser, "/?state=flapping")
    expect_text(fleet)
    assert "web2 failed , flapping since 2026-09-21 14:13" in fleet
    assert '<th scope="row"><a href="/hosts/web1">' not in browser.get("/?state=flapping").text
    host = words(browser, "/hosts/web2")
    flaps = "F failed. Flapping since 2026-09-21 14:13 : 4 changes between success and failure"
    assert flaps in host
    site.close()


def test_a_flapping_host_that_is_well_now_is_not_in_trouble(state: Path) -> None:
    """It is OK and flapping."""
    flapping_runs(4)
    site = Site(state)
    browser = site.log_in()
    assert "hosts 2 flapping 1 fine 1" in words(browser, "/")
    assert "fine. Flapping since" in words(browser, "/hosts/web2")
    assert "fine since 2026-09-21 14:13" in words(browser, "/hosts/web1")
    site.close()


@pytest.mark.parametrize(
    ("fates", "since"),
    [
        (["failed", "ok", "failed"], None),
        (["failed", "ok", "failed", "ok", "ok"], 3),
        (["ok"] * 7 + ["failed", "ok", "failed"], 2),
        (["ok"] * 8 + ["failed", "ok", "failed"], None),
        (["ok", "failed"] * 20, 2),
    ],
)
def test_a_host_flaps_since_the_first_change(fates: list[str], since: int | None) -> None:
    """Three changes in ten results in a row; the first of them began it."""
    assert state_of(results(*fates)).flaps_since == since
