"""README's second command on a machine that nobody has used."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.project.fresh_machine import CHECKOUT, fresh_machine, run

ROOT = Path(__file__).resolve().parents[2]
SSH = "tests/orchestrator/transport/test_ssh.py"
SELECTION = (
    # What is started for real: shells, interpreters, sshd, ssh and its agent, a NATS server, a
    # browser, git. Of ssh's tests one for each program.
    "tests/remote_runtime/exec/test_exec.py",
    "tests/orchestrator/transport/test_bootstrap.py",
    f"{SSH}::test_a_key_file_opens_a_link",
    f"{SSH}::test_the_agent_signs_for_many_hosts_at_once",
    f"{SSH}::test_a_locked_key_that_the_agent_holds_needs_no_passphrase",
    f"{SSH}::test_a_chain_of_jumps_from_the_ssh_configuration",
    f"{SSH}::test_a_proxy_command_carries_the_connection",
    f"{SSH}::test_the_round_trips_are_few",
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


@pytest.mark.long  # CI itself begins on a machine without what the tests need
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
