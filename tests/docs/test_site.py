"""The documentation as a site: built strictly, read without a network, on a telephone too."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import DOCS, ROOT

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

PAGES = sorted(page.relative_to(DOCS).with_suffix(".html") for page in DOCS.rglob("*.md"))
TELEPHONE = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True}
_FETCHED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=\"(?:https?:)?//[^\"]*")
_CSS_FETCHED = re.compile(r"@import|url\([\"']?(?:https?:)?//")


def build(pages: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Build a site as ``scripts/docs`` does."""
    script = (ROOT / "scripts" / "docs").read_text(encoding="utf-8")
    words = re.search(r"^python (-m sphinx .*) docs ", script, re.MULTILINE)
    assert words
    argv = [sys.executable, *words[1].split(), str(pages), str(site)]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as it is built from the pages."""
    directory = tmp_path_factory.mktemp("site")
    done = build(DOCS, directory)
    assert done.returncode == 0, done.stdout + done.stderr
    return directory


def test_every_page_is_in_the_navigation(site: Path) -> None:
    """Every page is built, and the first page leads to all of them."""
    first = (site / "index.html").read_text(encoding="utf-8")
    led_to = set(re.findall(r'<li class="toctree-l\d[^>]*><a [^>]*href="([^"#]+)', first))
    assert {page for page in PAGES if not (site / page).exists()} == set()
    assert set(map(str, PAGES)) - led_to == {"README.html"}
    assert (site / "search.html").exists()


def test_a_link_that_leads_nowhere_ends_the_build(tmp_path: Path) -> None:
    """A link to a page, a heading or a picture that is not there is an error, each of them told."""
    pages = tmp_path / "pages"
    pages.mkdir()
    for name in ("conf.py", "site.css"):
        shutil.copy(DOCS / name, pages)
    (pages / "other.md").write_text("# Other\n\ntext\n", encoding="utf-8")
    index = "# Index\n\n[other](other.md)\n"
    broken = {5: "[a](gone.md)", 7: "[a](other.md#gone)", 9: "![a](gone.png)", 11: "[a](#gone)"}
    for text, code in ((index, 0), ("\n".join([index, *(f"{b}\n" for b in broken.values())]), 1)):
        (pages / "README.md").write_text(text, encoding="utf-8")
        done = build(pages, tmp_path / "site")
        assert done.returncode == code, done.stdout + done.stderr
    told = re.findall(r"README\.md:(\d+): WARNING: .*gone", done.stderr)
    assert set(broken) <= set(map(int, told)), done.stderr


def test_it_needs_no_network(site: Path) -> None:
    """No page, style sheet or picture fetches anything from another server."""
    found = [
        f"{path.relative_to(site)}: {fetched}"
        for path in site.rglob("*")
        for kind in [
            {".html": _FETCHED, ".css": _CSS_FETCHED, ".svg": _CSS_FETCHED}.get(path.suffix)
        ]
        if kind is not None
        for fetched in kind.findall(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(("scheme", "pages"), [("light", PAGES), ("dark", PAGES[:3])])
def test_it_is_read_on_a_telephone(
    scheme: str, pages: list[Path], site: Path, browser: Chrome
) -> None:
    """At 400 pixels no page scrolls sideways; the colours are those that the reader has chosen.

    How wide a page is does not depend on these.
    """
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", TELEPHONE)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    try:
        wide = []
        for page in pages:
            browser.get((site / page).as_uri())
            needed = browser.execute_script("return document.documentElement.scrollWidth")
            wide += [f"{page}: {needed}"] if needed > TELEPHONE["width"] else []
        assert wide == []
        ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", ground)[:3])) > 3 * 128) == (scheme == "light")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_it_is_searched_without_a_server(site: Path, browser: Chrome) -> None:
    """The search, opened as a file, finds a page by a word of it."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.wait import WebDriverWait

    browser.get(f"{(site / 'search.html').as_uri()}?q=known_hosts")
    page = ".search li a[href*='howto/connect.html']"  # results appear one after the other
    found = WebDriverWait(browser, 60).until(lambda b: b.find_elements(By.CSS_SELECTOR, page))
    assert len(found) >= 1
