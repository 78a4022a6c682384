"""The tutorial from an Ansible role to ccm, as a reader would follow it, on this machine."""

from __future__ import annotations

import getpass
import grp
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from orchestrator.cli.app import main
from tests.docs.pages import DOCS, blocks, named_files

PAGE = DOCS / "tutorial-ansible.md"
LOCAL = "hosts: {web1: {connection: local, become: false}}\ngroups: {web: {hosts: [web1]}}\n"
TRUST = "ccm hosts trust -i hosts.yaml"  # this machine has no host key to trust


def commands() -> list[tuple[str, str]]:
    """The commands of the page, each with the output that the page shows."""
    found = []
    for block in blocks(PAGE, "console"):
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def write_project(directory: Path) -> None:
    for name, text in named_files(PAGE).items():
        if name.startswith("shop/"):
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


def replace_the_mark(manifest: Path) -> None:
    """What the reader writes in place of the task that was not converted."""
    text, count = re.subn(
        r"^    # NOT CONVERTED(?:.*\n)(?:    #.*\n)+",
        named_files(PAGE)["exec"],
        manifest.read_text(),
        flags=re.MULTILINE,
    )
    assert count == 1
    manifest.write_text(text)


def move_here(site: Path, scratch: Path) -> None:
    """The host is this machine, and its files are in a directory of the test's own."""
    (site / "hosts.yaml").write_text(LOCAL)
    manifest = site / "roles/shop.yaml"
    text = manifest.read_text().replace("/etc/shop", str(scratch / "etc"))
    text = text.replace("owner: root", f"owner: {getpass.getuser()}")
    manifest.write_text(text.replace("group: root", f"group: {grp.getgrgid(os.getgid()).gr_name}"))


def test_the_tutorial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command succeeds and prints what the page shows; afterwards nothing is left to do."""
    tmp_path.chmod(0o755)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    write_project(tmp_path)
    for command, expected in commands():
        program, *words = shlex.split(command)
        if program == "cd":
            monkeypatch.chdir(tmp_path / words[0])
        elif program == "grep":
            done = subprocess.run([program, *words], capture_output=True, text=True, check=True)
            assert done.stdout == expected
            replace_the_mark(Path("roles/shop.yaml"))
        elif command == TRUST:
            move_here(tmp_path / "site", tmp_path)
        else:
            assert program == "ccm"
            assert main(words) == 0, command
            shown = capsys.readouterr().out
            assert not expected or shown == expected
            if words[:2] == ["hiera", "explain"]:
                assert "8081" in shown
                assert "data/group/web.yaml" in shown
    assert (tmp_path / "etc/shop.conf").read_text().startswith("port = 8081\nworkers = 4\n")
    assert (tmp_path / "etc/orders").is_dir()
    assert Path(".github/workflows/ccm.yaml").exists()
