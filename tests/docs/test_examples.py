"""Every example of the pages is accepted; those of the type pages do what they say."""

from __future__ import annotations

import getpass
import grp
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import inventory
from orchestrator.cli import app
from orchestrator.project.discovery import project_files
from orchestrator.project.reader import read_project
from orchestrator.rollout.stages import read_stages
from orchestrator.rollout.stages_detection import is_stages
from tests.docs.pages import DOCS, PAGES, TYPE_PAGES, Block, blocks, named_files, on_a_host
from tests.lab import Host, Lab, Package
from tests.preview.template import PRELUDE
from tests.push import forked

_CHILD = re.compile(r"# (\S+/\S+\.yaml)\n")
YAML = [block for page in PAGES for block in blocks(page, "yaml") if not _CHILD.match(block.text)]
# Their examples need a server; test_requests.py tries them.
DOWNLOADED = ("archive", "download", "git")
LOCAL_PAGES = (
    *(page for page in TYPE_PAGES if not on_a_host(page) and page.stem not in DOWNLOADED),
    DOCS / "howto" / "compose-manifests.md",
    DOCS / "howto" / "parts.md",
)
LOCAL = [
    block for page in LOCAL_PAGES for block in blocks(page, "yaml") if not _CHILD.match(block.text)
]
NOT_PUSHED = ("inventory", "project", "stages")
REAL_PAGES = (*filter(on_a_host, TYPE_PAGES), DOCS / "tutorial.md")
ON_A_HOST = [
    block for page in REAL_PAGES for block in blocks(page, "yaml") if block.kind not in NOT_PUSHED
]
DIRECTORIES = re.compile(r"(?<![\w./])/(?=(?:etc|srv)\b)")


def ccm(*words: str, scratch: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user would, with a state and a cache of its own."""
    environ = {**os.environ, "XDG_STATE_HOME": str(scratch / "state"), "NO_COLOR": "1"}
    environ["PYTHONPATH"] = str(DOCS.parent)
    if forked.serves(environ, DOCS.parent):
        done = forked.run(words, environ, scratch, seconds=240)
        return subprocess.CompletedProcess(words, *done)
    return subprocess.run(
        [sys.executable, "-m", "orchestrator.cli.app", *words],
        capture_output=True,
        text=True,
        env=environ,
        cwd=scratch,
        timeout=240,
    )


def push(scratch: Path, *options: str) -> dict[str, Any]:
    """Push ``site.yaml`` of a directory to its ``hosts.yaml``; the document of ``--json``."""
    done = ccm("push", "-i", "hosts.yaml", "--json", *options, "site.yaml", scratch=scratch)
    assert done.returncode == 0, done.stdout + done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def statuses(document: dict[str, Any]) -> dict[str, str]:
    """``type#name`` → status of every event."""
    return {f"{e['type']}#{e['name']}": e["status"] for e in document["events"]}


def test_there_are_examples() -> None:
    """The pages have manifests, inventories and lists of resources to check."""
    assert {block.kind for block in YAML} >= {"manifest", "inventory", "resources"}


@pytest.mark.parametrize("block", [b for b in YAML if b.kind == "inventory"], ids=str)
def test_inventories_load(block: Block, tmp_path: Path) -> None:
    """An inventory of the pages is accepted and has hosts."""
    path = tmp_path / "hosts.yaml"
    path.write_text(block.text, encoding="utf-8")
    assert inventory.load(path).hosts or "hosts" not in block.text


@pytest.mark.parametrize("block", [b for b in YAML if b.kind == "project"], ids=str)
def test_projects_files_are_read(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project's file of the pages says something."""
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("ccm.yaml").write_text(block.text, encoding="utf-8")
    assert read_project(project_files())


@pytest.mark.parametrize("block", [b for b in YAML if b.kind == "stages"], ids=str)
def test_files_of_stages_are_read(block: Block, tmp_path: Path) -> None:
    """A stages file of the pages is accepted."""
    path = tmp_path / "release.yaml"
    path.write_text(block.text, encoding="utf-8")
    assert is_stages(str(path))
    assert read_stages(str(path))


@pytest.mark.parametrize("block", [b for b in YAML if b.kind not in NOT_PUSHED], ids=str)
def test_manifests_validate(
    block: Block,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A manifest, or a list of resources put into one, passes ``ccm validate``."""
    skip_without_gotpl(block)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "site.yaml"
    path.write_text(block.manifest(), encoding="utf-8")
    for beside in blocks(block.page, ""):  # a template's first line names the file, as a comment
        if named := re.match(r"\{\* (\S+) \*\}\n", beside.text):
            (tmp_path / named[1]).write_text(beside.text[named.end() :], encoding="utf-8")
    write_beside(block, tmp_path)
    code = app.main(["validate", str(path)])
    told = capsys.readouterr()
    assert code == 0, told.out + told.err


def skip_without_gotpl(block: Block) -> None:
    """Skip an example of the engine go where its package cannot be installed."""
    if "engine: go" in block.text and sys.version_info < (3, 11):
        pytest.skip("gotpl, the engine go, needs Python 3.11")


def write_beside(block: Block, directory: Path, fill: Callable[[str], str] = str) -> None:
    """Write the page's other files: child manifests, named in their first line, types, sources."""
    found = named_files(block.page)
    for beside in blocks(block.page, "yaml"):
        if named := _CHILD.match(beside.text):
            found[named[1]] = beside.text
    for name, text in found.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(fill(text), encoding="utf-8")


@pytest.mark.parametrize("block", LOCAL, ids=str)
def test_file_and_exec_examples_do_what_they_say(block: Block, tmp_path: Path) -> None:
    """Pushed to this machine below a scratch directory, an example changes things once."""
    skip_without_gotpl(block)
    scratch = tmp_path / "root"
    for directory in ("etc", "srv"):
        (scratch / directory).mkdir(parents=True)
    user, group = getpass.getuser(), grp.getgrgid(os.getgid()).gr_name

    def fill(text: str) -> str:
        text = DIRECTORIES.sub(f"{scratch}/", text).replace("owner: root", f"owner: {user}")
        return text.replace("group: root", f"group: {group}")

    text = fill(block.manifest())
    (tmp_path / "site.yaml").write_text(text, encoding="utf-8")
    write_beside(block, tmp_path, fill)
    (tmp_path / "hosts.yaml").write_text("hosts: {here: {connection: local}}\n", encoding="utf-8")
    if f"{scratch}/srv/app/" in text:
        (scratch / "srv" / "app").mkdir()

    preview = push(tmp_path, "--noop")
    assert preview["summary"]["changed"] > 0
    assert not any((scratch / "etc").iterdir())
    first = push(tmp_path)
    assert {k for k, v in statuses(preview).items() if v == "changed"} == {
        k for k, v in statuses(first).items() if v == "changed"
    }
    assert set(statuses(push(tmp_path)).values()) == {"stable"}


def with_package_files(text: str, host: Host) -> str:
    """The example with files of packages that there are, one of them at a URL of the host."""
    place = host.path("/srv/packages")
    place.mkdir()
    for package in (Package("tool", "1.2-1"), Package("helper", "1.0-1")):
        package.build(place)
    host.run(f"{PRELUDE}\nserve\nmv /srv/packages/tool_1.2-1_all.deb /srv/www/tool_1.2-1_amd64.deb")
    digest = host.run("sha256sum /srv/www/tool_1.2-1_amd64.deb").stdout.split()[0]
    text = text.replace("https://downloads.example.com/", "http://127.0.0.1:8000/")
    return re.sub("checksum: [0-9a-f]{64}", f"checksum: {digest}", text)


@pytest.mark.parametrize("block", ON_A_HOST, ids=str)
def test_package_and_service_examples_do_what_they_say(
    block: Block, tmp_path: Path, lab: Lab
) -> None:
    """Pushed to a real host, an example of packages and services changes things once."""
    host = lab.hosts["web1"]
    host.reset()
    if "package:" not in block.text and "nginx" in block.text:
        host.run("apt-get install -y -q nginx-light", timeout=300)
    if "provider: npm" in block.text:
        pytest.skip("a lab host has no npm; tests/remote_runtime/package/test_npm.py runs it")
    if "provider: pip" in block.text:
        host.run(f"{PRELUDE}\nwheel requests 2.31.0")
    if "cron:" in block.text:
        host.run("mkdir -p /etc/cron.d; install -m 755 /dev/null /usr/sbin/cron")
    text = block.manifest()
    if "debconf:" in text:
        host.publish(Package("postfix", "3.7-1", {"/usr/share/postfix/x": "x\n"}))
        host.run("apt-get update -q", timeout=120)
    if "source: /srv/packages/" in text:
        text = with_package_files(text, host)
    (tmp_path / "site.yaml").write_text(text, encoding="utf-8")
    hosts = ["push", "-i", str(lab.inventory()), "-l", "web1", "--json", "site.yaml"]
    first = ccm(*hosts, scratch=tmp_path)
    assert first.returncode == 0, first.stdout + first.stderr
    assert json.loads(first.stdout)["summary"]["changed"] > 0
    second = ccm(*hosts, scratch=tmp_path)
    assert json.loads(second.stdout)["summary"]["changed"] == 0, second.stdout
