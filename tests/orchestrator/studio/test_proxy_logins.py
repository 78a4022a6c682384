"""Users whom a proxy logs in, and changes of users who are logged in."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from orchestrator.cli.app import main
from orchestrator.studio.web.authentication import TrustedProxy
from orchestrator.studio.web.start import StudioOptions, check_options
from orchestrator.studio.web.users import UserFile
from remote_runtime.errors import UsageError
from tests.orchestrator.studio.history import Site

PASSWORD = "correct horse battery"
NAME = "studio.example"
PROXY = TrustedProxy("192.0.2.7", "X-Remote-User")


@pytest.fixture
def users(tmp_path: Path) -> Path:
    """alice with a password, and bob whom only the proxy logs in."""
    path = tmp_path / "users"
    UserFile(path).add("alice", "look", PASSWORD)
    UserFile(path).add("bob", "design", None)
    return path


@pytest.fixture
def site(state: Path, users: Path) -> Site:
    """A studio behind a proxy."""
    return Site(state, auth=users, proxy=PROXY, names=(NAME,))


def through(site: Site, user: str | None, address: str = PROXY.address) -> TestClient:
    """A browser whose requests come from an address, with a name in the header."""
    headers = {} if user is None else {PROXY.header: user}
    return TestClient(
        site.parts.app,
        base_url=f"https://{NAME}",
        follow_redirects=False,
        headers=headers,
        client=(address, 40000),
    )


def test_the_proxy_logs_a_user_in(site: Site) -> None:
    """With the role of the file, a secure cookie, and no password."""
    browser = through(site, "bob")
    assert browser.get("/").headers["location"] == "/login"
    done = browser.get("/login")
    assert (done.status_code, done.headers["location"]) == (303, "/")
    assert "secure" in done.headers["set-cookie"].lower()
    assert '<span class="faint">bob</span>' in browser.get("/").text


@pytest.mark.parametrize(
    ("user", "address"),
    [
        pytest.param("bob", "192.0.2.8", id="from another address"),
        pytest.param("bob", "testclient", id="from no address"),
        pytest.param("eve", PROXY.address, id="not in the file"),
        pytest.param("", PROXY.address, id="without a name"),
        pytest.param(None, PROXY.address, id="without the header"),
        pytest.param("bob push", PROXY.address, id="not a name"),
    ],
)
def test_nobody_else_is_logged_in(site: Site, user: str | None, address: str) -> None:
    """The header counts from the proxy alone, and for users of the file."""
    browser = through(site, user, address)
    assert "set-cookie" not in browser.get("/login").headers
    assert browser.get("/").headers["location"] == "/login"


def test_an_unusable_file_of_users(site: Site, users: Path) -> None:
    """The page says that the file is the reason, not the user."""
    users.chmod(0o644)
    found = through(site, "bob").get("/login")
    assert found.status_code == 503
    assert "the users file cannot be used" in found.text


def test_two_headers_name_nobody(site: Site) -> None:
    """A browser that sends the header itself, past a proxy that adds its own, is not believed."""
    browser = through(site, None)
    found = browser.get("/login", headers=[(PROXY.header, "bob"), (PROXY.header, "alice")])
    assert "set-cookie" not in found.headers


def test_a_session_ends_when_the_proxy_names_another_user(site: Site) -> None:
    """The cookie of one user does not serve the next at the same browser."""
    browser = through(site, "bob")
    browser.get("/login")
    assert browser.get("/").status_code == 200
    assert browser.get("/", headers={PROXY.header: "alice"}).status_code == 303
    assert browser.get("/").status_code == 303


def test_a_user_without_a_password_needs_the_proxy(site: Site) -> None:
    """No password fits, neither an empty one nor what stands in the file."""
    browser = through(site, None, "192.0.2.8")
    for password in ("", "-", PASSWORD):
        done = browser.post("/login", data={"name": "bob", "password": password})
        assert done.status_code == 403
    done = browser.post("/login", data={"name": "alice", "password": PASSWORD})
    assert done.status_code == 303


def test_a_form_comes_from_the_name_of_the_proxy(site: Site) -> None:
    """A page on another site is refused, behind the proxy as well."""
    browser = through(site, "bob")
    for origin, status in ((f"https://{NAME}", 403), ("https://evil.example", 403)):
        found = browser.post("/logout", headers={"origin": origin})
        assert found.status_code == status
        assert ("on another site" in found.text) == (origin != f"https://{NAME}")


@pytest.mark.parametrize("change", ["removed", "role", "groups", "password", "unreadable"])
def test_a_change_of_a_user_ends_the_sessions(state: Path, users: Path, change: str) -> None:
    """What a user may do no longer, an open browser may not either."""
    site, file = Site(state, auth=users), UserFile(users)
    file.add("carol", "push", PASSWORD)
    site.browser.post("/login", data={"name": "carol", "password": PASSWORD})
    assert site.browser.get("/").status_code == 200
    if change == "removed":
        file.remove("carol")
    elif change == "unreadable":
        users.chmod(0o644)
    else:
        role = "look" if change == "role" else "push"
        groups = ("web",) if change == "groups" else ()
        file.add("carol", role, PASSWORD, groups)  # a new hash, too
    assert site.browser.get("/").headers["location"] == "/login"
    assert site.browser.get("/live").status_code == 401


def test_a_change_of_another_user_ends_no_session(state: Path, users: Path) -> None:
    """Only the own entry counts."""
    site = Site(state, auth=users)
    site.browser.post("/login", data={"name": "alice", "password": PASSWORD})
    UserFile(users).add("carol", "push", PASSWORD)
    assert site.browser.get("/").status_code == 200


def test_a_proxy_needs_users(tmp_path: Path) -> None:
    """The header says who somebody is, not what they may do."""
    options = StudioOptions(tmp_path, "127.0.0.1", 8700, proxy=PROXY)
    with pytest.raises(UsageError, match="--proxy requires --auth"):
        check_options(options)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--proxy", "proxy.example"], "--proxy proxy.example: not an IP address"),
        (["--proxy", "::1", "--proxy-header", "a b"], "'a b': not a valid header name"),
        (["--proxy", "::1"], "--proxy requires --auth"),
    ],
)
def test_odd_proxies_are_refused(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything listens."""
    assert main(["studio", *words]) == 2
    assert told in capsys.readouterr().err
