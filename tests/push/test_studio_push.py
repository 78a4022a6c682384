"""Approved plans that are pushed from the pages of a studio."""

from __future__ import annotations

import html
import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.push.command import Ccm
from tests.push.plans import plan
from tests.push.target import Target

pytest.importorskip("starlette")
httpx = pytest.importorskip("httpx")

SITE = """\
data:
  password: hunter2secret # @secret
ccm:
  resources:
    - file:
        - DIR/a: {content: "one\\n", owner: OWNER, group: GROUP, mode: "0644"}
        - DIR/b: {content: "{{ Data.password }}\\n", owner: OWNER, group: GROUP, mode: "0600"}
"""


class Pages:
    """A running studio and a browser that is logged in."""

    def __init__(self, ccm: Ccm, signers: Path) -> None:
        words = ("--signers", str(signers), "--listen", "127.0.0.1:0")
        self.process = ccm.start("studio", "--allow-push", *words)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.match(r"log in at: (http://127\.0\.0\.1:\d+)/login\?token=(\S+)", line)
        assert found is not None, line
        self.browser: Any = httpx.Client(base_url=found[1], timeout=60)
        done = self.browser.post("/login", data={"token": found[2]})
        assert done.status_code == 303

    def text(self, address: str, **query: str) -> str:
        """The text of a page."""
        page = self.browser.get(address, params=query).text
        return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())

    def push(self, hosts: str) -> Any:
        """Type the number of hosts on the page of the plan, and send it."""
        page = self.browser.get("/plan/push", params={"name": "change.plan"}).text
        sent = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page))
        return self.browser.post("/plan/push", data={"name": "change.plan", **sent, "hosts": hosts})

    def wait_for(self, words: str, address: str, **query: str) -> str:
        """The text of a page once it has these words."""
        end = time.monotonic() + 120
        while words not in (text := self.text(address, **query)):
            assert time.monotonic() < end, text
            time.sleep(0.2)
        return text

    def close(self) -> None:
        """End the studio as Ctrl-C does."""
        self.browser.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.communicate(timeout=60)


@pytest.fixture
def signers(tmp_path: Path) -> Path:
    """People who approve; alice has a key in the scratch directory."""
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")]
    subprocess.run(words, check=True)
    public = (tmp_path / "key.pub").read_text().split()
    path = tmp_path.parent / f"{tmp_path.name}-signers"
    path.write_text(f"alice@example.com {public[0]} {public[1]}\n")
    path.chmod(0o644)
    return path


@pytest.fixture
def pages(target: Target, signers: Path) -> Iterator[Pages]:
    """A studio in a project with a plan for one host."""
    (target.ccm.scratch / "ccm.yaml").write_text("forks: 3\n")
    made = plan(target, SITE)
    assert made.code == 0, made.output
    it = Pages(target.ccm, signers)
    yield it
    it.close()


def test_a_plan_is_approved_confirmed_and_pushed(target: Target, pages: Pages) -> None:
    """From its page to the page of its run; a second time the host refuses the used plan."""
    ccm = target.ccm
    assert "The plan has 0 of 1 approvals." in pages.text("/plan/push", name="change.plan")
    assert pages.push("1").status_code == 409
    signed = ccm.run("plan", "sign", "--key", str(ccm.scratch / "key"), "change.plan")
    assert signed.code == 0, signed.output
    assert pages.push("2").status_code == 409
    assert target.names() == []
    done = pages.push("1")
    assert done.status_code == 303, done.text
    address = done.headers["location"]
    assert address.startswith("/runs/")
    shown = pages.wait_for("changed 1", address)
    assert "hunter2secret" not in shown
    assert target.read("a") == "one\n"
    assert target.read("b") == "hunter2secret\n"
    run = next((ccm.scratch / "state/ccm/runs").glob(address.rpartition("/")[2]))
    about = json.loads((run / "run.json").read_text())
    assert about["origin"]["actor"] == about["origin"]["user"]
    assert about["command"] == "push"
    pages.wait_for("pushed this plan", "/plan", name="change.plan")
    again = pages.push("1").headers["location"]
    assert again != address
    pages.wait_for("1 of 1 host did not finish successfully", "/plan", name="change.plan")
    assert "the plan was already used on this host" in pages.wait_for("refused 1", again)
    _check_audit(ccm.scratch / "state/ccm/studio/audit.jsonl", run.name)


def _check_audit(path: Path, run: str) -> None:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    told = {one["action"]: one for one in reversed(lines) if one.get("plan") == "change.plan"}
    assert {"push refused", "push confirmed", "push started", "push ended"} <= told.keys()
    assert told["push started"]["run"] == run
    for action in ("push confirmed", "push started", "push ended"):
        assert told[action]["approved"] == "alice@example.com"
        assert told[action]["hosts"] == 1


def test_a_push_goes_on_when_the_studio_ends(local: Target, signers: Path) -> None:
    """It carries out the whole plan, and another studio does not push that meanwhile."""
    ccm = local.ccm
    (ccm.scratch / "ccm.yaml").write_text("forks: 3\n")
    waits = "sh -c 'until test -e DIR/go; do sleep 0.1; done'"
    slow = f'resources:\n    - exec:\n        - slow: {{command: "{waits}", timeout: 5m}}\n'
    made = plan(local, SITE.replace("resources:\n", slow))
    assert made.code == 0, made.output
    assert ccm.run("plan", "sign", "--key", str(ccm.scratch / "key"), "change.plan").code == 0
    pages = Pages(ccm, signers)
    try:
        assert pages.push("1").status_code == 303
    finally:
        pages.close()
    other = Pages(ccm, signers)
    try:
        assert other.push("1").headers["location"] == "/plan?name=change.plan"
        other.wait_for("the plan is being pushed", "/plan", name="change.plan")
    finally:
        other.close()
    assert local.names() == []
    local.write("go", "")
    end = time.monotonic() + 120
    while "b" not in local.names():
        assert time.monotonic() < end
        time.sleep(0.2)
    assert local.read("a") == "one\n"
