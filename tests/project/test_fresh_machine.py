"""README's second command on a machine that nobody has used."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.project.fresh_machine import CHECKOUT, fresh_machine, run

ROOT = Path(__file__).resolve().parents[2]
SELECTION = (
    # What is started for real: shells, interpreters, sshd, a NATS server, a browser, git.
    "tests/remote_runtime/exec/test_exec.py",
    "tests/orchestrator/transport/test_bootstrap.py",
    "tests/orchestrator/transport/test_ssh.py",
    "tests/orchestrator/registration/test_nats_stream.py",
    "tests/orchestrator/report/test_html.py::test_filters_leave_what_was_asked_for",
    "tests/project/test_install.py::test_an_installation_writes_nothing_into_the_checkout",
    # A push without a lab host.
    "tests/push/test_file.py",
)
EXPECTED = (
    r"this machine has no Python (2 that starts|3\.\d+)",
    r"switched off with CCM_LAB=off",
)
"""Why a test may be skipped there: other Pythons are not installed, hosts cannot boot in it."""


@pytest.mark.begun_first
@pytest.mark.timeout(900)
def test_the_suite_sets_itself_up(needs_lab: None) -> None:
    """``scripts/test`` installs all that lint and tests need where there is only Python."""
    with fresh_machine(ROOT) as root:
        kept = ROOT / ".mypy_cache"
        if kept.is_dir():
            shutil.copytree(kept, root / CHECKOUT.lstrip("/") / ".mypy_cache")
        options = f"-q -rs --color=no {' '.join(SELECTION)}"
        command = f"CCM_LAB=off PYTEST_ADDOPTS='{options}' scripts/test"
        done = run(root, command, timeout=840)
    said = f"{done.stdout}\n{done.stderr}"
    assert done.returncode == 0, said
    assert "Success: no issues found" in said
    skipped = re.findall(r"^SKIPPED \[\d+\] \S+: (.*)$", said, re.MULTILINE)
    assert [why for why in skipped if not re.fullmatch("|".join(EXPECTED), why)] == []
    assert re.search(r"^\d+ passed", said, re.MULTILINE)
