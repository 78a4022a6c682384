"""The command lines of the type pages stand for the manifests above them, and do the same."""

from __future__ import annotations

import getpass
import grp
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from docs.examples import resources_of
from orchestrator.cli.command_lookup import build_parser, find_command
from tests.docs.pages import DOCS, TYPE_PAGES, blocks, on_a_host
from tests.docs.test_examples import DIRECTORIES, write_beside
from tests.docs.test_requests import IN_A_SCENE
from tests.lab import Lab

SESSION = 'eval "$(ccm session new)"'

# What a user's own shell has as a program; hosts are named where a test has some.
SHELL = """
ccm() {
    command=$1; shift
    case $command in ensure) set -- "$@" --detailed-exitcode $HOSTS ;; esac
    PYTHON -m orchestrator.cli.app "$command" "$@"
    code=$?; CODES="$CODES $code"
    case $code in 0|4) return 0 ;; *) exit $code ;; esac
}
"""


def commands_of(page: Path) -> str:
    """The block of commands on a page."""
    found = [block for block in blocks(page, "sh") if "ccm ensure " in block.text]
    assert found, page
    return found[0].text


def run(text: str, scratch: Path, hosts: str = "") -> list[str]:
    """Run a block as a shell would; the exit code of each command."""
    environment = {
        **os.environ, "HOSTS": hosts, "PYTHONPATH": str(DOCS.parent), "NO_COLOR": "1",
        "XDG_STATE_HOME": str(scratch / "state"), "TMPDIR": str(scratch),
    }  # fmt: skip
    program = SHELL.replace("PYTHON", shlex.quote(sys.executable)) + text + "\necho CODES$CODES\n"
    done = subprocess.run(
        ["sh", "-c", program], cwd=scratch, env=environment, capture_output=True, text=True,
        timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.rpartition("CODES")[2].split()


def said(text: str) -> list[list[str]]:
    """The words of each ccm command, as a shell reads them."""
    ccm = "ccm() { printf '%s\\0' \"$@\"; printf '\\1\\0'; }\n"
    done = subprocess.run(
        ["sh", "-c", ccm + text.replace(SESSION, "")], capture_output=True, text=True, check=True
    )
    return [line.split("\0")[:-1] for line in done.stdout.split("\1\0")[:-1]]


@pytest.mark.parametrize("page", TYPE_PAGES, ids=lambda page: page.stem)
def test_a_command_stands_for_its_resource(page: Path) -> None:
    """Each command has the name and the very properties of a resource of the manifest above."""
    found = []
    for words in said(commands_of(page)):
        name, module, rest = find_command(words)
        args = build_parser(name, module).parse(rest)
        references = frozenset([*(args.require or ()), *(getattr(args, "subscribe", None) or ())])
        raw = module.site(args, Known(references)).resources[0].raw
        found.append((words[1], args.name, raw))
    assert found == list(resources_of(page.read_text(encoding="utf-8")))


class Known:
    """A session that has had what a command refers to."""

    def __init__(self, references: frozenset[str]) -> None:
        self._references = references

    def names(self) -> frozenset[str]:
        return self._references

    def of(self, host: str, references: frozenset[str]) -> dict[str, object]:
        return {}


HERE = [page for page in TYPE_PAGES if not on_a_host(page) and page.stem not in IN_A_SCENE]


@pytest.mark.parametrize("page", HERE, ids=lambda page: page.stem)
def test_commands_do_what_they_say_here(page: Path, tmp_path: Path) -> None:
    """Run on this machine below a scratch directory, the commands change things once."""
    scratch = tmp_path / "root"
    for directory in ("etc", "srv"):
        (scratch / directory).mkdir(parents=True)
    user, group = getpass.getuser(), grp.getgrgid(os.getgid()).gr_name

    def placed(text: str) -> str:
        text = DIRECTORIES.sub(f"{scratch}/", text)
        for before, after in (("owner", user), ("group", group)):
            text = re.sub(rf"{before}(:?) root", rf"{before}\1 {after}", text)
        return text

    write_beside(next(blocks(page, "yaml")), tmp_path, placed)
    text = placed(commands_of(page))
    assert "4" in run(text, tmp_path)
    assert "4" not in run(text, tmp_path)


# Of the others the short form holds that they stand for the manifest, which does what it says.
SHORT = ("package", "service")


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=() if page.stem in SHORT else pytest.mark.long)
        for page in TYPE_PAGES
        if on_a_host(page)
    ],
)
def test_commands_do_what_they_say_on_a_host(page: Path, tmp_path: Path, lab: Lab) -> None:
    """Run for a real host over SSH, the commands change things once."""
    host = lab.hosts["web1"]
    host.reset()
    text = commands_of(page)
    if "ensure package" not in text and "nginx" in text:
        host.run("apt-get install -y -q nginx-light", timeout=300)
    if page.stem == "cron":
        host.run("mkdir -p /etc/cron.d; install -m 755 /dev/null /usr/sbin/cron")
    hosts = f"-i {lab.inventory()} -l web1"
    assert "4" in run(text, tmp_path, hosts)
    assert "4" not in run(text, tmp_path, hosts)
