"""Tests that run side by side do not wait for each other's pushes to this machine."""

import os
import subprocess
import sys

import pytest

from tests.own_lock import LOCK, STATE

TAKE = (
    "from tests import own_lock; own_lock.take(); import os; print(os.stat(own_lock.LOCK).st_ino)"
)


@pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="only root has one lock")
def test_each_process_of_tests_has_a_lock_of_its_own() -> None:
    """A process shares the file at the lock's path with its children, not with other tests."""
    here = LOCK.stat().st_ino
    child = subprocess.run(["stat", "-c", "%i", LOCK], capture_output=True, text=True, check=True)
    other = subprocess.run([sys.executable, "-c", TAKE], capture_output=True, text=True, check=True)
    assert int(child.stdout) == here
    assert int(other.stdout) != here
    assert LOCK.stat().st_ino == here
    assert os.path.ismount(STATE)
