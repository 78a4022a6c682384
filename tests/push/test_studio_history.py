"""Pushes whose runs a studio keeps, over a real server."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.push.command import Ccm
from tests.push.test_history import HOSTS, SITE, colleague

pytest.importorskip("starlette")


@pytest.fixture
def studio(ccm: Ccm) -> Iterator[subprocess.Popen[str]]:
    """A running studio, and a project that names it as its history."""
    for variable in ("CCM_INVENTORY", "CCM_HISTORY", "CCM_HISTORY_TOKEN"):
        ccm.environment.pop(variable, None)
    done = ccm.run("studio", "token", "add", "alice", "--state", "studio")
    assert done.code == 0
    (ccm.scratch / "token").write_text(done.stdout)
    (ccm.scratch / "token").chmod(0o600)
    it = ccm.start("studio", "--state", "studio", "--listen", "127.0.0.1:0")
    assert it.stdout is not None
    found = re.match(r"log in at: (http://127\.0\.0\.1:\d+)/", it.stdout.readline())
    assert found is not None
    (ccm.scratch / "hosts.yaml").write_text(HOSTS)
    (ccm.scratch / "bad.yaml").write_text(SITE.replace("NAME", "false"))
    (ccm.scratch / "ccm.yaml").write_text(
        f"inventory: hosts.yaml\nhistory: {found[1]}\nhistory_token: {{file: token}}\n"
    )
    yield it
    if it.poll() is None:
        it.send_signal(signal.SIGINT)
        it.communicate(timeout=60)


def runs(ccm: Ccm) -> list[Path]:
    return sorted((ccm.scratch / "studio/runs").iterdir())


def test_a_colleague_retries_what_failed(ccm: Ccm, studio: subprocess.Popen[str]) -> None:
    """The run is at the studio when the push ends; others list, show and retry it."""
    token = (ccm.scratch / "token").read_text().strip()
    pushed = ccm.run("push", "bad.yaml", "-l", "web1")
    assert (pushed.code, pushed.stderr) == (1, "")
    (run,) = runs(ccm)
    about = json.loads((run / "run.json").read_text())
    assert about["end"] is not None
    other = colleague(ccm)
    listed = other.run("runs", "--history")
    assert run.name in listed.stdout
    assert "/bin/false" in other.run("report", "--history", run.name[:12]).stdout
    retried = other.run("push", "bad.yaml", "-l", "failed", "--history", "--json")
    assert list(json.loads(retried.stdout)["hosts"]) == ["web1"]
    assert len(runs(ccm)) == 2
    said = pushed.stdout + listed.stdout + retried.stderr + ccm.run("config").stdout
    written = [path for path in ccm.scratch.rglob("*") if path.is_file() and path.name != "token"]
    assert token not in said
    assert not [path for path in written if token.encode() in path.read_bytes()]


def test_a_studio_that_was_away_is_caught_up(ccm: Ccm, studio: subprocess.Popen[str]) -> None:
    """The push warns and ends as it would; ccm runs push copies the run once the studio is back."""
    address = urlsplit((ccm.scratch / "ccm.yaml").read_text().split()[3])
    studio.send_signal(signal.SIGINT)
    studio.communicate(timeout=60)
    pushed = ccm.run("push", "bad.yaml")
    assert (pushed.code, "ccm runs push" in pushed.stderr) == (1, True)
    assert runs(ccm) == []
    assert ccm.run("runs", "push").code == 1
    back = ccm.start("studio", "--state", "studio", "--listen", address.netloc)
    assert back.stdout is not None
    back.stdout.readline()
    try:
        assert ccm.run("runs", "push").code == 0
        assert len(runs(ccm)) == 1
        assert "nothing to copy" in ccm.run("runs", "push").stderr
    finally:
        back.send_signal(signal.SIGINT)
        back.communicate(timeout=60)


def test_tokens_from_the_command_line(ccm: Ccm) -> None:
    """Each is shown once, listed without its secret, and removed."""
    state = ("--state", "studio")
    add = ("studio", "token", "add")
    token = ccm.run(*add, "ci", "--group", "web", "--expires", "90d", *state).stdout.strip()
    assert re.fullmatch(r"ccm_[0-9a-f]{12}_\S{43}", token)
    assert "the token ci already exists" in ccm.run(*add, "ci", *state).stderr
    assert ccm.run(*add, "wall", "--read-only", *state).code == 0
    listed = ccm.run("studio", "token", "list", *state).stdout
    assert re.search(r"^ci  post, read  web  until \d{4}-", listed, re.MULTILINE)
    assert "wall  read  all hosts" in listed
    assert token not in listed
    assert ccm.run("studio", "token", "rm", "ci", *state).code == 0
    assert "there is no token" in ccm.run("studio", "token", "rm", "ci", *state).stderr
    assert ccm.run(*add, "../x", *state).code == 2
