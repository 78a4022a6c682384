"""Two hosts side by side."""

from __future__ import annotations

from pathlib import Path

from inventory import load
from orchestrator.fleet.store.fact_cache import FactCache
from tests.orchestrator.report.runs import Kept
from tests.orchestrator.studio.history import Site, plans, three_runs, write_run
from tests.orchestrator.studio.test_pages import words

BAD = "<script>alert(1)</script>"
HOSTS = "hosts: {web1: {address: 192.0.2.1}, web2: {}}\ngroups: {web: {hosts: [web1]}}\n"


def studio(state: Path, tmp_path: Path) -> Site:
    """A studio over three runs, and stored facts of two hosts."""
    three_runs()
    inventory = tmp_path / "hosts.yaml"
    inventory.write_text(HOSTS)
    cache, known = FactCache(state), load([str(inventory)])
    cache.keep(known.host("web1"), {"os": {"name": "Debian", "major": 12}}, now=0.0)
    cache.keep(known.host("web2"), {"os": {"name": "Debian", "major": 13}, "x": BAD}, now=60.0)
    return Site(state, inventory=(str(inventory),))


def test_what_differs_between_two_hosts(state: Path, tmp_path: Path) -> None:
    """States with their reasons, and facts; what is equal is left out."""
    browser = studio(state, tmp_path).log_in()
    text = words(browser, "/compare/hosts?a=web1&b=web2")
    assert "Last result · unchanged F failed" in text
    assert "Address 192.0.2.1 web2 Groups web" in text
    assert "Facts 1970-01-01 00:00 1970-01-01 00:01" in text
    failed = "F failed: No space left on device"
    assert f"file#/etc/motd · unchanged {failed}" in text
    assert "Fact web1 web2 os.major 12 13 x" in text
    assert "os.name" not in text
    assert BAD not in browser.get("/compare/hosts?a=web1&b=web2").text
    same = words(browser, "/compare/hosts?a=web1&b=web1")
    assert "Both hosts have the same resources, in the same state." in same
    assert "All facts are equal." in same


def test_a_resource_of_one_host_only(state: Path, tmp_path: Path) -> None:
    """The other host says that it does not have it."""

    def more(kept: Kept) -> None:
        """One host alone has files."""
        kept.plan(*plans("db1"))
        kept.changed("db1", "/etc/motd")
        kept.event("db1", "/etc/app.conf")
        kept.event("db2", "/etc/other.conf")

    write_run("20260922T133640Z-ccccccc", more, "db1", "db2")
    browser = studio(state, tmp_path).log_in()
    text = words(browser, "/compare/hosts?a=db1&b=db2")
    assert "file#/etc/motd C changed: content" in text
    assert "not on this host" in text
    assert "This comparison requires facts of both hosts." in text


def test_the_page_asks_for_hosts(state: Path, tmp_path: Path) -> None:
    """One host is kept; a name that no run has is not found."""
    browser = studio(state, tmp_path).log_in()
    assert 'value="web1"' in browser.get("/compare/hosts?a=web1").text
    assert "Resources that differ" not in words(browser, "/compare/hosts")
    words(browser, "/compare/hosts?a=web1&b=nobody", 404)
    assert "/compare/hosts?a=web1" in browser.get("/hosts/web1").text
