"""A draft is rendered for a host and previewed, before it is saved."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from pathlib import Path

import pytest

from inventory.subprocesses import running
from tests.orchestrator.studio.design.designer import DesignerBrowser, designer, project
from tests.orchestrator.studio.history import Site
from tests.texts import expect_text

SITE = """\
ccm:
  resources:
    - file:
        - {path}:
            content: "{{{{ lookup('facts.role', 'no role') }}}} {{{{ template('a.j2') }}}}"
            owner: {owner}
            group: {owner}
            mode: "0644"
"""


@pytest.fixture
def at_work(state: Path, tmp_path: Path) -> tuple[Site, DesignerBrowser]:
    """A studio, and a browser with an unsaved manifest."""
    root = project(tmp_path, "ccm: {resources: []}\n")
    (root / "a.j2").write_text("{% for n in range(3) %}{{ n }}{% endfor %}")
    site, browser = designer(state, root)
    browser.edit("site.yaml")
    browser.send("site.yaml", "text", yaml=SITE.format(path=tmp_path / "new", owner="root"))
    return site, browser


def test_a_host_gets_its_values(at_work: tuple[Site, DesignerBrowser]) -> None:
    """Variables of the inventory and templates of the project are in the rendered text."""
    _, browser = at_work
    page = browser.get("/design/try", file="site.yaml", host="web1")
    assert "content: web 012" in page
    assert "No facts of web1 are stored" in page
    assert "no role 012" in browser.get("/design/try", file="site.yaml", host="web2")
    browser.get("/design/try", file="site.yaml", host="db")
    expect_text(browser.errors())


def test_a_preview_is_a_run_that_changes_nothing(
    at_work: tuple[Site, DesignerBrowser], tmp_path: Path
) -> None:
    """Its page shows what a push of the draft would do."""
    site, browser = at_work
    site.parts.keeper.start()
    browser.send("site.yaml", "preview", hosts="web1")
    end = time.monotonic() + 120
    while not (found := re.search(r"/runs/([\w-]+)", f"{browser.address} {browser.page}")):
        assert time.monotonic() < end
        browser.get("/design/try", file="site.yaml")
    run = found[1]
    assert "There is no run" not in browser.page
    while "would create" not in browser.page and time.monotonic() < end:
        time.sleep(0.1)
        browser.get(f"/runs/{run}")
    assert f"file#{tmp_path / 'new'}" in browser.page
    assert not (tmp_path / "new").exists()
    assert (tmp_path / "project" / "site.yaml").read_text() == "ccm: {resources: []}\n"


def test_a_preview_ends_no_program_of_another_page(
    at_work: tuple[Site, DesignerBrowser],
) -> None:
    """Another page may read a program of the inventory, or a secret, at the same time."""
    _, browser = at_work
    with running(["sleep", "600"]) as other:
        browser.send("site.yaml", "preview", hosts="web1")
        for thread in threading.enumerate():
            if thread.name == "studio-preview":
                thread.join(60)
        assert "/runs/" in f"{browser.address} {browser.page}"
        assert other.poll() is None


@pytest.mark.parametrize("pattern", ["@/etc/passwd", "~x", " ", "nobody"])
def test_a_bad_pattern_is_refused(at_work: tuple[Site, DesignerBrowser], pattern: str) -> None:
    """No run begins."""
    _, browser = at_work
    browser.send("site.yaml", "preview", hosts=pattern)
    assert "/design/try" in browser.address
    assert "expected hosts" in browser.page or "nobody" in browser.page


def git(root: Path, *words: str) -> str:
    """The output of git."""
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(["git", *who, *words], cwd=root, capture_output=True, check=True)
    return done.stdout.decode()


def test_a_commit_on_a_branch(
    at_work: tuple[Site, DesignerBrowser], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the file, the message and the user; HEAD, the index and hooks are left alone."""
    _, browser = at_work
    root = tmp_path / "project"
    for key in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{key}_NAME", raising=False)
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", "ccm")
    git(root, "config", "user.email", "ccm@example.org")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    hook = root / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    for branch in ("--all", "a..b", "main"):
        browser.get("/design/diff", file="site.yaml")
        browser.send("site.yaml", "commit", branch=branch, message="x")
        assert browser.errors()
    browser.send("site.yaml", "commit", branch="", message="Say hello")
    assert "committed it to design/alice" in browser.page
    assert git(root, "log", "--format=%an %s", "design/alice") == "alice Say hello\nt first\n"
    assert git(root, "show", "design/alice:site.yaml") == (root / "site.yaml").read_text()
    assert git(root, "symbolic-ref", "--short", "HEAD") == "main\n"
    assert git(root, "status", "--porcelain") == " M site.yaml\n"
    assert not (tmp_path / "ran").exists()


def test_a_preview_is_stored_in_the_state_of_the_studio(tmp_path: Path) -> None:
    """With ``--state``, the studio shows the preview, and the user's own runs do not grow."""
    other = tmp_path / "other"
    (other / "runs").mkdir(parents=True, mode=0o700)
    text = f"ccm:\n  resources:\n    - file: [{tmp_path}/new: {{ensure: absent}}]\n"
    _, browser = designer(other, project(tmp_path, text))
    browser.edit("site.yaml")
    browser.send("site.yaml", "preview", hosts="web1")
    found = re.search(r"/runs/([\w-]+)", f"{browser.address} {browser.page}")
    assert found is not None
    assert [one.name for one in (other / "runs").iterdir()] == [found[1]]
    assert not (tmp_path / "ccm" / "runs").exists()


READS = {
    "file": "content: \"{{ file('FILE') }}\"",
    "template": "content: \"{{ template('FILE') }}\"",
    "a computed name": "content: \"{{ file('./' ~ 'FILE') }}\"",
    "source": "source: FILE",
}
CLOSED = ("ccm.yaml", ".env", "key.pem")


@pytest.mark.parametrize("how", READS)
@pytest.mark.parametrize("name", CLOSED)
def test_a_preview_reads_no_closed_file(state: Path, tmp_path: Path, how: str, name: str) -> None:
    """A diff would show it: the resource fails, and what the run stores has nothing of the file."""
    root = project(tmp_path, "ccm: {resources: []}\n")
    secret = "b3BlbnNzaC1rZXktdjEAAAAA"
    (root / "key.pem").write_text(f"-----BEGIN PRIVATE KEY-----\n{secret}\n")
    (root / ".env").write_text(f"TOKEN={secret}\n")
    (root / "ccm.yaml").write_text(f"inventory: [hosts.yaml]  # {secret}\n")
    text = (
        f"ccm:\n  resources:\n    - file:\n        - {tmp_path}/new:\n"
        f'            owner: root\n            group: root\n            mode: "0644"\n'
        f"            {READS[how].replace('FILE', name)}\n"
    )
    _, browser = designer(state, root)
    browser.edit("site.yaml")
    browser.send("site.yaml", "text", yaml=text)
    browser.send("site.yaml", "preview", hosts="web1")
    end = time.monotonic() + 40
    told = ""
    while "may not be read here" not in told:
        assert time.monotonic() < end, told
        time.sleep(0.05)
        page = browser.get("/design/try", file="site.yaml")
        found = [one.read_text() for one in (state / "runs").rglob("*") if one.is_file()]
        told = " ".join([page, *found])
    assert secret not in told
