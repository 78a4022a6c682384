"""``ccm studio`` from the command line."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.cli.app import main
from tests.orchestrator.cli.starts import imported
from tests.orchestrator.studio.history import three_runs

OF_THE_EXTRA = {"starlette", "uvicorn", "argon2", "anyio", "h11", "sqlite3"}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that runs are stored below."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "ccm"


def test_it_serves_until_it_is_told_to_end(state: Path) -> None:
    """It prints where to log in, answers, and ends with 0 at Ctrl-C."""
    three_runs()
    command = [sys.executable, "-m", "orchestrator.cli.app", "studio", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as it:
        try:
            assert it.stdout is not None
            line = it.stdout.readline()
            found = re.fullmatch(r"log in at: http://(127\.0\.0\.1:\d+)(/login\?token=\S+)\n", line)
            assert found, it.communicate(timeout=60)
            browser = http.client.HTTPConnection(found[1], timeout=60)
            browser.request("GET", found[2])
            answer = browser.getresponse()
            assert (answer.status, answer.getheader("server")) == (200, None)
            assert "This link works only once." in answer.read().decode()
        finally:
            it.send_signal(signal.SIGINT)
        assert it.wait(60) == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["--listen", "0.0.0.0:0"],
            "loopback address and requires --auth, --tls-cert and --tls-key",
        ),
        (["--listen", "8700"], "expected ADDRESS:PORT"),
        (["--name", "a b"], "--name: the host name 'a b' is invalid"),
        (["--listen", "127.0.0.1:99999"], "expected ADDRESS:PORT"),
        (
            ["--listen", "192.0.2.1:0", "--auth", "/none"],
            "loopback address and requires --tls-cert and --tls-key",
        ),
        (["--tls-cert", "x"], "--tls-cert and --tls-key require each other"),
        (["--auth", "/none"], "--auth /none cannot be read"),
        (["--state", "/none"], "it contains no directory named runs"),
        (["user", "add", "--auth", "u"], "NAME is missing"),
        (["user", "list", "--auth", "/none"], "cannot be read"),
    ],
)
def test_what_it_cannot_do_is_refused(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the reason and what to do."""
    assert main(["studio", *words]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert len(error.splitlines()) == 2


@pytest.mark.parametrize("words", [["studio"], ["studio", "user", "list", "--auth", "u"]])
def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    """In one line, and what to type below it."""
    monkeypatch.setitem(sys.modules, "starlette", None)
    assert main(words) == 2
    error = capsys.readouterr().err.splitlines()
    assert error == [
        "ccm: error: ccm studio requires the package starlette, which is not installed",
        "     pip install 'ccm-push[studio]'",
    ]


def test_users_are_added_from_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a terminal its first line is the password; a list shows roles and groups."""
    import io

    file = str(tmp_path / "users")
    for role in ("look", "push"):
        monkeypatch.setattr(sys, "stdin", io.StringIO("a long password\n"))
        assert main(["studio", "user", "add", "alice", "--role", role, "--auth", file]) == 0
    monkeypatch.setattr(sys, "stdin", io.StringIO("a long password\n"))
    of_groups = ["--group", "web", "--group", "db"]
    assert main(["studio", "user", "add", "bob", *of_groups, "--auth", file]) == 0
    assert main(["studio", "user", "list", "--auth", file]) == 0
    assert main(["studio", "user", "rm", "alice", "--auth", file]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "added: alice (look)", "changed: alice (push)", "added: bob (look, web,db)",
        "alice  push  all hosts", "bob  look  web,db", "removed: alice",
    ]  # fmt: skip


def test_no_other_command_loads_it(tmp_path: Path) -> None:
    """Neither the server nor the database: they take longer than most commands."""
    three_runs()
    loaded = {name.partition(".")[0] for name in imported(tmp_path, "runs", says="site.yaml")}
    assert loaded & OF_THE_EXTRA == set()
