"""The designer in a real browser: by clicking, by keyboard, in any window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium.common.exceptions import (
    ElementNotInteractableException,
    NoSuchElementException,
    StaleElementReferenceException,
)
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

from orchestrator.studio.design.section_forms import NAMES
from tests.axe import axe_source, violations
from tests.browser import PATIENCE, visit
from tests.orchestrator.studio.design.designer import project
from tests.orchestrator.studio.test_browser import Served, _wait, complaints, log_in, text_of


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project without a manifest."""
    return project(tmp_path)


@pytest.fixture
def served(state: Path, root: Path) -> Iterator[Served]:
    """A studio over the project."""
    with Served(state, project=root, inventory=(str(root / "hosts.yaml"),)) as it:
        yield it


def press(browser: Chrome, label: str, within: str = "main") -> None:
    """Press a button by its text."""
    path = f"//{within}//*[self::button or self::a][normalize-space()='{label}']"
    browser.find_element(By.XPATH, path).click()


def wait_until(browser: Chrome, condition: Callable[[Chrome], object]) -> None:
    """Until a condition holds, on a page whose fields are exchanged meanwhile."""
    moved = [
        StaleElementReferenceException,
        NoSuchElementException,
        ElementNotInteractableException,
    ]
    WebDriverWait(browser, PATIENCE, ignored_exceptions=moved).until(condition)


def enter(browser: Chrome, field: str, text: str) -> None:
    """Write into a field; it is taken when the focus leaves it. The page may change meanwhile."""

    def written(browser: Chrome) -> bool:
        """Write it once more where the field was exchanged."""
        found = browser.find_element(By.ID, field)
        if not (found.is_displayed() and found.is_enabled()):
            return False
        found.send_keys(Keys.CONTROL, "a")
        found.send_keys(text)
        return found.get_property("value") == text

    wait_until(browser, written)


def leave(browser: Chrome, field: str) -> None:
    """Move the focus on from a field. The page may change meanwhile."""

    def left(browser: Chrome) -> bool:
        """Press the key once more where the field was exchanged."""
        browser.find_element(By.ID, field).send_keys(Keys.TAB)
        return True

    wait_until(browser, left)


def choose(browser: Chrome, field: str, text: str) -> None:
    """Choose a value of a list. The page may change meanwhile."""

    def chosen(browser: Chrome) -> bool:
        """Choose it once more where the list was exchanged."""
        found = Select(browser.find_element(By.ID, field))
        found.select_by_visible_text(text)
        return text in [one.text for one in found.all_selected_options]

    wait_until(browser, chosen)


def yaml(browser: Chrome) -> str:
    """The text beside the form."""
    return str(browser.find_element(By.ID, "yaml").get_property("value"))


def wait_for(browser: Chrome, text: str) -> None:
    """Until the text of the manifest has something in it."""
    _wait(browser, lambda browser: text in yaml(browser))


def write_above(browser: Chrome) -> bool:
    """Write a comment into the first line of the text."""
    text = browser.find_element(By.ID, "yaml")
    text.send_keys(Keys.CONTROL, Keys.HOME)
    text.send_keys(Keys.NULL, "# by hand\n")
    return True


def add(browser: Chrome, type_: str, name: str) -> None:
    """Add a resource with its button."""
    enter(browser, "new-name", name)
    press(browser, type_)
    _wait(browser, lambda browser: text_of(browser, "#form-title") == f"{type_}#{name}")


def test_a_manifest_is_made_by_clicking(browser: Chrome, served: Served, root: Path) -> None:
    """From nothing to a saved file: the form and the text follow each other without a reload."""
    log_in(browser, served)
    press(browser, "Design", "nav")
    browser.find_element(By.NAME, "file").send_keys("site.yaml", Keys.ENTER)
    _wait(browser, lambda browser: browser.find_element(By.ID, "yaml"))
    browser.execute_script("window.stays = true")
    add(browser, "package", "nginx")
    add(browser, "file", "/tmp/ccm-design")
    enter(browser, "p-content", "hello")
    enter(browser, "p-owner", "root")
    enter(browser, "p-group", "root")
    enter(browser, "p-mode", "9")
    leave(browser, "p-mode")
    _wait(browser, lambda browser: "mode '9' is not allowed" in text_of(browser, ".form"))
    enter(browser, "p-mode", "0644")
    leave(browser, "p-mode")
    wait_for(browser, 'mode: "0644"')
    add(browser, "service", "nginx")
    choose(browser, "p-ensure", "running")
    wait_for(browser, "ensure: running")
    choose(browser, "p-subscribe", "file#/tmp/ccm-design")
    wait_for(browser, 'subscribe: ["file#/tmp/ccm-design"]')
    wait_until(browser, write_above)
    press(browser, "Undo")
    _wait(browser, lambda browser: "# by hand" not in yaml(browser))
    press(browser, "Redo")
    wait_for(browser, "# by hand")
    assert browser.execute_script("return window.stays") is True
    written = yaml(browser)
    press(browser, "Review and save")
    _wait(browser, lambda browser: "+# by hand" in text_of(browser, ".diff"))
    press(browser, "Save")
    _wait(browser, lambda browser: "Saved site.yaml" in text_of(browser, "main"))
    assert (root / "site.yaml").read_text() == written
    assert complaints(browser) == []


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1280, "light"), (1920, "dark")])
def test_everybody_can_design(
    browser: Chrome, served: Served, root: Path, width: int, scheme: str
) -> None:
    """No page is wider than its window, none breaks a rule of axe-core, and Tab reaches it all."""
    (root / "site.yaml").write_text(
        "data: {a: 1}\nhierarchy: {order: ['role:web', default]}\noverrides: {'role:web': {a: 2}}\n"
        "ccm:\n  defaults: {file: {owner: root}}\n  resources:\n    - user:\n"
        "        - bob: {password: x, groups: [adm], shell: no}\n    - package: [jq: {}]\n"
    )
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    log_in(browser, served)
    source = axe_source()
    query = "?file=site.yaml"
    pages = ["/design", f"/design/edit{query}", f"/design/edit{query}&resource=0"]
    pages += [f"/design/edit{query}&section={one}" for one in NAMES[1:]]
    pages += [f"/design/diff{query}", f"/design/try{query}&host=web1"]
    for page in pages:
        visit(browser, served.address + page)
        wide = "return document.documentElement.scrollWidth - innerWidth"
        assert browser.execute_script(wide) <= 0, page
        assert violations(browser, source) == [], page
        if "/edit" in page:
            form, text = (
                browser.find_element(By.CSS_SELECTOR, f".{one}").rect for one in ("form", "text")
            )
            beside = text["x"] >= form["x"] + form["width"] and text["y"] == form["y"]
            below = text["y"] >= form["y"] + form["height"]
            assert beside if width > 1200 else below, (page, form, text)
    visit(browser, served.address + pages[2])
    reached = set()
    for _ in range(90):
        focus = browser.switch_to.active_element
        focus.send_keys(Keys.TAB)
        reached.add(browser.switch_to.active_element.get_attribute("id"))
    assert {"new-name", "p-ensure", "p-password", "yaml"} <= reached
    visit(browser, f"{served.address}/design/edit{query}&section=overrides")
    enter(browser, "new-part", "default")
    browser.find_element(By.ID, "new-part").send_keys(Keys.TAB)
    wait_for(browser, "default: {}")
    # The browser complains of the answer to what cannot be rendered, which the page explains.
    assert [one for one in complaints(browser) if "status of 422" not in one] == []
