"""A user of groups sees their hosts, and nothing that names another one."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from orchestrator.fleet import events as run_events
from orchestrator.fleet.host.phases import Phase
from orchestrator.fleet.run_origin import Origin
from orchestrator.studio.pages.visibility import VisibleParts
from orchestrator.studio.web.users import UserFile
from remote_runtime.errors import UsageError
from tests.orchestrator.report.runs import Kept
from tests.orchestrator.studio.design.designer import DesignerBrowser
from tests.orchestrator.studio.history import (
    ALICE,
    FIRST,
    SECOND,
    THIRD,
    RunningRun,
    Site,
    write_run,
)
from tests.orchestrator.studio.plans.planned import put_plan
from tests.texts import expect_text

PASSWORD = "correct horse battery"
HOSTS = """\
groups:
  web: {hosts: {web1: {connection: local}, web2: {connection: local}}}
  oracles: {hosts: {ora7: {connection: local, vars: {sid: orasid}}, ora8: {connection: local}}}
"""
OWN = ("web1", "web2")
FOREIGN = ("ora7", "ora8", "oracles", "orasid")
RUNNING = "20260921T164000Z-aaaaaaa"
SITE = """\
ccm:
  resources:
    - file: [/etc/x: {owner: root, group: root, mode: "0644", content: "VALUE"}]
"""
SHOWS_ALL = "{{ Groups }} {{ Hosts.keys() }} {{ Groups.all }}"


def _write(run_id: str, *hosts: str, origin: Origin = ALICE) -> None:
    """Store a run in which every host fails at a file that is named after it."""

    def fill(kept: Kept) -> None:
        """The events of all hosts."""
        for host in hosts:
            name = f"file#/etc/{host}.conf"
            kept.plan(run_events.HostPlanned(host, (name, "file#/etc/motd"), (), ()))
            kept.event(host, "/etc/motd", "changed")
            kept.event(host, f"/etc/{host}.conf", "failed", error=[f"{host} is full"])

    write_run(run_id, fill, *hosts, origin=origin)


@pytest.fixture
def fleet(state: Path, tmp_path: Path) -> Iterator[Site]:
    """A run of all hosts, one of each group, and one of all that goes on."""
    _write(FIRST, *OWN, "ora7", "ora8")
    _write(SECOND, "ora7", "ora8", origin=ALICE._replace(user="oraclesdba"))
    _write(THIRD, *OWN)
    running = RunningRun(RUNNING, "web1", "ora7", "ora8")
    running.enter("ora8", Phase.CONNECTING)
    running.enter("web1", Phase.CONNECTING)
    root = tmp_path / "project"
    root.mkdir()
    put_plan(root, "ora7.plan", hosts=("ora7", "ora8"))
    put_plan(root, "all.plan", hosts=("web1", "ora8"))
    put_plan(root, "web.plan", hosts=OWN)
    (root / "broken-ora7.plan").write_text("ora7")
    (root / "hosts.yaml").write_text(HOSTS)
    (root / "site.yaml").write_text(SITE.replace("VALUE", "1"))
    users = UserFile(tmp_path / "users")
    users.add("wendy", "push", PASSWORD, ("web",))
    users.add("root", "push", PASSWORD)
    inventory = (str(root / "hosts.yaml"),)
    site = Site(state, auth=tmp_path / "users", inventory=inventory, project=root)
    yield site
    running.end()
    site.close()


def _browser(site: Site, name: str) -> TestClient:
    browser = site.other_browser()
    done = browser.post("/login", data={"name": name, "password": PASSWORD})
    assert done.status_code == 303, done.text
    return browser


# For each route the addresses to look at, by the name of a host.
ADDRESSES = {
    "/static/{name}": ("/static/studio.js",),
    "/login": ("/login",),
    "/live": ("/live?run={unseen}", "/live?run=nothing"),
    "/api/v1/runs": ("/api/v1/runs",),
    "/api/v1/runs/{run}/{name}": ("/api/v1/runs/{unseen}/run.json",),
    "/api/v1/feed": ("/api/v1/feed", "/api/v1/feed?after={first}"),
    "/badge.svg": ("/badge.svg", "/badge.svg?group={group}"),
    "/badge.json": ("/badge.json", "/badge.json?group={group}"),
    "/design": ("/design",),
    "/design/edit": ("/design/edit?file=site.yaml", "/design/edit?file=hosts.yaml"),
    "/design/diff": ("/design/diff?file=site.yaml",),
    "/design/try": ("/design/try?file=site.yaml", "/design/try?file=site.yaml&host={host}"),
    "/": (
        "/", "/?hosts={host}", "/?hosts=*&former=1", "/?group={group}", "/?hosts=all:!web",
        "/?state=trouble&former=1", "/?who={group}", "/?before={unseen}",
    ),
    "/runs": ("/runs", "/runs?who={group}", "/runs?page=2"),
    "/runs/{run}": (
        "/runs/{unseen}", "/runs/{first}", "/runs/{running}", "/runs/{first}?hosts={host}",
        "/runs/{first}?group={group}", "/runs/{first}?outcome=failed",
    ),
    "/runs/{run}/hosts/{host:path}": (
        "/runs/{first}/hosts/{host}", "/runs/{unseen}/hosts/{host}", "/runs/{first}/hosts/web1",
        "/runs/{running}/hosts/web1",
    ),
    "/hosts/{host:path}": ("/hosts/{host}", "/hosts/web1"),
    "/resource": ("/resource?name=file%23/etc/{host}.conf", "/resource?name=file%23/etc/motd"),
    "/compare": (
        "/compare", "/compare?a={first}&b={unseen}", "/compare?a={first}&b={running}",
        "/compare?a={unseen}&b={third}",
    ),
    "/plans": ("/plans",),
    "/plan": ("/plan?name={host}.plan", "/plan?name=all.plan", "/plan?name=web.plan"),
    "/compare/plans": (
        "/compare/plans", "/compare/plans?a=web.plan&b={host}.plan",
        "/compare/plans?a=all.plan&b=web.plan",
    ),
    "/compare/hosts": (
        "/compare/hosts", "/compare/hosts?a=web1&b={host}", "/compare/hosts?a=web1&b=web2",
    ),
    "/search": (
        "/search", "/search?q={host}", "/search?q=conf", "/search?q=full", "/search?q=2026",
        "/search?q={group}",
    ),
}  # fmt: skip


def _answers(browser: TestClient, host: str, group: str, unseen: str) -> dict[str, str]:
    """The answer of every address; what was asked for is replaced by one word."""
    names = {"host": host, "group": group, "unseen": unseen, "first": FIRST, "third": THIRD}
    found = {}
    for addresses in ADDRESSES.values():
        for address in addresses:
            got = browser.get(address.format(running=RUNNING, **names))
            text = f"{got.status_code} {got.text}"
            for word in (host, group, unseen):
                for form in (word, quote(word), html.escape(word)):
                    text = text.replace(form, "ASKED")
            found[address] = re.sub(r'name="csrf" value="[^"]*"', "", text)
    return found


def test_every_route_is_walked(fleet: Site) -> None:
    """A new route fails here, until it is one of those that are looked at."""
    routes = fleet.parts.pages.starlette().routes
    readable = [one for one in routes if isinstance(one, Route) and "GET" in (one.methods or ())]
    assert {one.path for one in readable} == ADDRESSES.keys()


def test_hosts_of_other_groups_do_not_exist(fleet: Site) -> None:
    """What is asked about them gets the answer for a name that nobody has."""
    browser = _browser(fleet, "wendy")
    theirs = _answers(browser, "ora7", "oracles", SECOND)
    nobodys = _answers(browser, "zzz7", "zzzzzzz", SECOND.replace("aaaaaaa", "bbbbbbb"))
    assert theirs == nobodys
    for name in FOREIGN:
        assert [address for address, text in theirs.items() if name in text] == []
    all_of_it = _answers(_browser(fleet, "root"), "ora7", "oracles", SECOND)
    named = {address for address, text in all_of_it.items() if "ora8" in text}
    assert {"/", "/runs/{first}", "/search?q=full", "/runs/{unseen}"} <= named
    assert {"/plan?name={host}.plan", "/plan?name=all.plan", "/compare/hosts"} <= named
    assert "web.plan" in theirs["/plans"]
    assert "web[1-2] (2 hosts)" in theirs["/plan?name=web.plan"]
    assert "all.plan" not in theirs["/plans"] + theirs["/compare/plans"]
    assert "all.plan" in _browser(fleet, "root").get("/plans").text


def test_no_link_leads_to_another_host(fleet: Site) -> None:
    """A walk over all links of the pages finds no other name."""
    browser = _browser(fleet, "wendy")
    left, seen = ["/"], {"/"}
    while left:
        address = left.pop()
        text = browser.get(address).text
        assert not [name for name in FOREIGN if name in text], address
        for link in re.findall(r'(?:href|src|action)="([^"#]*)', text):
            target = html.unescape(link)
            path = re.sub(r"^\?", address.partition("?")[0] + "?", target)
            if path.startswith("/") and path not in seen and len(seen) < 400:
                seen.add(path)
                left.append(path)
    assert {f"/runs/{FIRST}", "/hosts/web1", f"/runs/{FIRST}/hosts/web2"} <= set(map(unquote, seen))
    assert f"/runs/{SECOND}" not in seen


def test_a_run_of_all_counts_the_own_hosts(fleet: Site) -> None:
    """Its page and the feed have the hosts of the user, with their failures."""
    browser = _browser(fleet, "wendy")
    page = browser.get(f"/runs/{FIRST}").text
    assert "web1 is full" in page
    assert re.search(r"<dt>hosts</dt>\s*<dd>2</dd>", page) or "2 hosts" in page
    runs = {one["id"]: one for one in browser.get("/api/v1/feed").json()["runs"]}
    assert list(runs) == [RUNNING, THIRD, FIRST]
    assert runs[FIRST]["hosts"] == 2
    assert runs[FIRST]["outcomes"] == {"failed": 2}
    assert runs[FIRST]["resources"] == {"changed": 2, "failed": 2}
    assert runs[FIRST]["outcomes"] == runs[THIRD]["outcomes"]
    expect_text(browser.get("/badge.json").json()["message"])
    fleet_page = browser.get("/").text
    assert re.findall(r'<th scope="row"><a href="/hosts/(\w+)">', fleet_page) == ["web1", "web2"]


def test_news_of_other_groups_are_none(fleet: Site, state: Path) -> None:
    """A run of other hosts changes nothing for the open pages of a user; one of its own does."""
    part = VisibleParts(Site(state, inventory=fleet_inventory(fleet)).parts.pages.studio)
    before = part.of(("web",)).version_of("")
    _write("20260921T170000Z-aaaaaaa", "ora7")
    fleet.parts.keeper.forget_pauses()
    fleet.parts.keeper.refresh()
    assert part.of(("web",)).version_of("") == before
    _write("20260921T180000Z-aaaaaaa", "web1")
    fleet.parts.keeper.forget_pauses()
    fleet.parts.keeper.refresh()
    assert part.of(("web",)).version_of("") != before


def fleet_inventory(fleet: Site) -> tuple[str, ...]:
    """The inventory of the studio."""
    return fleet.parts.pages.studio.hosts.sources


def test_a_rendering_sees_the_own_hosts(fleet: Site, tmp_path: Path) -> None:
    """Templates have no other hosts, and read no inventory."""
    browser = DesignerBrowser(_browser(fleet, "wendy"))
    for value in (SHOWS_ALL, "{{ file('hosts.yaml') }}"):
        browser.edit("site.yaml")
        browser.send("site.yaml", "text", yaml=SITE.replace("VALUE", value))
        page = browser.get("/design/try", file="site.yaml", host="web1")
        assert "web" in page
        assert not [name for name in FOREIGN if name in page]
    expect_text(browser.errors())


@pytest.mark.parametrize("pattern", ["ora7", "all:!web", "oracles", "ora*"])
def test_a_preview_of_other_hosts_is_refused(fleet: Site, state: Path, pattern: str) -> None:
    """The refusal suggests no name, and no run begins."""
    browser = DesignerBrowser(_browser(fleet, "wendy"))
    browser.edit("site.yaml")
    before = len(list((state / "runs").iterdir()))
    browser.send("site.yaml", "preview", hosts=pattern)
    assert browser.errors()
    assert "ora8" not in browser.page
    assert len(list((state / "runs").iterdir())) == before


def test_a_preview_shows_templates_the_own_hosts(fleet: Site, state: Path, tmp_path: Path) -> None:
    """A preview of all hosts contacts those of the user."""
    browser = DesignerBrowser(_browser(fleet, "wendy"))
    text = SITE.replace("/etc/x", str(tmp_path / "x")).replace("VALUE", SHOWS_ALL)
    browser.edit("site.yaml")
    browser.send("site.yaml", "text", yaml=text)
    before = {one.name for one in (state / "runs").iterdir()}
    browser.send("site.yaml", "preview", hosts="all")
    end = time.monotonic() + 120
    (made,) = {one.name for one in (state / "runs").iterdir()} - before
    run = state / "runs" / made
    while not json.loads((run / "run.json").read_text())["end"]:
        assert time.monotonic() < end
        time.sleep(0.1)
    told = "".join(one.read_text() for one in run.iterdir() if one.is_file())
    assert json.loads((run / "run.json").read_text())["hosts"] == list(OWN)
    assert "web2" in (run / "events.jsonl").read_text()
    assert not [name for name in FOREIGN if name in told]


def test_the_file_of_users_has_groups(tmp_path: Path) -> None:
    """They come last on a line; a damaged one lets nobody in."""
    path = tmp_path / "users"
    file = UserFile(path)
    file.add("wendy", "look", PASSWORD, ("web", "edge-1"))
    file.add("alice", "look", PASSWORD)
    assert [one.groups for one in file.users().values()] == [("web", "edge-1"), ()]
    for group in ("", "a b", "a,b", "web\n"):
        with pytest.raises(UsageError) as refused:
            file.add("eve", "look", PASSWORD, (group,))
        expect_text(refused.value)
    path.write_text(path.read_text().replace("web,edge-1", "web,"))
    with pytest.raises(UsageError) as raised:
        file.users()
    expect_text(raised.value)


def test_a_preview_reads_no_inventory(fleet: Site, state: Path) -> None:
    """It has the names of all hosts."""
    before = {one.name for one in (state / "runs").iterdir()}
    browser = DesignerBrowser(_browser(fleet, "wendy"))
    browser.edit("site.yaml")
    text = SITE.replace("VALUE", "{{ file('./' ~ 'hosts.yaml') }}")
    browser.send("site.yaml", "text", yaml=text)
    browser.send("site.yaml", "preview", hosts="web1")
    end, told = time.monotonic() + 40, ""
    while "may not be read here" not in told:
        assert time.monotonic() < end, told
        time.sleep(0.05)
        page = browser.get("/design/try", file="site.yaml")
        own = [one for one in (state / "runs").iterdir() if one.name not in before]
        found = [one.read_text() for run in own for one in run.iterdir() if one.is_file()]
        told = " ".join([page, *found])
    assert not [name for name in FOREIGN if name in told]


def test_results_of_other_hosts_hide_none_in_a_search(fleet: Site) -> None:
    """A search finds the results of the own hosts, however many others have the same word."""

    def fill(kept: Kept) -> None:
        """More different results than a search looks at."""
        for number in range(600):
            kept.event("ora7", f"/etc/{number}", "failed", error=[f"quota {number}"])

    write_run("20260921T190000Z-aaaaaaa", fill, "ora7")

    def own(kept: Kept) -> None:
        """One result that was stored before."""
        kept.event("web1", "/etc/own", "failed", error=["quota of web1"])

    write_run("20260920T190000Z-aaaaaaa", own, "web1")
    fleet.parts.keeper.forget_pauses()
    fleet.parts.keeper.refresh()
    assert "quota of web1" in _browser(fleet, "wendy").get("/search?q=quota").text
