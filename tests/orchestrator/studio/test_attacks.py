"""The studio as an attacker tries it: without a session, from another site, by what hosts say."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import socket
import stat
import threading
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from orchestrator.fleet import events as run_events
from orchestrator.fleet.run_origin import Origin as RunOrigin
from orchestrator.fleet.store.fact_cache import FactCache
from orchestrator.studio.web import request_checks, server, sessions
from orchestrator.studio.web.audit import MAX_REFUSALS, MAX_ROUTINE, PERIOD, AuditLog
from orchestrator.studio.web.authentication import Access, Origin
from orchestrator.studio.web.event_stream import MAX_STREAMS_OF_USER, LiveStreams
from orchestrator.studio.web.server import MAX_CONNECTIONS, BoundedProtocol, listen, serve
from orchestrator.studio.web.users import UserFile
from tests.orchestrator.report.runs import Kept
from tests.orchestrator.studio.history import ADDRESS, FIRST, THIRD, Site, write_run

PAGES = (
    "/", "/runs", "/plans", "/compare", "/compare/hosts?a=web1&b=web2",
    f"/compare?a={FIRST}&b={THIRD}", "/search?q=web",
    "/hosts/web1", f"/runs/{FIRST}", f"/runs/{FIRST}/hosts/web1", "/resource?name=file%23/etc/motd",
)  # fmt: skip
BAD = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7777777}}"


@pytest.mark.parametrize("page", PAGES)
def test_no_page_is_shown_without_a_session(site: Site, page: str) -> None:
    """A browser without a cookie, or with a forged one, is sent to the login."""
    for cookie in ("", "x" * 43, "\"'; --"):
        browser = site.other_browser()
        browser.cookies.set("ccm_studio_8700", cookie)
        response = browser.get(page)
        assert (response.status_code, response.headers["location"]) == (303, "/login")
        assert "web1" not in response.text
    assert site.other_browser().get("/live").status_code == 401


@pytest.mark.parametrize("page", [*PAGES, "/login", "/static/studio.js", "/none", "/live"])
def test_every_response_forbids_what_pages_do_not_need(site: Site, page: str) -> None:
    """Also errors: no script or style of others or in the page, no frames, no sniffing."""
    for response in (
        site.other_browser().get(page),
        site.log_in().head(page.replace("/live", "/")),
    ):
        headers = response.headers
        assert "script-src 'self';" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "same-origin"
        assert "server" not in headers


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8700", "127.0.0.1", "127.0.0.1:80", "", "127.0.0.1:8700.x"],
)
def test_another_name_of_the_server_is_refused(site: Site, host: str) -> None:
    """A site whose name leads to this address (DNS rebinding) reaches no page and no login."""
    browser = site.log_in()
    for page in ("/", "/login", "/static/studio.js"):
        assert browser.get(page, headers={"host": host}).status_code == 421
    assert browser.get("/", headers={"host": "LocalHost:8700"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8701"},
        {"origin": "https://127.0.0.1:8700"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_form_of_another_site_is_refused(site: Site, headers: dict[str, str]) -> None:
    """Neither a logout nor a login is accepted from it."""
    browser = site.other_browser()
    assert browser.post("/login", data={"token": site.token}, headers=headers).status_code == 403
    session = site.log_in()
    token = _csrf(session)
    assert session.post("/logout", data={"csrf": token}, headers=headers).status_code == 403
    assert session.get("/").status_code == 200


def _csrf(browser: TestClient) -> str:
    text = str(browser.get("/runs").text)
    return text.partition('name="csrf" value="')[2].partition('"')[0]


def test_a_form_needs_the_token_of_its_session(site: Site) -> None:
    """No token, a wrong one and that of another session end nothing; the right one does."""
    first = site.log_in()
    other = site.other_browser()
    other.post("/login", data={"token": site.token})
    for data in ({}, {"csrf": "x"}, {"csrf": _csrf(other)}):
        assert first.post("/logout", data=data).status_code == 403
    assert first.post("/logout", json={"csrf": _csrf(first)}).status_code == 403
    assert first.get("/").status_code == 200
    cookie = first.cookies["ccm_studio_8700"]
    assert first.post("/logout", data={"csrf": _csrf(first)}).status_code == 303
    again = site.other_browser()
    again.cookies.set("ccm_studio_8700", cookie)
    assert again.get("/").status_code == 303


def test_a_login_link_logs_in_once(site: Site) -> None:
    """The page alone does not redeem it. Each login prints a new one, and none is stored."""
    token = site.token
    browser = site.other_browser()
    assert browser.get(f"/login?token={token}").status_code == 200
    assert browser.get(f"/login?token={token}").status_code == 200
    done = browser.post("/login", data={"token": token})
    assert done.status_code == 303
    cookie = done.headers["set-cookie"].lower()
    assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/"))
    assert site.other_browser().post("/login", data={"token": token}).status_code == 403
    assert site.token != token
    files = [path.read_bytes() for path in site.parts.keeper.path.parent.iterdir()]
    assert not any(token.encode() in text or site.token.encode() in text for text in files)


def test_a_cookie_that_takes_long(site: Site) -> None:
    """A cookie that Python unquotes in quadratic time is not unquoted, and others are found."""
    name = "ccm_studio_8700"
    cookie, browser = site.log_in().cookies[name], site.other_browser()
    quoted = 'x="' + "\\" * 15_000 + '"'
    with mock.patch("starlette.requests.cookie_parser", side_effect=AssertionError):
        assert browser.get("/", headers={"cookie": quoted}).status_code == 303
        both = f"{quoted}; {name}={cookie}"
        assert browser.get("/", headers={"cookie": both}).status_code == 200


def test_failed_logins_are_limited(site: Site, state: Path) -> None:
    """The sixth is refused, even with the right link; the audit log has them."""
    browser = site.other_browser()
    for _ in range(sessions.MAX_FAILURES):
        assert browser.post("/login", data={"token": "guess"}).status_code == 403
    response = browser.post("/login", data={"token": site.token})
    assert response.status_code == 429
    assert "Try again in" in response.text
    log = state / "studio" / "audit.jsonl"
    actions = [json.loads(line)["action"] for line in log.read_text().splitlines()]
    assert actions == ["login failed"] * sessions.MAX_FAILURES + ["login refused"]


def test_refused_requests_do_not_fill_the_audit_log(tmp_path: Path) -> None:
    """They are recorded up to a number in an hour; logins always are."""
    now = [0.0]
    log = AuditLog(tmp_path, lambda: now[0])
    for _ in range(MAX_REFUSALS + 5):
        log.write_refusal("token refused", user="", address="192.0.2.1")
    log.write("login", user="alice", address="192.0.2.2")
    now[0] = PERIOD + 1
    log.write_refusal("token refused", user="", address="192.0.2.1")
    lines = (tmp_path / "audit.jsonl").read_text().splitlines()
    assert [json.loads(line)["action"] for line in lines[MAX_REFUSALS - 2 :]] == [
        "token refused", "refusals not recorded", "login", "token refused",
    ]  # fmt: skip


def test_a_user_does_not_fill_the_audit_log(tmp_path: Path, site: Site, state: Path) -> None:
    """The pages of one user, or the posts of one token, are recorded up to a number in an hour."""
    log = AuditLog(tmp_path, lambda: 0.0)
    for _ in range(MAX_ROUTINE + 5):
        log.write_routine("post refused", user="ci", address="192.0.2.1")
    log.write_routine("page", user="alice", address="192.0.2.2")
    lines = (tmp_path / "audit.jsonl").read_text().splitlines()
    assert [json.loads(line)["action"] for line in lines[MAX_ROUTINE - 2 :]] == [
        "post refused",
        "requests not recorded",
        "page",
    ]
    browser = site.log_in()
    for _ in range(3):
        with mock.patch("orchestrator.studio.web.audit.MAX_ROUTINE", 2):
            assert browser.get("/").status_code == 200
    told = (state / "studio" / "audit.jsonl").read_text().splitlines()
    assert [json.loads(line)["action"] for line in told] == [
        "login",
        "page",
        "requests not recorded",
    ]


def test_failed_logins_at_the_same_time_are_limited(tmp_path: Path) -> None:
    """Many guesses at once are as limited as one after the other."""
    checked: list[str] = []

    class SlowUsers(UserFile):
        """Takes its time for each password, as a hash does."""

        def find(self, name: str, password: str) -> None:
            checked.append(password)
            time.sleep(0.02)

    form = {"type": "http.request", "body": b"name=bob&password=guess", "more_body": False}
    scope = {
        "type": "http", "method": "POST", "path": "/login", "client": ("192.0.2.1", 1),
        "headers": [(b"content-type", b"application/x-www-form-urlencoded")],
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        """The form of a guess."""
        return form

    async def guess_at_once() -> list[Any]:
        """The answer to each guess."""
        access = Access(
            Origin(ADDRESS, secure=True, cookie="ccm"),
            AuditLog(tmp_path),
            users=SlowUsers(tmp_path / "users"),
            user="",
            tell=checked.append,
        )
        requests = [Request(scope, receive) for _ in range(20)]
        answers: list[Any] = await asyncio.gather(*map(access.log_in, requests))
        return answers

    pages = asyncio.run(guess_at_once())
    assert [page.status for page in pages] == [403] * sessions.MAX_FAILURES + [429] * 15
    assert checked == ["guess"] * sessions.MAX_FAILURES


def test_sessions_end(site: Site) -> None:
    """After an hour without use, and after half a day in any case; links expire, too."""
    now = [0.0]
    kept = sessions.Sessions(lambda: now[0])
    cookie = kept.create("alice", "look")
    now[0] = sessions.IDLE
    assert kept.find(cookie) is not None
    now[0] += sessions.IDLE + 1
    assert kept.find(cookie) is None
    cookie = kept.create("alice", "look")
    for _ in range(20):
        now[0] += sessions.IDLE - 1
        found = kept.find(cookie)
    assert found is None
    cookie = kept.create("alice", "look")
    now[0] += sessions.IDLE - 1
    assert kept.find(cookie, is_use=False) is not None
    now[0] += 2
    assert kept.find(cookie, is_use=False) is None
    links = sessions.LoginLinks(lambda: now[0])
    token = links.create()
    now[0] += sessions.LINK_LIFETIME + 1
    assert not links.redeem(token)
    token = links.create()
    links.create()
    assert not links.redeem(token)


@pytest.mark.parametrize("chunked", [False, True])
def test_a_large_form_is_refused(site: Site, chunked: bool) -> None:
    """10 MB, with its length in the head or without."""
    body = b"token=" + b"x" * (10 << 20)
    pieces = (body[at : at + 65536] for at in range(0, len(body), 65536))
    kind = {"content-type": "application/x-www-form-urlencoded"}
    response = site.browser.post("/login", content=pieces if chunked else body, headers=kind)
    assert response.status_code == 413


def test_odd_requests_are_refused(site: Site) -> None:
    """Other methods, endless addresses and forms of other kinds."""
    browser = site.log_in()
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
        assert browser.request(method, "/").status_code == 405
    assert browser.post("/runs").status_code == 405
    assert browser.get("/search?q=" + "x" * request_checks.MAX_TARGET_LENGTH).status_code == 414
    for query in ("page=-1", "page=x", "page=99999999999", "before=%00", "hosts=[", "state=%27"):
        assert browser.get(f"/?{query}").status_code == 200


TRAVERSALS = (
    "/static/../../../../etc/passwd", "/static/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/static/..%5c..%5cetc", "/static//etc/passwd", "/static/layout.html", "/static/__init__.py",
    "/runs/..%2f..%2f..%2fetc%2fpasswd", "/runs/%2e%2e", "/runs/%2e%2e/hosts/web1",
    f"/runs/{FIRST}%2f..%2f{FIRST}", f"/runs/{FIRST}%00", f"/runs/{FIRST}/hosts/../../run.json",
    f"/runs/{FIRST}/hosts/..%2f..%2frun.json", "/hosts/..%2f..%2fetc%2fpasswd",
    "/resource?name=../../etc/passwd", "/compare?a=../..&b=/etc/passwd", "//etc/passwd",
)  # fmt: skip


@pytest.mark.parametrize("address", TRAVERSALS)
def test_no_address_leads_to_a_file(site: Site, address: str) -> None:
    """What is not in the index is not found, whatever the path."""
    response = site.log_in().get(ADDRESS + address)
    assert response.status_code == 404
    assert "root:" not in response.text


@pytest.mark.parametrize("pattern", ["@/etc/passwd", "all:@/etc/passwd", "~(a+)+$", "web:&@x"])
def test_a_pattern_reads_no_file(site: Site, state: Path, tmp_path: Path, pattern: str) -> None:
    """Of the patterns of an inventory, those with files or regular expressions are refused."""
    site.close()
    inventory = tmp_path / "hosts.yaml"
    inventory.write_text("hosts: {web1: {}}\n")
    other = Site(state, inventory=(str(inventory),))
    response = other.log_in().get("/", params={"hosts": pattern})
    assert "patterns with @ or ~ are not supported here" in response.text
    other.close()


def test_symbolic_links_lead_nowhere(site: Site, state: Path, tmp_path: Path) -> None:
    """Neither as the directory of a run nor as a file in one, nor in the place of a read one."""
    runs, browser = state / "runs", site.log_in()
    outside = tmp_path / "outside"
    shutil.copytree(runs / FIRST, outside)
    linked = "20260923T133640Z-aaaaaaa"
    (runs / linked).symlink_to(outside)
    inner = []
    for number, name in enumerate(("hosts", "notices", "resources", "rollout", "verify", "later")):
        inner.append(f"2026092{number}T133640Z-bbbbbbb")
        shutil.copytree(runs / FIRST, runs / inner[-1])
        file = runs / inner[-1] / f"{name}.jsonl"
        file.unlink(missing_ok=True)
        file.symlink_to(outside / "hosts.jsonl")
    site.parts.keeper.forget_pauses()
    site.parts.keeper.refresh()
    for name in (linked, *inner):
        assert browser.get(f"/runs/{name}").status_code == 404
    shutil.rmtree(runs / THIRD)
    (runs / THIRD).symlink_to(outside)
    assert browser.get(f"/runs/{THIRD}").status_code == 404
    assert browser.get(f"/runs/{THIRD}/hosts/web1").status_code == 404


def test_the_files_of_the_studio_are_its_users_alone(site: Site, state: Path) -> None:
    """The index and the audit log; a link in their place is not followed."""
    site.log_in().get("/")
    directory = state / "studio"
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    modes = {stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}
    assert modes == {0o600}
    pages = [json.loads(line) for line in (directory / "audit.jsonl").read_text().splitlines()]
    assert [(one["action"], one["user"], one.get("path")) for one in pages] == [
        ("login", "alice", None),
        ("page", "alice", "/"),
    ]
    (directory / "audit.jsonl").unlink()
    (directory / "audit.jsonl").symlink_to(state / "other")
    assert site.browser.get("/").status_code == 200
    assert not (state / "other").exists()


class _Finder(HTMLParser):
    """Collects what could run: scripts, handlers, addresses that are no links to pages."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        values = dict(attrs)
        if tag == "script" and values.get("src") != "/static/studio.js":
            self.found.append(f"script {values}")
        if tag in ("img", "iframe", "object", "embed", "base", "style", "meta") and (
            tag != "meta" or "http-equiv" in values
        ):
            self.found.append(f"{tag} {values}")
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self.found.append(f"{tag} {name}={value}")
            if name in ("href", "src", "action") and not str(value).startswith(("/", "?", "#")):
                self.found.append(f"{tag} {name}={value}")


def _hostile(state: Path) -> None:
    """A run in which each text that a host, a file or a user controls is hostile."""

    def fill(kept: Kept) -> None:
        """Every kind of report, and a plan."""
        pairs = ((f"file#{BAD}", (f"file#{BAD}2",)),)
        kept.plan(run_events.HostPlanned("web1", (f"file#{BAD}", f"file#{BAD}2"), pairs, pairs))
        check = [{"name": BAD, "status": "WARNING", "tries": 1, "output": BAD}]
        change = [{"what": BAD, "from": BAD, "to": BAD, "diff": f"--- {BAD}\n+{BAD}\n"}]
        kept.event("web1", BAD, "failed", error=[BAD, BAD], output=BAD, place=BAD)
        kept.event("web1", f"{BAD}2", "changed", changes=change, manifest=BAD)
        kept.event("web1", f"{BAD}3", "changed", changes=[{"what": BAD, "from": None, "to": BAD}])
        kept.event("web1", f"{BAD}4", "skipped", unmet_requirements=[BAD])
        kept.event("web1", f"{BAD}5", health_check=check)
        kept.notice("web1", BAD)

    gone: dict[str, Any] = {
        "outcome": "unreachable", "kind": BAD, "message": BAD, "hint": BAD, "stderr": BAD,
        "command": BAD,
    }  # fmt: skip
    who = RunOrigin(user=BAD, machine=BAD, actor=BAD, ccm=BAD, commit=BAD, clean=False)
    write_run(FIRST, fill, "web1", BAD, origin=who, outcomes={BAD: gone})
    record = state / "runs" / FIRST / "run.json"
    about = json.loads(record.read_text())
    record.write_text(json.dumps({**about, "manifest": BAD, "again": [BAD, BAD]}))
    outcome = {"host": "web1", "label": BAD, "status": "failed", "text": BAD, "kind": "check"}
    (record.parent / "verify.jsonl").write_text(json.dumps(outcome) + "\n")


def test_what_hosts_and_files_say_is_text_everywhere(state: Path, tmp_path: Path) -> None:
    """On every page that can be reached: no element and no attribute comes from it."""
    _hostile(state)
    inventory = tmp_path / "hosts.yaml"
    inventory.write_text("hosts: {web1: {}}\n")
    from inventory import load

    facts = {BAD: BAD, "list": [BAD, {BAD: BAD}]}
    FactCache(state).keep(load([inventory]).host("web1"), facts)
    site = Site(state, inventory=(str(inventory),))
    browser = site.log_in()
    left = ["/?former=1", "/?hosts=" + BAD, "/search?q=%3Cscript", "/resource?name=x"]
    seen: set[str] = set()
    told = 0
    while left:
        address = left.pop()
        if address in seen or len(seen) > 80:
            continue
        seen.add(address)
        response = browser.get(address)
        assert response.status_code in (200, 404), (address, response.text)
        finder = _Finder()
        finder.feed(response.text)
        assert finder.found == [], address
        assert "54444439" not in response.text
        told += "&lt;script&gt;" in response.text
        left += list(_links(response.text, address))
    assert told > 8
    assert len(seen) > 12
    site.close()


def _links(text: str, address: str) -> Iterator[str]:
    class Links(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            for name, value in attrs:
                if name == "href" and value and not value.startswith(("/static", "#")):
                    found.append(value)

    found: list[str] = []
    Links().feed(text)
    for value in found:
        yield value if value.startswith("/") else address.partition("?")[0] + value


def test_a_slow_client_is_not_waited_for(site: Site) -> None:
    """A connection that sends no request, or a part of one, is closed; another one is served."""

    class Impatient(BoundedProtocol):
        header_time = 0.3

    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        """Answer anything."""
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"fine"})

    stop = threading.Event()
    settings = {"tls": None, "protocol": Impatient, "is_over": stop.is_set}
    thread = threading.Thread(target=serve, args=(app, listener), kwargs=settings)
    thread.start()
    try:
        for begin in (b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "):
            with socket.create_connection(("127.0.0.1", port), 30) as slow:
                slow.sendall(begin)
                assert slow.recv(1000).partition(b"\r\n")[0] in (b"", b"HTTP/1.1 400 Bad Request")
        with socket.create_connection(("127.0.0.1", port), 30) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert b"fine" in b"".join(iter(lambda: client.recv(1000), b""))
    finally:
        stop.set()
        thread.join(30)


def answer_of(connection: socket.socket) -> bytes:
    """A response up to its last chunk, or what arrives before the connection ends."""
    data = part = connection.recv(1000)
    while part and not data.endswith(b"0\r\n\r\n"):
        part = connection.recv(1000)
        data += part
    return data


def test_many_connections_keep_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections without a complete request make room for others, the oldest request first."""
    monkeypatch.setattr(server, "KEEP_ALIVE", 300)
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        """Answer once the body is there."""
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"fine"})

    stop = threading.Event()
    settings: dict[str, Any] = {"tls": None, "is_over": stop.is_set}
    thread = threading.Thread(target=serve, args=(app, listener), kwargs=settings)
    thread.start()
    post = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1"
    try:
        with contextlib.ExitStack() as held:

            def connected(begin: bytes) -> socket.socket:
                """A connection with the beginning of a request."""
                slow = held.enter_context(socket.create_connection(("127.0.0.1", port), 30))
                slow.sendall(begin)
                return slow

            def check_answered() -> None:
                """A new connection is served, and the server has accepted those before it."""
                client = connected(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                assert b"fine" in answer_of(client)

            kept = connected(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"fine" in answer_of(kept)
            for begin in (b"", post) * (MAX_CONNECTIONS // 3):
                connected(begin)
            check_answered()
            kept.sendall(post)  # the latest request, although it is the oldest connection
            check_answered()
            for begin in (b"", post) * (MAX_CONNECTIONS // 3):
                connected(begin)
            kept.sendall(b"23456789")
            assert b"fine" in answer_of(kept)
            for begin in (b"", post) * MAX_CONNECTIONS:
                connected(begin)
            check_answered()
    finally:
        stop.set()
        thread.join(30)


def test_clients_that_read_nothing_keep_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections whose responses are not read make room for others, too."""
    monkeypatch.setattr(server, "MAX_CONNECTIONS", 8)
    monkeypatch.setattr(server, "KEEP_ALIVE", 0.1)
    listener = listen("127.0.0.1", 0)
    large = b"x" * (8 << 20)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        """A response that fits into no buffer, or a small one."""
        body = large if scope["path"] == "/large" else b"fine"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    stop = threading.Event()
    settings: dict[str, Any] = {"tls": None, "is_over": stop.is_set}
    thread = threading.Thread(target=serve, args=(app, listener), kwargs=settings)
    thread.start()
    try:
        with contextlib.ExitStack() as held:

            def connected(begin: bytes) -> socket.socket:
                """A connection with a request."""
                client = held.enter_context(socket.create_connection(listener.getsockname(), 30))
                client.sendall(begin)
                return client

            for _ in range(8):
                assert connected(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n").recv(12)
            answers = [connected(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") for _ in range(4)]
            assert [b"fine" in answer_of(one) for one in answers] == [True] * 4
    finally:
        stop.set()
        thread.join(30)


def test_a_slow_form_is_not_waited_for(site: Site) -> None:
    """The body of a form has its time."""
    import asyncio

    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        """Never more than a part."""
        await asyncio.sleep(30)
        return {}

    async def send(message: Any) -> None:
        """Keep the answer."""
        sent.append(message)

    app = request_checks.Guard(site.parts.app, ["x"], scheme="http", body_time=0.05)
    scope = {
        "type": "http", "method": "POST", "path": "/login", "query_string": b"",
        "headers": [(b"host", b"x")],
    }  # fmt: skip
    begin = time.monotonic()
    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 408
    assert time.monotonic() - begin < 25  # else it has waited for the whole form


def test_run_directories_of_others_are_not_made_ours(state: Path) -> None:
    """Where the state directory belongs to somebody else, the studio does not start."""
    if os.geteuid():
        pytest.skip("only root gives files away")
    (state / "studio").mkdir()
    os.chown(state / "studio", 12345, 12345)
    with pytest.raises(Exception, match="belongs to another user"):
        Site(state)


def test_one_user_leaves_streams_to_others() -> None:
    """Who has many pages open, or opens many at once, gets no further news there; others do."""

    async def wait() -> Any:
        """The client stays."""
        await asyncio.Event().wait()

    async def ignore(message: Any) -> None:
        """The client reads everything."""

    async def attack() -> tuple[bool, bool, bool]:
        """Whether the streams of mallory and of alice are full, and mallory's after one ended."""
        streams = LiveStreams()
        made = [streams.response("mallory", lambda: (1, True)) for _ in range(MAX_STREAMS_OF_USER)]
        full = streams.is_full("mallory"), streams.is_full("alice")
        sent = made[0]({"type": "http"}, wait, ignore)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(sent, 0.01)
        return *full, streams.is_full("mallory")

    assert asyncio.run(attack()) == (True, False, False)
