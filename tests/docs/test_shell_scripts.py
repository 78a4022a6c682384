"""The scripts of the how-to do what the page says."""

import getpass
import grp
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, Block, blocks
from tests.docs.test_examples import DIRECTORIES

PAGE = DOCS / "howto" / "shell-scripts.md"


def run(block: Block, scratch: Path) -> str:
    """Run a script below a scratch directory, with ``ccm`` as a program of its PATH."""
    root = scratch / "root"
    (root / "srv").mkdir(parents=True, exist_ok=True)
    text = DIRECTORIES.sub(f"{root}/", block.text)
    user, group = getpass.getuser(), grp.getgrgid(os.getgid()).gr_name
    text = re.sub("--owner root", f"--owner {user}", text)
    text = re.sub("--group root", f"--group {group}", text)
    programs = scratch / "bin"
    programs.mkdir(exist_ok=True)
    python = shlex.quote(sys.executable)
    (programs / "ccm").write_text(f'#!/bin/sh\nexec {python} -m orchestrator.cli.app "$@"\n')
    (programs / "ccm").chmod(0o755)
    environment = {
        **os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(DOCS.parent),
        "TMPDIR": str(scratch), "XDG_STATE_HOME": str(scratch / "state"), "NO_COLOR": "1",
    }  # fmt: skip
    done = subprocess.run(
        ["sh", "-eu", "-c", text], cwd=scratch, env=environment, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("block", list(blocks(PAGE, "sh")), ids=str)
def test_the_scripts_run(block: Block, tmp_path: Path) -> None:
    """A script changes things once; its session is reported and removed."""
    first = run(block, tmp_path)
    again = run(block, tmp_path)
    assert " changed" in first
    if "session report" in block.text:
        assert "Resources  3: 3 changed" in first
        assert "Resources  3: 3 unchanged" in again
    assert not list(tmp_path.glob("ccm-session-*"))
