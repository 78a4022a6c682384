"""The page of a run, in a real browser: what it shows, how it filters, what it refuses to run."""

import io
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from orchestrator.fleet.kept_runs import KeptRun
from orchestrator.report.grid import Grid
from orchestrator.report.html import write_html
from orchestrator.report.html.matrix import Matrix
from orchestrator.report.html.timeline import WIDTH, Timeline
from tests.orchestrator.report.runs import START, Kept, mixed_run


def page(kept: KeptRun, folder: Path) -> str:
    """The address of the page of a run."""
    with open(folder / "run.html", "w", encoding="utf-8") as out:
        write_html(kept, out)
    return (folder / "run.html").as_uri()


def shown(browser: Chrome, selector: str) -> list[str]:
    """The texts of the elements that can be seen."""
    found = browser.find_elements(By.CSS_SELECTOR, selector)
    return [element.text for element in found if element.is_displayed()]


def complaints(browser: Chrome) -> list[str]:
    """What the browser's console has against the page."""
    return [entry["message"] for entry in browser.get_log("browser")]


def test_the_page_tells_failures_first_then_everything(browser: Chrome, tmp_path: Path) -> None:
    """Sections are in the order of what matters, every cell of the matrix is there."""
    browser.get(page(mixed_run(), tmp_path))
    assert browser.title.startswith("Push of site.yaml")
    assert shown(browser, "h2") == [
        "Hosts in trouble", "Failures", "Changes", "Skipped", "Health checks that warn",
        "Warnings", "Every resource on every host", "When", "Slowest",
    ]  # fmt: skip
    assert shown(browser, ".finding.failed summary") == ["F file#/etc/broken on web2"]
    assert shown(browser, ".finding.changed summary") == [
        "C file#/etc/motd on web[1-7] (7 hosts)"
    ]  # fmt: skip
    assert len(shown(browser, ".matrix td.changed")) == 7
    assert len(shown(browser, ".matrix td.stable")) == 64
    assert shown(browser, ".when tbody th") == [f"web{n}" for n in range(1, 9)]
    assert complaints(browser) == []


def test_filters_leave_what_was_asked_for(browser: Chrome, tmp_path: Path) -> None:
    """Host, resource and outcome filter every table; the address keeps that; reset ends it."""
    browser.get(page(mixed_run(), tmp_path))
    browser.find_element(By.NAME, "host").send_keys("web2")
    assert shown(browser, ".matrix thead th") == ["web2"]
    assert shown(browser, ".when tbody th") == ["web2"]
    assert "Hosts in trouble" not in shown(browser, "h2")
    browser.find_element(By.CSS_SELECTOR, "input[value=stable]").click()
    assert shown(browser, ".matrix tbody th") == [
        "file#/etc/motd", "file#/etc/broken", "file#/etc/after"
    ]  # fmt: skip
    browser.find_element(By.NAME, "resource").send_keys("broken")
    assert shown(browser, ".matrix tbody th") == ["file#/etc/broken"]
    assert shown(browser, "#filter output") == ["1 of 8 hosts, 1 of 13 resources"]
    browser.refresh()
    assert shown(browser, ".matrix tbody th") == ["file#/etc/broken"]
    browser.find_element(By.CSS_SELECTOR, "#filter button").click()
    assert shown(browser, "#filter output") == ["8 of 8 hosts, 13 of 13 resources"]


def test_a_click_on_a_cell_tells_about_it(browser: Chrome, tmp_path: Path) -> None:
    """A cell's own change is told, not that of the first host with a similar one."""
    browser.get(page(mixed_run(), tmp_path))
    browser.find_elements(By.CSS_SELECTOR, ".matrix td.changed")[2].click()
    text = shown(browser, "#cell")[0]
    assert "file#/etc/motd on web3" in text
    assert "+new web3" in text
    browser.find_element(By.CSS_SELECTOR, "#cell button").click()
    assert shown(browser, "#cell") == []


def test_what_a_host_says_never_runs(browser: Chrome, tmp_path: Path) -> None:
    """Markup in names, errors and diffs is text; even if it were not, the policy forbids it."""
    bad = "</script><script>document.title='owned'</script><img src=x onerror=document.title=1>"
    kept = Kept("web1")
    kept.event("web1", f"/etc/{bad}", "failed", error=[bad, bad])
    kept.changed("web1", "/etc/x", f"--- {bad}\n+{bad}\n")
    kept.notice("web1", bad)
    browser.get(page(kept.end(), tmp_path))
    assert browser.title.startswith("Push of site.yaml")
    assert bad in shown(browser, ".finding.failed pre")[0]
    browser.execute_script(  # a test's own script is not bound by the page's policy
        "const s = document.createElement('script'); s.textContent = \"document.title='owned'\";"
        "document.body.append(s);"
    )
    assert browser.title.startswith("Push of site.yaml")
    assert ["Content Security Policy" in text for text in complaints(browser)] == [True]


def test_a_large_fleet_is_usable(browser: Chrome, tmp_path: Path) -> None:
    """With 500 hosts and 100 resources the page opens, and hosts make the rows."""
    browser.get(page(mixed_run(500, 100), tmp_path))
    assert len(browser.find_elements(By.CSS_SELECTOR, ".matrix tbody tr")) == 500
    browser.find_element(By.NAME, "host").send_keys("web499")
    assert shown(browser, ".matrix tbody th") == ["web499"]
    assert complaints(browser) == []


def test_the_page_is_readable_without_scripts(tmp_path: Path) -> None:
    """The tables are in the text of the page, and nothing is loaded from anywhere."""
    out = io.StringIO()
    write_html(mixed_run(), out)
    text = out.getvalue()
    assert text.count('<td class="changed">C') == 7
    assert "exit status 3" in text
    assert "<form" in text
    assert 'id="filter" hidden' in text
    for loads in ("src=", "href=", "@import", "url(", "http:"):
        assert loads not in text


def test_a_run_without_any_host_result_has_a_page() -> None:
    """A run that was cut off before its first host is shown as what it is."""
    kept = Kept("web1")
    kept._folder.close()
    from orchestrator.fleet.kept_runs import kept_run

    out = io.StringIO()
    write_html(kept_run(), out)
    assert "did not come to its end" in out.getvalue()
    assert "No host was begun." in out.getvalue()


def test_too_many_cells_leave_the_stable_resources_out() -> None:
    """Beyond the bound, resources that differ nowhere go first, and are counted."""
    matrix = Matrix(Grid(mixed_run(), 1 << 20), most=50)
    assert matrix.resources == ["file#/etc/motd", "file#/etc/broken", "file#/etc/after"]
    assert matrix.left_out == 10


def test_a_hosts_clock_may_be_wrong() -> None:
    """Bars of resources end with the host's run, whatever year its clock believes in."""
    kept = Kept("web1")
    kept._clock["web1"] = START - 9_999_999
    kept.event("web1", "/etc/slow", seconds=1.0)
    kept._clock["web1"] = START + 2.0
    timeline = Timeline(Grid(kept.end(), 1 << 20))
    (row,) = timeline.rows()
    assert timeline.seconds == pytest.approx(2.0)
    slow = row.bars[-1]
    assert (slow.kind, slow.x, slow.width) == ("stable", WIDTH / 2, WIDTH / 2)
    assert [bar.kind for bar in row.bars[:4]] == ["connect", "facts", "plan", "run"]
