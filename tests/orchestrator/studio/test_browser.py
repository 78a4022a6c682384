"""The studio in a real browser: by keyboard alone, in any window, by day and by night, live."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from orchestrator.fleet.host.phases import Phase
from orchestrator.studio.plans.plan_cache import PlanPolicy
from orchestrator.studio.web.server import listen, serve
from orchestrator.studio.web.start import StudioOptions, assemble
from tests.axe import axe_source, violations
from tests.browser import PATIENCE, visit
from tests.orchestrator.report.runs import START
from tests.orchestrator.studio.history import FIRST, SECOND, THIRD, RunningRun, three_runs
from tests.orchestrator.studio.plans.planned import NAME, People, command_of, project_of, put_plan
from tests.orchestrator.studio.test_charts import RUNS, drift_run, planned_run
from tests.texts import expect_text

OTHER = "other.plan"
PAGES = (
    "/", "/runs", f"/runs/{SECOND}", f"/runs/{FIRST}/hosts/web1", "/hosts/web2",
    "/resource?name=file%23/etc/motd", f"/compare?a={FIRST}&b={THIRD}",
    "/plans", f"/plan?name={NAME}", f"/plan/push?name={NAME}", f"/plan/push?name={OTHER}",
    f"/compare/plans?a={NAME}&b={OTHER}",
    "/compare/hosts?a=web1&b=web2", "/search?q=web",
)  # fmt: skip
LIVE = "20260922T133640Z-bbbbbbb"


class Served:
    """A studio on a port of this machine."""

    def __init__(self, state: Path, **more: Any) -> None:
        self._said: list[str] = []
        self._listener = listen("127.0.0.1", 0)
        port = self._listener.getsockname()[1]
        options = StudioOptions(state, "127.0.0.1", port, user="alice")
        options = options._replace(**more)
        self.parts = assemble(options, port, self._said.append)
        self.address = f"http://127.0.0.1:{port}"
        self._over = threading.Event()
        settings = {"tls": None, "is_over": self._over.is_set}
        self._thread = threading.Thread(
            target=serve, args=(self.parts.app, self._listener), kwargs=settings
        )

    @property
    def link(self) -> str:
        """The latest login link."""
        return self._said[-1]

    def __enter__(self) -> Served:
        self.parts.keeper.refresh()
        self.parts.keeper.start()
        self.parts.access.announce()
        self._thread.start()
        return self

    def __exit__(self, *of_error: object) -> None:
        self._over.set()
        self._thread.join(30)
        self.parts.keeper.stop()
        self._listener.close()


@pytest.fixture
def served(state: Path, tmp_path: Path) -> Iterator[Served]:
    """A studio over three runs, two later ones with drift and with predictions, and plans."""
    three_runs()
    drift_run(RUNS[0], 2)
    planned_run(RUNS[1], 3)
    root = project_of(tmp_path)
    people = People(tmp_path / "people")
    people.add("alice")
    people.sign("alice", put_plan(root, created=START - 60, expires=int(time.time()) + 3_600))
    put_plan(root, OTHER, hosts=("web1", "db1"))
    command = command_of(f'print(json.dumps({{"run": "{FIRST}"}}))')
    policy = PlanPolicy(str(people.signers))
    with Served(state, project=root, policy=policy, push_command=command) as it:
        yield it


def log_in(browser: Chrome, served: Served) -> None:
    """With the link and one key: the button has the focus."""
    visit(browser, served.link)
    _wait(browser, lambda browser: browser.switch_to.active_element.tag_name == "button")
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    _wait(browser, lambda browser: "/login" not in browser.current_url)


def _wait(browser: Chrome, condition: Callable[[Chrome], object]) -> None:
    """Until a condition holds, on a page whose elements may be exchanged meanwhile."""
    moved = [StaleElementReferenceException, NoSuchElementException]
    WebDriverWait(browser, PATIENCE, ignored_exceptions=moved).until(condition)


def complaints(browser: Chrome) -> list[str]:
    """What the console has against the pages."""
    log: Callable[[str], list[dict[str, str]]] = browser.get_log
    return [entry["message"] for entry in log("browser")]


def text_of(browser: Chrome, selector: str) -> str:
    return browser.find_element(By.CSS_SELECTOR, selector).text


def test_the_keyboard_leads_from_trouble_to_its_cause(browser: Chrome, served: Served) -> None:
    """Tab and Enter alone: in, to the host that broke, to its run; no page shows a complaint."""
    log_in(browser, served)
    assert text_of(browser, "h1") == "Fleet"
    for wanted in ("web2", "2026-09-21 14:13"):
        for _ in range(60):
            browser.switch_to.active_element.send_keys(Keys.TAB)
            focus = browser.switch_to.active_element
            if focus.text == wanted and focus.tag_name == "a":
                break
        outline = browser.switch_to.active_element.value_of_css_property("outline-style")
        assert outline != "none"
        browser.switch_to.active_element.send_keys(Keys.ENTER)
    _wait(browser, lambda browser: "/runs/" in browser.current_url)
    assert "bob@runner" in text_of(browser, "header")
    assert complaints(browser) == []


@pytest.mark.parametrize(
    ("width", "scheme"), [(400, "light"), (1280, "dark"), (1920, "light"), (1920, "dark")]
)
def test_everybody_can_use_the_pages(
    browser: Chrome, served: Served, width: int, scheme: str
) -> None:
    """No page is wider than its window, and none breaks a rule of axe-core."""
    source = axe_source()
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    log_in(browser, served)
    for page in PAGES:
        visit(browser, served.address + page)
        wide = "return document.documentElement.scrollWidth - innerWidth"
        assert browser.execute_script(wide) <= 0, page
        assert violations(browser, source) == [], page
    assert complaints(browser) == []


def test_a_run_is_watched_live(browser: Chrome, served: Served) -> None:
    """The page shows news without a reload, keeps what is open, and sees the end of the run."""
    running = RunningRun(LIVE, "web1", "web2")
    running.enter("web1", Phase.CONNECTING)
    log_in(browser, served)
    _wait(browser, lambda _: served.parts.keeper.version_of(LIVE))
    visit(browser, f"{served.address}/runs/{LIVE}")
    assert "connecting" in text_of(browser, "#at-work")
    running.enter("web1", Phase.RUNNING)
    _wait(browser, lambda browser: "running" in text_of(browser, "#at-work"))
    running.end_host("web1")
    running.end_host("web2", "failed")
    running.end()
    _wait(browser, lambda browser: not browser.find_elements(By.ID, "at-work"))
    _wait(browser, lambda browser: "running" not in text_of(browser, "h1"))
    assert complaints(browser) == []


def test_a_plan_is_pushed_by_keyboard(browser: Chrome, served: Served) -> None:
    """A wrong number is refused on the page, the right one leads to the run."""
    log_in(browser, served)
    visit(browser, f"{served.address}/plan?name={NAME}")
    complaints(browser)  # of a page of an earlier studio, which has ended
    browser.find_element(By.PARTIAL_LINK_TEXT, "Push this plan").send_keys(Keys.ENTER)
    _wait(browser, lambda browser: "/plan/push" in browser.current_url)
    browser.find_element(By.NAME, "hosts").send_keys("3", Keys.ENTER)
    _wait(browser, lambda browser: "not the number" in text_of(browser, "[role=alert]"))
    browser.find_element(By.NAME, "hosts").send_keys("2", Keys.ENTER)
    _wait(browser, lambda browser: f"/runs/{FIRST}" in browser.current_url)
    expect_text(text_of(browser, "h1"))
    answers = [one for one in complaints(browser) if "409" not in one]
    assert answers == []
