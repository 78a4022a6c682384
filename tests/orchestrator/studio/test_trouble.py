"""The table of hosts in trouble, and what a narrow window shows of it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from tests.browser import visit
from tests.orchestrator.report.runs import Kept
from tests.orchestrator.studio.history import FIRST, Site, write_run
from tests.orchestrator.studio.test_browser import Served, log_in
from tests.orchestrator.studio.test_pages import words

HOSTS = ("db1", "web01", "web02", "web03", "web04")
SHOWN = r'<th scope="row"><a href="/hosts/(\w+)">'


def broken_run() -> None:
    """Of five hosts, three fail for one reason."""

    def fill(kept: Kept) -> None:
        """One file on all hosts."""
        for host in HOSTS:
            if host in ("db1", "web02", "web03"):
                kept.event(host, "/etc/motd", "failed", error=["No space left on device"])
            else:
                kept.changed(host, "/etc/motd", "--- a\n+++ b\n-old\n+new\n")

    write_run(FIRST, fill, *HOSTS)


def inventory_of(tmp_path: Path) -> str:
    """The file of an inventory of these hosts."""
    path = tmp_path / "hosts.yaml"
    path.write_text(f"hosts: {{{', '.join(f'{host}: {{}}' for host in HOSTS)}}}\n")
    return str(path)


@pytest.mark.parametrize("is_listed", [True, False])
def test_several_hosts_in_trouble_link_to_these_hosts(
    state: Path, tmp_path: Path, is_listed: bool
) -> None:
    """The link shows them and no others, with and without an inventory."""
    broken_run()
    site = Site(state, inventory=(inventory_of(tmp_path),) if is_listed else ())
    browser = site.log_in()
    page = browser.get("/").text
    (link,) = re.findall(r'<a href="([^"]*)">db1, web\[02-03\]</a> \(3\)', page)
    assert re.findall(SHOWN, browser.get(html.unescape(link)).text) == ["db1", "web02", "web03"]
    site.close()


def test_runs_count_hosts_and_resources(state: Path) -> None:
    """The head of each column says what it counts."""
    broken_run()
    site = Site(state)
    text = words(site.log_in(), "/runs")
    head = "Hosts by outcome Resources changed Resources failed Resources drifted"
    assert head in text
    assert "3 failed , 2 changed 2 3" in text
    site.close()


@pytest.fixture
def served(state: Path, tmp_path: Path) -> Iterator[Served]:
    """A studio with an inventory."""
    broken_run()
    with Served(state, inventory=(inventory_of(tmp_path),)) as it:
        yield it


@pytest.mark.parametrize("width", [400, 1280])
def test_trouble_and_filters_fit_the_window(browser: Chrome, served: Served, width: int) -> None:
    """Each cell is in the window without a swipe, and a checkbox stands at its label."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    log_in(browser, served)
    visit(browser, served.address)
    cells = browser.find_elements(By.CSS_SELECTOR, "#trouble tbody td")
    assert [cell.text for cell in cells][-1].endswith("No space left on device")
    for cell in cells:
        assert cell.rect["x"] + cell.rect["width"] <= width
    assert browser.find_element(By.CSS_SELECTOR, "#trouble tbody tr").rect["height"] < 200
    assert browser.find_element(By.NAME, "former").rect["width"] < 30
