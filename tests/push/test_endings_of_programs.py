"""However ccm ends, the programs that it runs on this machine end with it."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from .command import Ccm
from .test_rollout import running

SITE = """\
ccm:
  resources:
    - file:
        - "{made}":
            content: "{{{{ secret('cmd:slow') }}}}"
            mode: "0600"
            owner: root
            group: root
"""
ENDINGS = {
    "interrupt": [signal.SIGINT],
    "twice": [signal.SIGINT, signal.SIGINT],
    "terminate": [signal.SIGTERM],
    "hang-up": [signal.SIGHUP],
}


def project(directory: Path) -> Path:
    """A project with a secret whose program takes long and notes its ID; what it notes."""
    noted = directory / "noted"
    command = f"echo $$ > {noted}; sleep 600"
    (directory / "ccm.yaml").write_text(f"secrets: {{cmd: {{slow: {command!r}}}}}\n")
    (directory / "hosts.yaml").write_text("hosts: {here: {connection: local}}\n")
    (directory / "site.yaml").write_text(SITE.format(made=directory / "made"))
    return noted


def wait_for(noted: Path, process: "subprocess.Popen[str]") -> None:
    """Wait until the program runs."""
    end = time.monotonic() + 60
    while not (noted.exists() and noted.read_text().strip()):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "the program does not run"
        time.sleep(0.05)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["push", "-i", "hosts.yaml"], id="push"),
        pytest.param(["render", "-i", "hosts.yaml", "-l", "here"], id="render"),
    ],
)
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.long("hang", "up", "terminate")  # all run the same two handlers
def test_the_program_of_a_secret_ends_with_ccm(ccm: Ccm, command: list[str], ending: str) -> None:
    """No process of it is left after a signal, whether the command handles it or not."""
    noted = project(ccm.scratch)
    process = ccm.start(*command, "site.yaml")
    wait_for(noted, process)
    for number in ENDINGS[ending]:
        process.send_signal(number)
        time.sleep(0.5)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert not running(noted)
    assert not (ccm.scratch / "made").exists()


def test_an_inventory_program_ends_with_ccm(ccm: Ccm, tmp_path: Path) -> None:
    """A signal while the inventory is read leaves no process behind."""
    noted = tmp_path / "noted"
    program = tmp_path / "hosts"
    program.write_text(f"#!/bin/sh\necho $$ > {noted}\nsleep 600\n")
    program.chmod(0o755)
    process = ccm.start("inventory", "-i", str(program))
    wait_for(noted, process)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM)
    assert not running(noted)
    assert not os.path.exists(f"/proc/{noted.read_text().strip()}")
