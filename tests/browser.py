"""A browser that tests look at pages with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome


PATIENCE = 60.0  # seconds, to catch a hang


def visit(browser: Chrome, address: str) -> None:
    """Open a page and wait until all of it is there: the driver may return before that."""
    from selenium.webdriver.support.wait import WebDriverWait

    browser.get(address)
    whole = "return document.readyState === 'complete'"
    WebDriverWait(browser, PATIENCE).until(lambda browser: browser.execute_script(whole))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """Debian's chromium without a window."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        if os.environ.get("CCM_LAB") == "required":
            pytest.fail("chromium and chromedriver are not installed, and CI needs them")
        pytest.skip("needs chromium and chromedriver")
    options = ChromeOptions()
    options.binary_location = program
    profile = tmp_path_factory.mktemp("profile")
    # No sandbox: it does not start for root, and the pages are our own.
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(word)
    options.add_argument("--window-size=1300,1200")
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = Chrome(options=options, service=Service(driver))
    yield chrome
    chrome.quit()
