"""The page of a run is one that everybody can use, by the rules of axe-core."""

from collections.abc import Callable
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from orchestrator.fleet.store.stored_runs import SavedRun
from tests.axe import axe_source, violations
from tests.browser import visit
from tests.orchestrator.report.runs import dangerous_preview, mixed_run
from tests.orchestrator.report.test_html import failing_run, page

# Rows are alike, and axe looks at each cell for seconds in all: some stand for all of them.
FEW = """
document.querySelectorAll(
  ".matrix tbody tr:nth-child(n+7), .when tbody tr:nth-child(n+7), tbody tr:nth-child(n+40)"
).forEach(row => row.remove());
document.querySelectorAll("details").forEach(one => one.open = true);
"""


@pytest.fixture(scope="module")
def opened(browser: Chrome, tmp_path_factory: pytest.TempPathFactory) -> Chrome:
    """The page of a run of 500 hosts with 100 resources each, a cell of it told about."""
    directory = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_STATE_HOME", str(directory))
        visit(browser, page(mixed_run(500, 100), directory))
    browser.execute_script(FEW)
    browser.find_element(By.CSS_SELECTOR, ".matrix td.changed").click()
    return browser


@pytest.mark.long("1280")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280, 1920])
def test_no_rule_is_broken(opened: Chrome, width: int, scheme: str) -> None:
    """In any window, by day and by night, with everything unfolded and a cell told about."""
    source = axe_source()
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    assert violations(opened, source) == []


@pytest.mark.parametrize("run", [failing_run, dangerous_preview])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_failures_and_dangers_break_no_rule(
    browser: Chrome,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scheme: str,
    run: Callable[[], SavedRun],
) -> None:
    """A page on which hosts failed alike, and one with dangers, by day and by night."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    visit(browser, page(run(), tmp_path))
    assert violations(browser, axe_source()) == []


def test_a_broken_rule_is_found(opened: Chrome) -> None:
    """A picture without a word, and grey on grey, are told."""
    source = axe_source()
    opened.execute_script(
        "document.querySelector('main, body').insertAdjacentHTML('afterbegin',"
        " '<img src=\"data:,\"><p id=faint>faint</p>');"
        "const faint = document.querySelector('#faint').style;"
        "faint.color = '#999'; faint.background = '#aaa';"
    )
    found = violations(opened, source)
    assert {line.split(" ")[0] for line in found} >= {"image-alt", "color-contrast"}
