"""What the pages show of a history."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.store.fact_cache import FactCache
from tests.orchestrator.report.runs import START, Kept
from tests.orchestrator.studio.history import (
    FIRST,
    MESSAGE,
    SECOND,
    THIRD,
    RunningRun,
    Site,
    plans,
    write_run,
)
from tests.texts import expect_text


def words(browser: TestClient, address: str, status: int = 200) -> str:
    """The text of the content of a page, in one line."""
    response = browser.get(address)
    assert response.status_code == status, response.text
    main = re.sub(r"(?s).*<main[^>]*>(.*)</main>.*", r"\1", response.text)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", main)).split())


def test_the_fleet_names_what_broke_since_when_and_by_whom(site: Site) -> None:
    """Trouble comes first, each reason once, with the run that began it and its commit."""
    text = words(site.log_in(), "/")
    expect_text(text)
    failed = "web2 F failed 2026-09-21 14:13 bob@runner, beef0123+ No space left on device"
    assert failed in text
    assert (
        f"web3 U unreachable 2026-09-21 14:13 alice@desk, 8c1f0de2 {MESSAGE}".format(host="web3")
        in text
    )
    rows = re.findall(r"(web\d) (failed|never reached|fine)", text.partition("Hosts and runs")[2])
    assert rows == [("web2", "failed"), ("web3", "never reached"), ("web1", "fine")]


@pytest.mark.parametrize(
    ("query", "hosts"),
    [
        ("hosts=web1", ["web1"]),
        ("hosts=web*", ["web2", "web3", "web1"]),
        ("hosts=db*", ["db1"]),
        ("hosts=none*", []),
        ("state=never", ["web3"]),
        ("group=web", ["web2", "web1"]),
        ("hosts=all:!web2&group=web", ["web1"]),
        ("page=7", ["web2", "web3", "db1", "web1"]),
    ],
)
def test_the_fleet_is_filtered_by_the_inventory(
    state: Path, site: Site, tmp_path: Path, query: str, hosts: list[str]
) -> None:
    """Patterns and groups are those of the inventory; a host without a run is among them."""
    site.close()
    inventory = tmp_path / "hosts.yaml"
    inventory.write_text(
        "hosts: {web1: {}, web2: {}, web3: {}, db1: {}}\ngroups: {web: {hosts: [web1, web2]}}\n"
    )
    other = Site(state, inventory=(str(inventory),))
    response = other.log_in().get(f"/?{query}")
    assert re.findall(r'<th scope="row"><a href="/hosts/(\w+)">', response.text) == hosts
    other.close()


@pytest.mark.parametrize(
    ("query", "runs"),
    [
        ("", [THIRD, SECOND, FIRST]),
        ("who=bob", [SECOND]),
        ("commit=beef", [SECOND]),
        ("commit=8c1f0de2", [THIRD, FIRST]),
        ("kind=previews", []),
        ("kind=pushes&manifest=site", [THIRD, SECOND, FIRST]),
        ("manifest=%25", []),
    ],
)
def test_runs_are_filtered(site: Site, query: str, runs: list[str]) -> None:
    """By kind, user, commit and manifest, of which signs of SQL are no signs."""
    text = site.log_in().get(f"/runs?{query}").text
    assert re.findall(r'<th scope="row"><a class="moment" href="/runs/([\w-]+)">', text) == runs


def test_a_host_shows_each_resource_and_who_changed_it(site: Site) -> None:
    """The last state, and the last push that changed it; then the runs, the newest first."""
    browser = site.log_in()
    text = words(browser, "/hosts/web1")
    assert "file#/etc/motd · unchanged 2026-09-21 14:13 alice@desk, 8c1f0de2" in text
    expect_text(text)
    text = words(browser, "/hosts/web2")
    assert "F failed since 2026-09-21 14:13 , bob@runner, beef0123+" in text
    failed = "file#/etc/motd F failed since 2026-09-21 14:13 , bob@runner, beef0123+ No space left"
    assert f"{failed} on device 2026-09-21 14:13 alice@desk, 8c1f0de2 content" in text
    expect_text(text)
    assert "file#/etc/app.conf" not in words(browser, "/hosts/web2?resource=motd")
    expect_text(words(browser, "/hosts/web9", 404))


def test_a_run_is_the_page_of_its_report(site: Site) -> None:
    """Failures once with their hosts and how to go on, then every resource and subscription."""
    text = words(site.log_in(), f"/runs/{SECOND}")
    assert "By bob@runner, commit beef0123 with uncommitted changes." in text
    assert "Failures F file#/etc/motd on web2 No space left on device" in text
    assert "S skipped" in text
    assert f"Hosts in trouble Host Outcome While Reason web3 {'unreachable'}" in text
    assert "file#/etc/app.conf subscribes to file#/etc/motd" in text
    assert "file#/etc/app.conf requires file#/etc/motd" in text
    narrow = words(site.browser, f"/runs/{SECOND}?outcome=failed")
    assert "web1" not in narrow.partition("Every resource on every host")[2]


def test_a_host_in_a_run_shows_all_that_it_reported(site: Site) -> None:
    """Changes with their diffs, and unchanged resources."""
    browser = site.log_in()
    text = words(browser, f"/runs/{FIRST}/hosts/web1")
    assert "C file#/etc/motd" in text
    assert "-old +new" in text
    assert "· file#/etc/app.conf" in text
    assert "is not part of run" in words(browser, f"/runs/{FIRST}/hosts/web9", 404)


def test_a_resource_groups_the_hosts_that_have_it(site: Site) -> None:
    """Hosts with the same last result are one row, with the first and the last run of it."""
    text = words(site.log_in(), "/resource?name=file%23/etc/motd")
    expect_text(text)
    assert "web1 (1) C content" in text
    expect_text(words(site.browser, "/resource?name=file%23/x", 404))


def test_two_runs_are_compared_by_host(site: Site) -> None:
    """Equal hosts are counted, others have their differences."""
    text = words(site.log_in(), f"/compare?a={FIRST}&b={SECOND}")
    assert "1 host without differences." in text
    assert "file#/etc/motd outcome changed failed" in text
    assert "file#/etc/motd outcome changed unchanged" in text
    assert "3 hosts without differences." in words(site.browser, f"/compare?a={SECOND}&b={THIRD}")
    expect_text(words(site.browser, f"/compare?a={FIRST}&b=x", 404))


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("web2", "Hosts web2 failed"),
        ("No space", "file#/etc/motd F failed No space left on device 2"),
        ("beef0123", f"{SECOND} push of site.yaml"),
        ("motd", "Resources file#/etc/motd"),
        ("no such thing", "Nothing contains this text."),
        ("%", "Nothing contains this text."),
    ],
)
def test_a_search_finds_hosts_resources_runs_and_reports(site: Site, word: str, found: str) -> None:
    """Each by a part of it."""
    response = site.log_in().get("/search", params={"q": word})
    text = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", response.text)).split())
    assert found in text


def test_a_running_run_shows_what_its_hosts_do(site: Site) -> None:
    """Hosts at work by their phase; the page knows of the end when it comes."""
    running = RunningRun("20260922T133640Z-bbbbbbb", "web1", "web2")
    waves = (("web1",), ("web2",))
    running.directory.handle(run_events.RolloutPlanned(waves, 0, {"waves": "1"}, "ccm go"))
    running.directory.handle(run_events.WaveStarted(1, START))
    running.enter("web1", Phase.RUNNING)
    running.end_host("web2")
    site.parts.keeper.refresh()
    browser = site.log_in()
    text = words(browser, "/runs/20260922T133640Z-bbbbbbb")
    assert "In progress wave 1 of 2: 0 of 1 host" in text
    assert "Now Hosts Names running 1 web1" in text
    assert (
        'data-live="20260922T133640Z-bbbbbbb"' in browser.get("/runs/20260922T133640Z-bbbbbbb").text
    )
    before = site.parts.keeper.version_of("20260922T133640Z-bbbbbbb")
    running.end_host("web1")
    running.end()
    site.parts.keeper.forget_pauses()
    site.parts.keeper.refresh()
    assert site.parts.keeper.version_of("20260922T133640Z-bbbbbbb") > before
    assert "In progress" not in words(browser, "/runs/20260922T133640Z-bbbbbbb")


def test_facts_are_those_that_the_host_said_last(state: Path, site: Site, tmp_path: Path) -> None:
    """They are shown with their paths and when they were gathered."""
    site.close()
    inventory = tmp_path / "hosts.yaml"
    inventory.write_text("hosts: {web1: {}}\n")
    other = Site(state, inventory=(str(inventory),))
    host = other.parts.keeper  # the inventory's host is the key of its facts
    assert host is not None
    from inventory import load

    FactCache(state).keep(load([inventory]).host("web1"), {"os": {"name": "Debian"}}, now=0.0)
    text = words(other.log_in(), "/hosts/web1")
    assert "1 facts, gathered 1970-01-01 00:00 os.name Debian" in text
    other.close()


def test_what_is_gone_or_damaged_is_told(state: Path, site: Site) -> None:
    """A removed run is not found; one that cannot be read names the reason; others are shown."""
    browser = site.log_in()
    shutil.rmtree(state / "runs" / FIRST)
    assert "was removed" in words(browser, f"/runs/{FIRST}", 404)
    (state / "runs" / SECOND / "run.json").write_text("{}")
    site.parts.keeper.forget_pauses()
    site.parts.keeper.refresh()
    assert "There is no run" in words(browser, f"/runs/{FIRST}", 404)
    assert "cannot be read: 'run_id'" in words(browser, f"/runs/{SECOND}")
    assert "cannot be read" in words(browser, "/runs")
    assert "Push of site.yaml" in words(browser, f"/runs/{THIRD}")


def test_a_preview_is_told_from_a_push(state: Path, site: Site) -> None:
    """It does not count for the state of a host, and its cells look different."""

    def fill(kept: Kept) -> None:
        """A change that would be made."""
        kept.event("web2", "/etc/motd", "changed", noop=True, prediction="certain")

    write_run("20260922T133640Z-ccccccc", fill, "web2", noop=True)
    site.parts.keeper.refresh()
    browser = site.log_in()
    expect_text(words(browser, "/runs?kind=previews"))
    assert '<td class="changed noop">' in browser.get("/?hosts=web2").text
    assert "web2 F failed" in words(browser, "/")


def test_a_host_that_verify_finds_wrong_is_in_trouble(state: Path, site: Site) -> None:
    """As for ``-l failed``; the number of failed checks is the reason, and a mark in its cell."""

    def fill(kept: Kept) -> None:
        """All is well."""
        kept.event("web1", "/etc/motd")

    write_run("20260922T133640Z-ddddddd", fill, "web1")
    record = {"host": "web1", "label": "file#/etc/motd", "status": "failed", "text": "no"}
    path = state / "runs" / "20260922T133640Z-ddddddd" / "verify.jsonl"
    path.write_text(json.dumps(record) + "\n")
    site.parts.keeper.refresh()
    browser = site.log_in()
    assert "web1 F failed 2026-09-21 14:13 alice@desk, 8c1f0de2 verify: 1 failed" in words(
        browser, "/"
    )
    assert 'title="verify: 1 failed">v</span>' in browser.get("/").text
    run = browser.get("/runs/20260922T133640Z-ddddddd").text
    assert 'title="verify: 1 failed">v</b>' in run


def test_the_index_says_why_it_is_not_up_to_date(site: Site) -> None:
    """Each page has the problem of the last look."""
    site.parts.keeper.problem = "OperationalError: database or disk is full"
    text = words(site.log_in(), "/runs")
    expect_text(text)


def test_drift_stands_beside_the_last_push(site: Site) -> None:
    """A later drift hides no failure: the host keeps its state, the resource has both."""

    def fill(kept: Kept) -> None:
        """Somebody changed a file."""
        kept.plan(*plans("web2"))
        drift = {"by": "someone", "owner": "eve"}
        change = [{"what": "mode", "from": "0666", "to": "0644"}]
        kept.event("web2", "/etc/motd", "changed", noop=True, drift=drift, changes=change)

    write_run("20260922T133640Z-ddddddd", fill, "web2", noop=True, command="drift")
    site.parts.keeper.refresh()
    text = words(site.log_in(), "/hosts/web2")
    expect_text(text)
    assert "web2 F failed since" in text
