"""The page of a run, in a real browser: what it shows, how it filters, what it refuses to run."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from orchestrator.fleet.store.stored_runs import SavedRun
from orchestrator.report.durations import duration_text
from orchestrator.report.html import write_html
from orchestrator.report.html.matrix import Matrix
from orchestrator.report.html.page import _shortly, shorten_middle
from orchestrator.report.html.timeline import WIDTH, Timeline
from orchestrator.report.matrix import Grid
from tests.browser import PATIENCE, visit
from tests.orchestrator.report.runs import (
    DIFF,
    START,
    Kept,
    dangerous_preview,
    held_run,
    mixed_run,
)
from tests.texts import expect_text


def page(kept: SavedRun, directory: Path) -> str:
    """The address of the page of a run."""
    with open(directory / "run.html", "w", encoding="utf-8") as out:
        write_html(kept, out)
    return (directory / "run.html").as_uri()


def shown(browser: Chrome, selector: str) -> list[str]:
    """The texts of the elements that can be seen."""
    found = browser.find_elements(By.CSS_SELECTOR, selector)
    return [element.text for element in found if element.is_displayed()]


def complaints(browser: Chrome) -> list[str]:
    """What the browser's console has against the page."""
    log: Callable[[str], list[dict[str, str]]] = browser.get_log
    return [entry["message"] for entry in log("browser")]


def test_the_page_tells_failures_first_then_everything(browser: Chrome, tmp_path: Path) -> None:
    """Sections are in the order of what matters, every cell of the matrix is there."""
    visit(browser, page(mixed_run(), tmp_path))
    assert browser.title.startswith("Push of site.yaml")
    assert shown(browser, "h2") == [
        "Hosts in trouble", "Failures", "Changes", "Skipped", "Health check warnings",
        "Warnings", "Every resource on every host", "Timeline", "Slowest",
    ]  # fmt: skip
    expect_text(shown(browser, ".finding.failed summary"))
    expect_text(shown(browser, ".finding.changed summary"))
    assert len(shown(browser, ".matrix td.changed")) == 7
    assert len(shown(browser, ".matrix td.stable")) == 64
    assert shown(browser, ".when tbody th") == [f"web{n}" for n in range(1, 9)]
    assert complaints(browser) == []


def test_what_a_push_waits_for_is_no_health_check(tmp_path: Path) -> None:
    """Unchanged resources without a health check have a section of their own."""
    kept = Kept("web1", noop=True)
    kept.event("web1", "w", type="wait", noop=True, noop_message="Would have waited for x to exist")
    text = Path(page(kept.end(), tmp_path).removeprefix("file://")).read_text(encoding="utf-8")
    assert "<h2>Waits</h2>" in text
    assert "Health check warnings" not in text


def test_the_scale_stands_above_what_it_measures(browser: Chrome, tmp_path: Path) -> None:
    """The marks of the timeline are a quarter of its width apart, the last one at its end."""
    visit(browser, page(mixed_run(), tmp_path))
    chart = browser.find_element(By.CSS_SELECTOR, ".when svg").rect
    marks = [mark.rect for mark in browser.find_elements(By.CSS_SELECTOR, ".scale span")]
    places = [mark["x"] for mark in marks[:4]] + [marks[4]["x"] + marks[4]["width"]]
    quarters = [chart["x"] + chart["width"] * at / 4 for at in range(5)]
    assert places == pytest.approx(quarters, abs=2)


def test_a_preview_begins_with_what_is_dangerous(browser: Chrome, tmp_path: Path) -> None:
    """Each danger stands once with its hosts; the filter applies to them; a push has none."""
    visit(browser, page(dangerous_preview(), tmp_path))
    assert shown(browser, "h2")[:2] == ["Dangerous", "Would change"]
    assert shown(browser, "#dangerous > p") == [
        "2 removals, 1 restart",
        "Unknown effects: 1 resource on 1 host cannot be predicted in full.",
    ]
    rows = shown(browser, "#dangerous tbody tr")
    assert rows == [
        "remove file#/etc/<b>old web[1-2]",
        "restart nginx.service, due to file#/etc/nginx.conf web1",
    ]
    browser.find_element(By.CSS_SELECTOR, ".finding .whole summary").click()
    assert shown(browser, ".finding .whole") == ["Operations (1)\nrestart nginx.service"]
    browser.find_element(By.NAME, "host").send_keys("web2")
    assert shown(browser, "#dangerous tbody tr") == rows[:1]
    assert complaints(browser) == []
    visit(browser, page(mixed_run(), tmp_path))
    assert shown(browser, "#dangerous") == []


def test_filters_leave_what_was_asked_for(browser: Chrome, tmp_path: Path) -> None:
    """Host, resource and outcome filter every table; the address keeps that; reset ends it."""
    visit(browser, page(mixed_run(), tmp_path))
    browser.find_element(By.NAME, "host").send_keys("web2")
    assert shown(browser, ".matrix thead th") == ["web2"]
    assert shown(browser, ".when tbody th") == ["web2"]
    assert "Hosts in trouble" not in shown(browser, "h2")
    browser.find_element(By.CSS_SELECTOR, "input[value=stable]").click()
    assert shown(browser, ".matrix tbody th") == [
        "file#/etc/motd",
        "file#/etc/broken",
        "file#/etc/after",
    ]
    browser.find_element(By.NAME, "resource").send_keys("broken")
    assert shown(browser, ".matrix tbody th") == ["file#/etc/broken"]
    expect_text(shown(browser, "#filter output"))
    browser.refresh()
    assert shown(browser, ".matrix tbody th") == ["file#/etc/broken"]
    browser.find_element(By.CSS_SELECTOR, "#filter button").click()
    everything = ["8 of 8 hosts, 13 of 13 resources"]  # shown once the form has its values back
    WebDriverWait(browser, PATIENCE).until(lambda _: shown(browser, "#filter output") == everything)
    assert shown(browser, "#filter output") == everything


def test_a_click_on_a_cell_tells_about_it(browser: Chrome, tmp_path: Path) -> None:
    """A cell's own change is told, not that of the first host with a similar one."""
    visit(browser, page(mixed_run(), tmp_path))
    browser.find_elements(By.CSS_SELECTOR, ".matrix td.changed")[2].click()
    text = shown(browser, "#cell")[0]
    expect_text(text)
    assert "+new web3" in text
    browser.find_element(By.CSS_SELECTOR, "#cell button").click()
    assert shown(browser, "#cell") == []


def test_what_is_masked_is_told_once(browser: Chrome, tmp_path: Path) -> None:
    """A change of which neither side may be seen looks like one value, in the list and the cell."""
    kept = Kept("web1")
    hidden = {"what": "command", "from": "[masked]", "to": "[masked]"}
    kept.event("web1", "tell", "changed", changed=True, changes=[hidden])
    visit(browser, page(kept.end(), tmp_path))
    assert shown(browser, ".finding.changed p") == ["command [masked]"]
    browser.find_element(By.CSS_SELECTOR, ".matrix td.changed").click()
    assert "command: [masked]" in shown(browser, "#cell")[0].splitlines()


def test_what_a_host_says_never_runs(browser: Chrome, tmp_path: Path) -> None:
    """Markup in names, errors and diffs is text; even if it were not, the policy forbids it."""
    bad = "</script><script>document.title='owned'</script><img src=x onerror=document.title=1>"
    kept = Kept("web1")
    kept.event("web1", f"/etc/{bad}", "failed", error=[bad, bad])
    kept.changed("web1", "/etc/x", f"--- {bad}\n+{bad}\n")
    kept.notice("web1", bad)
    visit(browser, page(kept.end(), tmp_path))
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
    visit(browser, page(mixed_run(500, 100), tmp_path))
    assert len(browser.find_elements(By.CSS_SELECTOR, ".matrix tbody tr")) == 500
    browser.find_element(By.NAME, "host").send_keys("web499")
    rows = ".matrix tbody tr:not([hidden]) th"
    WebDriverWait(browser, PATIENCE).until(lambda browser: shown(browser, rows) == ["web499"])
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


def test_a_change_of_files_with_own_values_is_shown_once() -> None:
    """One example is listed, with the number of variants; the matrix has each."""
    kept = Kept("web1", "web2")
    for number in (1, 2):
        kept.rewritten(f"web{number}", "/etc/motd", number, DIFF.format(host=f"web{number}"))
    out = io.StringIO()
    write_html(kept.end(), out)
    shown, _, details = out.getvalue().partition('id="matrix"')
    assert "Shown for web1; 2 variants differ only in host-specific values." in shown
    assert ("+new web1" in shown, "+new web2" in shown) == (True, False)
    assert ("+new web1" in details, "+new web2" in details) == (True, True)


def test_a_run_without_any_host_result_has_a_page() -> None:
    """A run that was cut off before its first host is shown as what it is."""
    kept = Kept("web1")
    kept._directory.close()
    from orchestrator.fleet.store.stored_runs import saved_run

    out = io.StringIO()
    write_html(saved_run(), out)
    assert "did not finish" in out.getvalue()
    assert "No host was started." in out.getvalue()


def test_too_many_cells_leave_the_stable_resources_out() -> None:
    """Beyond the bound, resources that differ nowhere go first, and are counted."""
    matrix = Matrix(Grid(mixed_run(), 1 << 20), maximum=50)
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


def tab_stops(browser: Chrome) -> int:
    """How often Tab is pressed from the top of the page to its end."""
    wanted = "a[href], button, input, summary, [tabindex='0']"
    return sum(element.is_displayed() for element in browser.find_elements(By.CSS_SELECTOR, wanted))


@pytest.mark.long("1280", "1920")
@pytest.mark.parametrize("width", [400, 1280, 1920])
def test_a_large_fleet_fits_any_window(browser: Chrome, tmp_path: Path, width: int) -> None:
    """The page of 500 hosts never scrolls sideways, and Tab comes to its end in 60 presses."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    visit(browser, page(mixed_run(500, 100), tmp_path))
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert tab_stops(browser) <= 60
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_keys_tell_about_a_cell(browser: Chrome, tmp_path: Path) -> None:
    """Arrow keys lead to a cell, Space tells about it, Escape closes and returns to it."""
    visit(browser, page(mixed_run(), tmp_path))
    (cell,) = browser.find_elements(By.CSS_SELECTOR, ".matrix td[tabindex='0']")
    cell.send_keys(Keys.ARROW_DOWN)
    other = browser.switch_to.active_element
    assert other != cell
    other.send_keys(Keys.SPACE)
    assert shown(browser, "#cell h3")
    other.send_keys(Keys.ESCAPE)
    assert shown(browser, "#cell h3") == []
    assert browser.switch_to.active_element == other


def test_a_filter_that_fits_nothing_says_so(browser: Chrome, tmp_path: Path) -> None:
    """No empty table is left; a card of an outcome is a filter of its own."""
    visit(browser, page(mixed_run(), tmp_path))
    browser.find_element(By.NAME, "host").send_keys("no such host")
    expect_text(shown(browser, "#nothing"))
    assert shown(browser, ".matrix") == []
    browser.find_element(By.CSS_SELECTOR, ".cards .failed button").click()
    assert shown(browser, ".matrix thead th, .matrix tbody th") == ["web2", "file#/etc/broken"]


def test_trouble_comes_first_in_the_matrix() -> None:
    """What failed, and a host that was not reached, stand before the rest and are marked."""
    matrix = Matrix(Grid(mixed_run(20, 12), 1 << 20))
    lines = list(matrix.lines())
    assert [line.name for line in lines[:2]] == ["web20", "web2"]
    assert set(lines[0].statuses) == {"unreachable"}
    assert "failed" in lines[1].statuses


def test_a_long_name_keeps_both_ends() -> None:
    """Paths differ at their end, so a name is cut in the middle."""
    names = [f"file#/srv/{'deep/' * 20}{name}" for name in ("a.conf", "b.conf")]
    cut = [shorten_middle(name) for name in names]
    assert len(set(cut)) == 2
    assert {len(name) for name in cut} == {40}
    assert cut[0].startswith("file#/srv/")
    assert cut[0].endswith("a.conf")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "under 1 ms"), (0.012, "12 ms"), (3.21, duration_text(3.21))]
)
def test_a_short_time_is_told(seconds: float, text: str) -> None:
    """A mean of milliseconds is not 0.00 s."""
    assert _shortly(seconds) == text


def test_a_rollout_has_its_waves(browser: Chrome, tmp_path: Path) -> None:
    """Who was in which wave, how far each came, and why the rollout was held."""
    visit(browser, page(held_run(), tmp_path))
    told = "".join(shown(browser, "#rollout"))
    for text in (
        "stopped: 1 host failed (limit 0)",
        "resume with: ccm go",
        "1 of 1 finished, 1 failed",
    ):
        assert text in told
    assert "not started" in told
    assert complaints(browser) == []
    visit(browser, page(held_run(noop=True), tmp_path))
    assert "web[2-3]" in "".join(shown(browser, "#rollout"))
    visit(browser, page(mixed_run(), tmp_path))
    assert shown(browser, "#rollout") == []


def failing_run() -> SavedRun:
    """40 hosts of which 30 fail for one reason, 9 are not reached for another, and one is fine."""
    names = [f"web{number}" for number in range(1, 41)]
    kept = Kept(*names)
    for number, name in enumerate(names[:30]):
        error = ["exit code 1, expected 0", f"<b>could not connect to db{number % 3}</b>"]
        kept.event(name, "migrate", "failed", type="exec", error=error, exit_code=1)
    kept.changed(names[-1], "/etc/motd")
    gone = {
        name: {"outcome": "unreachable", "message": f"{name} is silent", "hint": "is it up?"}
        for name in names[30:39]
    }
    return kept.end(**gone)


def test_failures_are_told_once(browser: Chrome, tmp_path: Path) -> None:
    """Each reason stands once before all hosts, with what picks them; the filter finds it."""
    visit(browser, page(failing_run(), tmp_path))
    assert shown(browser, "h2")[:2] == ["Failures", "Hosts in trouble"]
    assert shown(browser, "h2").count("Failures") == 1
    assert shown(browser, "#what-failed summary") == [
        "F exec#migrate failed on 30 hosts: web[1-30]",
        "U 9 hosts unreachable: web[31-39]",
    ]
    expect_text(shown(browser, "#what-failed pre"))
    assert shown(browser, "#what-failed p") == [
        "others: db[1-2] (3 texts)",
        "→ retry with: ccm push -l 'web[1-30]' -i hosts.yaml /srv/site/site.yaml",
        "→ is it up?",
        "→ retry with: ccm push -l 'web[31-39]' -i hosts.yaml /srv/site/site.yaml",
    ]
    browser.find_element(By.NAME, "host").send_keys("web35")
    assert shown(browser, "#what-failed summary") == ["U 9 hosts unreachable: web[31-39]"]
    assert complaints(browser) == []


@pytest.mark.parametrize("width", [400, 1100, 1920])
def test_a_long_list_of_hosts_wraps(browser: Chrome, tmp_path: Path, width: int) -> None:
    """Hosts whose names fold into one long word stay on the page, in every list."""
    hosts = [f"web-frontend-{number}" for number in range(1, 105, 2)]
    kept = Kept(*hosts)
    for host in hosts:
        kept.changed(host, "/etc/motd", DIFF)
        kept.event(host, "/etc/broken", "failed", error=["no space left"])
        kept.notice(host, "mirror is old")
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    visit(browser, page(kept.end(), tmp_path))
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
