"""A manifest from nothing to a watched fleet, as people do it: by clicking, on a booted host."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.browser import visit
from tests.lab import Host, Lab
from tests.orchestrator.studio.design.test_design_browser import (
    add,
    choose,
    enter,
    press,
    wait_for,
)
from tests.orchestrator.studio.test_browser import Served, _wait, complaints, log_in, text_of
from tests.push.command import Ccm

DAEMON = "ccm-daemon"
CONF = "/etc/ccm-daemon.conf"
TEMPLATE = "{% for port in Data.ports %}port {{ port }}\n{% endfor %}host {{ Host.name }}\n"


@pytest.fixture
def root(tmp_path: Path, lab: Lab, host: Host) -> Path:
    """A project with an inventory of booted hosts and a template, without a manifest."""
    path = tmp_path / "project"
    path.mkdir()
    lab.inventory(path / "hosts.yaml")
    (path / "ccm.yaml").write_text("inventory: hosts.yaml\n")
    (path / "daemon.j2").write_text(TEMPLATE)
    return path


@pytest.fixture
def ccm(tmp_path: Path, state: Path) -> Ccm:
    """The command line, whose runs the studio shows."""
    return Ccm(tmp_path, {"XDG_STATE_HOME": str(state.parent)})


@pytest.fixture
def served(state: Path, root: Path) -> Iterator[Served]:
    """A studio over the project."""
    with Served(state, project=root, inventory=(str(root / "hosts.yaml"),)) as it:
        yield it


def leave(browser: Chrome, field: str, text: str, written: str) -> None:
    """Write into a field, leave it, and wait for it in the text."""
    enter(browser, field, text)
    browser.find_element(By.ID, field).send_keys(Keys.TAB)
    wait_for(browser, written)


def make_manifest(browser: Chrome, served: Served) -> None:
    """A package, a file from a template, a service that subscribes to it, and users of a list."""
    log_in(browser, served)
    press(browser, "Design", "nav")
    browser.find_element(By.NAME, "file").send_keys("site.yaml", Keys.ENTER)
    _wait(browser, lambda browser: browser.find_element(By.ID, "yaml"))
    for key, value in (("ports", "[80, 443]"), ("admins", "[ann, bert]")):
        press(browser, "Data")
        _wait(browser, lambda browser: text_of(browser, "#form-title") == "Data")
        enter(browser, "new-key", key)
        leave(browser, "new-value", value, f"{key}: {value}")
    add(browser, "package", DAEMON)
    add(browser, "file", CONF)
    leave(browser, "p-content", "{{ template('daemon.j2') }}", "template('daemon.j2')")
    for field, value in (("owner", "root"), ("group", "root"), ("mode", "0644")):
        leave(browser, f"p-{field}", value, f"{field}: ")
    choose(browser, "p-require", f"package#{DAEMON}")
    wait_for(browser, f'require: ["package#{DAEMON}"]')
    add(browser, "service", DAEMON)
    choose(browser, "p-ensure", "running")
    wait_for(browser, "ensure: running")
    choose(browser, "p-subscribe", f"file#{CONF}")
    wait_for(browser, f'subscribe: ["file#{CONF}"]')
    add(browser, "user", "{{ item }}")
    browser.find_element(By.CSS_SELECTOR, ".form summary").click()
    leave(browser, "p-foreach", "Data.admins", "foreach: Data.admins")
    _wait(browser, lambda browser: text_of(browser, "#findings-title") == "Valid")


def preview(browser: Chrome, host: Host) -> None:
    """Preview on the host, which gets nothing."""
    press(browser, "Try it on a host")
    _wait(browser, lambda browser: browser.find_element(By.NAME, "hosts"))
    browser.find_element(By.NAME, "hosts").send_keys("web1")
    press(browser, "Preview")
    _wait(browser, lambda browser: "/runs/" in browser.current_url)
    _wait(browser, lambda browser: not browser.find_elements(By.ID, "at-work"))
    wanted = (f"package#{DAEMON}", "would create", "user#bert")
    _wait(browser, lambda browser: all(one in text_of(browser, "main") for one in wanted))
    assert not host.exists(CONF)


def save(browser: Chrome, served: Served, root: Path) -> None:
    """Save the file."""
    visit(browser, f"{served.address}/design/diff?file=site.yaml")
    press(browser, "Save")
    _wait(browser, lambda browser: "Saved site.yaml" in text_of(browser, "main"))
    assert "daemon.j2" in (root / "site.yaml").read_text()


def newest_run(state: Path) -> str:
    """The ID of the latest run."""
    return max(one.name for one in (state / "runs").iterdir())


def push_and_watch(browser: Chrome, served: Served, started: subprocess.Popen[str]) -> str:
    """The page of a run, from when it begins to its end; its ID."""
    known = {link.get_attribute("href") for link in browser.find_elements(By.CSS_SELECTOR, "th a")}

    def begun(browser: Chrome) -> str:
        """The address of the running run, which the list of runs shows without a reload."""
        rows = browser.find_elements(By.CSS_SELECTOR, "tbody th a")
        found = [str(row.get_attribute("href")) for row in rows]
        return next((one for one in found if one not in known), "")

    _wait(browser, begun)
    address = begun(browser)
    visit(browser, address)
    _wait(browser, lambda browser: not browser.find_elements(By.ID, "at-work"))
    started.communicate(timeout=300)
    _wait(browser, lambda browser: "running" not in text_of(browser, "h1"))
    return address.rpartition("/")[2]


@pytest.mark.long
def test_from_nothing_to_a_watched_fleet(
    browser: Chrome, served: Served, root: Path, ccm: Ccm, host: Host, state: Path
) -> None:
    """Made by clicking, previewed, saved, pushed, watched; failures and drift are found."""
    make_manifest(browser, served)
    preview(browser, host)
    save(browser, served, root)
    push = ("push", "-i", str(root / "hosts.yaml"), "-l", "web1", str(root / "site.yaml"))

    visit(browser, f"{served.address}/runs")
    first = push_and_watch(browser, served, ccm.start(*push))
    assert host.read(CONF) == "port 80\nport 443\nhost web1\n"
    assert host.run("id -un bert && systemctl is-active ccm-daemon").stdout == "bert\nactive\n"
    assert "changed" in text_of(browser, "#matrix")

    host.run(f"rm {CONF}; mkdir -p {CONF}/x")
    (root / "daemon.j2").write_text("broken {{ Host.name }}\n")
    visit(browser, f"{served.address}/runs")
    second = push_and_watch(browser, served, ccm.start(*push))
    visit(browser, f"{served.address}/")
    _wait(browser, lambda browser: "failed" in text_of(browser, "#trouble"))
    browser.find_element(By.LINK_TEXT, "web1").click()
    _wait(browser, lambda browser: f"file#{CONF}" in text_of(browser, "main"))
    visit(browser, f"{served.address}/runs/{second}")
    assert f"file#{CONF}" in text_of(browser, "#failures")

    host.run(f"rm -r {CONF}")
    assert ccm.run(*push).code == 0
    host.write(CONF, "by hand\n")
    assert ccm.run("drift", *push[1:]).code != 0
    drifted = newest_run(state)
    visit(browser, f"{served.address}/hosts/web1")
    _wait(browser, lambda browser: "changed on the host" in text_of(browser, "main"))
    visit(browser, f"{served.address}/")
    _wait(browser, lambda browser: browser.find_element(By.CSS_SELECTOR, ".chart.drift"))
    visit(browser, f"{served.address}/runs/{drifted}")
    assert "by hand" in text_of(browser, "main")

    visit(browser, f"{served.address}/compare?a={first}&b={second}")
    compared = text_of(browser, "main")
    assert f"file#{CONF}" in compared
    assert "failed" in compared
    assert json.loads((state / "runs" / first / "run.json").read_text())["hosts"] == ["web1"]
    assert complaints(browser) == []
