"""Two plans side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.orchestrator.studio.history import Site
from tests.orchestrator.studio.plans.planned import project_of, put_plan, studio_of
from tests.orchestrator.studio.test_pages import words
from tests.texts import expect_text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with two plans."""
    root = project_of(tmp_path)
    put_plan(root, "a.plan", hosts=("web1", "web2", "web3"))
    stable = {"status": "stable", "changes": [], "changed": False, "noop_message": ""}
    put_plan(root, "b.plan", hosts=("web1", "web2", "db1"), **{"/etc/motd": stable})
    return root


def test_what_one_plan_does_and_the_other_does_not(state: Path, root: Path) -> None:
    """Hosts and resources of one plan only, and other outcomes, as ccm plan diff reports them."""
    text = words(studio_of(state, root).log_in(), "/compare/plans?a=a.plan&b=b.plan")
    assert "Would change 9 resources 8 resources" in text
    assert "1 host without differences" in text
    assert "web1 Resource What First Second file#/etc/motd outcome changed unchanged" in text
    assert "web3 Resource What First Second the host only in the first plan" in text
    assert "db1 Resource What First Second the host only in the second plan" in text


def test_equal_plans_and_a_choice(state: Path, root: Path) -> None:
    """Without both names the page asks for them; a plan does not differ from itself."""
    browser = studio_of(state, root).log_in()
    text = words(browser, "/compare/plans")
    assert "First" in text
    assert "Would change" not in text
    assert "a.plan" in browser.get("/compare/plans?b=b.plan").text
    text = words(browser, "/compare/plans?a=a.plan&b=a.plan")
    assert "3 hosts without differences." in text
    assert "the host" not in text


@pytest.mark.parametrize("name", ["../a.plan", "none.plan", "/etc/passwd", "a.plan/../b.plan"])
def test_only_plans_of_the_project_are_compared(state: Path, root: Path, name: str) -> None:
    """Any other name is not found, on either side."""
    browser = studio_of(state, root).log_in()
    for query in (f"a={name}&b=b.plan", f"a=a.plan&b={name}"):
        expect_text(words(browser, f"/compare/plans?{query}", 404))


def test_without_plans(site: Site) -> None:
    """The page leads to where plans come from."""
    expect_text(words(site.log_in(), "/compare/plans"))
