"""Users with passwords: their file, their logins, and where they are required."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from orchestrator.history.location import is_loopback
from orchestrator.studio.web.sessions import Session
from orchestrator.studio.web.start import StudioOptions, check_options, host_values
from orchestrator.studio.web.users import UserFile
from remote_runtime.errors import UsageError
from tests.orchestrator.studio.history import Site, three_runs

PASSWORD = "correct horse battery"


@pytest.fixture
def users(tmp_path: Path) -> Path:
    """A file with one user."""
    path = tmp_path / "users"
    UserFile(path).add("alice", "look", PASSWORD)
    return path


def test_the_file_holds_no_password(users: Path) -> None:
    """It is its owner's, has an argon2 hash, and can be changed by name."""
    text = users.read_text()
    assert stat.S_IMODE(users.stat().st_mode) == 0o600
    assert text.startswith("alice look $argon2id$")
    assert PASSWORD not in text
    file = UserFile(users)
    assert not file.add("alice", "push", PASSWORD + "!")
    assert file.add("bob@example.org", "design", PASSWORD)
    assert [user[:2] for user in file.users().values()] == [
        ("alice", "push"),
        ("bob@example.org", "design"),
    ]
    file.remove("alice")
    assert list(file.users()) == ["bob@example.org"]


@pytest.mark.parametrize(
    ("name", "password", "words"),
    [
        ("", PASSWORD, "is not a valid user name"),
        ("a b", PASSWORD, "is not a valid user name"),
        ("a\nroot push x", PASSWORD, "is not a valid user name"),
        ("bob", "short", "expected a password of 12 to 1000 characters"),
        ("bob", "x" * 1001, "expected a password"),
    ],
)
def test_odd_users_are_refused(users: Path, name: str, password: str, words: str) -> None:
    """Names that would break the lines of the file, and passwords that are too short."""
    with pytest.raises(UsageError, match=words):
        UserFile(users).add(name, "look", password)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda path: path.chmod(0o644), "accessible to other users"),
        (lambda path: path.write_text("alice admin x\n"), "invalid line 1"),
        (lambda path: path.write_text("alice\n"), "invalid line 1"),
        (lambda path: path.unlink(), "cannot be read"),
        (lambda path: (path.rename(f"{path}2"), path.symlink_to(f"{path}2")), "cannot be read"),
        (lambda path: path.write_text("x" * (2 << 20)), "is not a users file"),
    ],
)
def test_an_unusable_file_is_refused(users: Path, damage: Any, words: str) -> None:
    """Also one that others can read, and a symbolic link."""
    damage(users)
    with pytest.raises(UsageError, match=words):
        UserFile(users).users()


def test_a_user_logs_in_with_name_and_password(state: Path, users: Path) -> None:
    """Nobody else does, and both mistakes look the same; the session has the user's name."""
    three_runs()
    site = Site(state, auth=users)
    assert site.said == ["http://127.0.0.1:8700/login"]
    browser = site.browser
    assert 'type="password"' in browser.get("/login?token=x").text
    refusals = [
        browser.post("/login", data=data)
        for data in (
            {"name": "alice", "password": "wrong"},
            {"name": "nobody", "password": PASSWORD},
            {"token": "x"},
        )
    ]
    assert {response.status_code for response in refusals} == {403}
    assert all("The name or the password is wrong." in response.text for response in refusals)
    done = browser.post("/login", data={"name": "alice", "password": PASSWORD})
    assert done.status_code == 303
    assert '<span class="faint">alice</span>' in browser.get("/").text
    log = [json.loads(line) for line in (state / "studio" / "audit.jsonl").read_text().splitlines()]
    assert [(one["action"], one["user"]) for one in log] == [
        ("login failed", "alice"), ("login failed", "nobody"), ("login failed", ""),
        ("login", "alice"), ("page", "alice"),
    ]  # fmt: skip
    assert PASSWORD not in json.dumps(log)
    site.close()


def test_a_file_that_becomes_unusable_lets_nobody_in(state: Path, users: Path) -> None:
    """The page says so, the audit log has the reason."""
    site = Site(state, auth=users)
    users.chmod(0o644)
    response = site.browser.post("/login", data={"name": "alice", "password": PASSWORD})
    assert response.status_code == 503
    assert "the users file cannot be used" in response.text
    assert "accessible to other users" in (state / "studio" / "audit.jsonl").read_text()
    site.close()


def test_with_tls_the_cookie_is_secure(state: Path, users: Path) -> None:
    """The cookie requires TLS, and so do later requests of the browser."""
    site = Site(state, auth=users, tls=("cert", "key"))
    site.browser.base_url = "https://127.0.0.1:8700"
    done = site.browser.post("/login", data={"name": "alice", "password": PASSWORD})
    assert "secure" in done.headers["set-cookie"].lower()
    assert "max-age" in done.headers["strict-transport-security"]
    site.close()


def test_roles_include_those_before() -> None:
    """Who may push may look."""
    session = Session("alice", "design", "", begun=0.0, used=0.0)
    assert [session.may(role) for role in ("look", "design", "push")] == [True, True, False]


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("localhost", True),
        ("0.0.0.0", False), ("::", False), ("192.0.2.1", False), ("studio.example", False),
    ],
)  # fmt: skip
def test_others_reach_it_only_with_users_and_tls(tmp_path: Path, host: str, loopback: bool) -> None:
    """An address that is not of this machine alone is refused without both."""
    assert is_loopback(host) == loopback
    options = StudioOptions(tmp_path, host, 8700)
    full = options._replace(auth=tmp_path, tls=("a", "b"))
    check_options(full)
    for lacking in (options, full._replace(auth=None), full._replace(tls=None)):
        if loopback:
            check_options(lacking)
        else:
            with pytest.raises(UsageError, match="is not a loopback address"):
                check_options(lacking)


def test_names_of_the_server(tmp_path: Path) -> None:
    """The Host header may have the address, further names, and on this machine its usual names."""
    options = StudioOptions(tmp_path, "127.0.0.1", 8700, names=("me.example",))
    assert set(host_values(options, 8700)) == {
        "127.0.0.1:8700", "me.example:8700", "localhost:8700", "[::1]:8700",
    }  # fmt: skip
    options = options._replace(host="::", tls=("a", "b"))
    assert host_values(options, 443)[:2] == ["me.example:443", f"{os.uname().nodename}:443"]
    assert "me.example" in host_values(options, 443)
