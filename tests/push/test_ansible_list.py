"""An inventory in the form that Ansible's programs print, used over a real sshd."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.orchestrator.transport.sshd import Sshd
from tests.push.command import Ccm


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Sshd]:
    server = Sshd(tmp_path / "sshd")
    yield server
    server.stop()


@pytest.mark.parametrize("variable", ["ansible_ssh_private_key_file", "ansible_private_key_file"])
def test_the_path_of_a_key_is_taken_as_it_is(tmp_path: Path, sshd: Sshd, variable: str) -> None:
    """With spaces, braces, and what ssh or a shell would replace in it."""
    key = tmp_path / "my {keys} of {{ item }}" / "id %h ~$HOME 'x'"
    key.parent.mkdir()
    shutil.copy(sshd.user_key, key)
    ccm = Ccm(tmp_path)
    (tmp_path / "home/.ssh").mkdir()
    shutil.copy(sshd.known_hosts, tmp_path / "home/.ssh/known_hosts")
    host = {"ansible_host": "127.0.0.1", "ansible_port": str(sshd.port), variable: str(key)}
    printed = json.dumps({"_meta": {"hostvars": {"h": host}}, "all": {"hosts": ["h"]}})
    program = tmp_path / "list"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{printed}\nEND\n")
    program.chmod(0o755)
    done = ccm.run("run", "-i", str(program), "-l", "all", "--", "echo", "hello")
    assert done.code == 0, done.output
    assert "hello" in done.stdout
