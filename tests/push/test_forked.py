"""A command in a process that is forked is as one in a process of its own."""

import os
import sys
from pathlib import Path

import pytest

from tests import own_lock
from tests.push import forked
from tests.push.command import REPOSITORY, Ccm


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.geteuid() != 0, reason="only root has own mounts"
)
def test_it_sees_the_mounts_of_who_asks(tmp_path: Path) -> None:
    """Also those that a test has made after the first command was forked."""
    ccm = Ccm(tmp_path)
    assert ccm.run("--version").code == 0
    before = os.readlink("/proc/self/ns/mnt")
    own_lock.take()
    here = os.readlink("/proc/self/ns/mnt")
    assert here != before
    inventory = tmp_path / "hosts.yaml"
    inventory.write_text("hosts: {web1: {connection: local}}\n")
    done = ccm.run("run", "-i", str(inventory), "-l", "all", "--", "readlink", "/proc/self/ns/mnt")
    assert here in done.output


def test_what_python_reads_when_it_starts(tmp_path: Path) -> None:
    """A command with other variables of that kind gets a process of its own."""
    ccm = Ccm(tmp_path)
    assert forked.serves(ccm.environment, REPOSITORY)
    for name, value in (("PYTHONPATH", "/elsewhere"), ("LC_ALL", "POSIX"), ("PYTHONUTF8", "0")):
        assert not forked.serves({**ccm.environment, name: value}, REPOSITORY)


def test_how_it_ends(tmp_path: Path) -> None:
    """Its exit code, its output and its errors are those of the command."""
    ccm = Ccm(tmp_path)
    done = ccm.run("no-such-command")
    started = ccm.start("no-such-command")
    out, err = started.communicate()
    assert (done.code, done.stdout, done.stderr) == (started.returncode, out, err)
    assert done.code == 2
